/** Objects at the request's version. See docs/architecture.md. */
import type { KubeObject } from "../../apimachinery/object.ts";
import { formatGroupVersion } from "../../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import { type Encoded, encodeObject } from "../../lib/schema/encode.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import type { Entry } from "../../watch-cache/contract.ts";

/** JSON of the whole object, and the offset at which a list item of a built-in kind starts. */
export interface VersionedJson {
  readonly json: Buffer;
  readonly itemOffset: number;
}

/** The entry at the request's version: the stored bytes if they are the same. */
export function entryAtVersion(entry: Entry, resolved: Resolved): VersionedJson {
  const { definition, store } = resolved.resource;
  const form = (store as ResourceStore).form;
  if (resolved.version.version === form.version && definition.group === form.group) return entry;
  if (resolved.version.conversion === undefined) {
    const head = Buffer.from(
      `{"kind":${JSON.stringify(definition.kind)},"apiVersion":${JSON.stringify(formatGroupVersion(definition.group, resolved.version.version))},`,
    );
    return { json: Buffer.concat([head, entry.json.subarray(entry.itemOffset)]), itemOffset: head.length };
  }
  return encodeAtVersion((store as ResourceStore).decode(entry), resolved);
}

/** @param object in the storage version; must not be used afterwards */
export function encodeAtVersion(object: KubeObject, resolved: Resolved): VersionedJson {
  return encodeWithVersion(objectAtVersion(object, resolved), resolved.version.schema);
}

/** @param object in the storage version; must not be used afterwards */
export function objectAtVersion(object: KubeObject, { resource: { definition }, version }: Resolved): KubeObject {
  const converted = version.conversion?.fromStorage(object) ?? object;
  converted.kind = definition.kind;
  converted.apiVersion = formatGroupVersion(definition.group, version.version);
  return converted;
}

/** Encodes an object with its resourceVersion inserted, if it has one. */
export function encodeWithVersion(object: KubeObject, schema: Struct): VersionedJson {
  const encoded: Encoded = encodeObject(object, schema);
  const version = object.metadata.resourceVersion;
  if (version === undefined || version === "") return encoded;
  if (encoded.versionOffset === 0) return withVersionAlone(encoded, version);
  const splice = Buffer.from(`"resourceVersion":${JSON.stringify(version)},`);
  const { json, versionOffset } = encoded;
  const itemOffset = encoded.itemOffset + (versionOffset < encoded.itemOffset ? splice.length : 0);
  return { json: Buffer.concat([json.subarray(0, versionOffset), splice, json.subarray(versionOffset)]), itemOffset };
}

/** For metadata without other fields, such as a bookmark's. */
function withVersionAlone({ json, itemOffset }: Encoded, version: string): VersionedJson {
  const at = json.indexOf(emptyMetadata, itemOffset) + emptyMetadata.length - 1;
  const splice = Buffer.from(`"resourceVersion":${JSON.stringify(version)}`);
  return { json: Buffer.concat([json.subarray(0, at), splice, json.subarray(at)]), itemOffset };
}

const emptyMetadata = '"metadata":{}';
