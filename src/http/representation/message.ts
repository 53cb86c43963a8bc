/** Protobuf messages of objects at the request's version. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type KeepOptions, MessageCache } from "./message-cache.ts";
import { objectAtVersion } from "./version.ts";

const caches = new WeakMap<Resolved, MessageCache>(); // Memo of immutable values: entries at one version.

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

/** @param object in the storage version; must not be used afterwards */
export function objectMessage(object: KubeObject, resolved: Resolved, expectedBytes?: number): Buffer {
  return encodeProtobuf(
    objectAtVersion(object, resolved),
    resolved.version.schema,
    expectedBytes === undefined ? {} : { expectedBytes },
  );
}
