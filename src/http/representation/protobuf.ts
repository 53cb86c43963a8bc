/** Objects in protobuf: messages at the version that was asked for, in envelopes. Source: resource-api §2.6, §4.4. */
import { formatGroupVersion, type GroupVersionKind, type KubeObject } from "../../api/object.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import { wrapInEnvelope } from "../../lib/protobuf/envelope.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { builtinSchema } from "../../resource/builtin-schemas.ts";
import type { Resolved, ResourceStore } from "../../resource/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { MessageCache } from "./message-cache.ts";
import { objectAtVersion } from "./version.ts";

const caches = new WeakMap<Resolved, MessageCache>(); // Of what never changes: entries, shown at one version.

/** The message of a stored object, without envelope. @param keep false: for once, in a list so long that keeping it would push out all others */
export function entryMessage(entry: Entry, resolved: Resolved, { keep }: { readonly keep: boolean } = { keep: true }): Buffer {
  let cache = caches.get(resolved);
  if (cache === undefined) {
    cache = new MessageCache();
    caches.set(resolved, cache);
  }
  const encode = (): Buffer => objectMessage((resolved.resource.store as ResourceStore).decode(entry), resolved, entry.json.length);
  return keep ? cache.get(entry, encode) : (cache.peek(entry) ?? encode());
}

/** @param object in the storage version; used up */
export function objectMessage(object: KubeObject, resolved: Resolved, expectedBytes?: number): Buffer {
  return encodeProtobuf(objectAtVersion(object, resolved), resolved.version.schema, expectedBytes === undefined ? {} : { expectedBytes });
}

/** @param message of an object of the resource's kind */
export function inEnvelope(message: Buffer, { resource: { definition }, version }: Resolved): Buffer {
  return wrapInEnvelope(formatGroupVersion(definition.group, version.version), definition.kind, message);
}

/** In its envelope. @param object of another kind than the resource's */
export function kindInEnvelope(object: object, { group, version, kind, schema }: GroupVersionKind & { readonly schema: Struct }): Buffer {
  return wrapInEnvelope(formatGroupVersion(group, version), kind, encodeProtobuf(object, schema));
}

const metaPackage = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** In its envelope. @param object of a kind of `meta/v1` that is served as `v1`: a Status, a discovery document */
export function metaObject(object: { readonly kind: string }): Buffer {
  return wrapInEnvelope("v1", object.kind, encodeProtobuf(object, builtinSchema(`${metaPackage}.${object.kind}`)));
}
