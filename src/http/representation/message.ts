/** Objects as protobuf messages, at the version that was asked for. Source: resource-api §2.6, §4.4. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type KeepOptions, MessageCache } from "./message-cache.ts";
import { objectAtVersion } from "./version.ts";

const caches = new WeakMap<Resolved, MessageCache>(); // Of what never changes: entries, shown at one version.

/** The message of a stored object, without envelope. */
export function entryMessage(entry: Entry, resolved: Resolved, options: KeepOptions = {}): Buffer {
  let cache = caches.get(resolved);
  if (cache === undefined) {
    cache = new MessageCache();
    caches.set(resolved, cache);
  }
  const encode = (): Buffer =>
    objectMessage((resolved.resource.store as ResourceStore).decode(entry), resolved, entry.json.length);
  return cache.get(entry, encode, options);
}

/** @param object in the storage version; used up */
export function objectMessage(object: KubeObject, resolved: Resolved, expectedBytes?: number): Buffer {
  return encodeProtobuf(
    objectAtVersion(object, resolved),
    resolved.version.schema,
    expectedBytes === undefined ? {} : { expectedBytes },
  );
}
