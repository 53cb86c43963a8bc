/** An object as the cache holds it: the bytes that are served, and what selectors need of them. */
import type { KubeObject } from "../api/object.ts";
import { decodeJson } from "../lib/schema/decode.ts";
import { encodeObject } from "../lib/schema/encode.ts";
import type { Struct } from "../lib/schema/schema.ts";
import type { Seal, Stored } from "../storage/contract.ts";
import type { Entry, EntryIndex } from "./contract.ts";

/** What must be known of a definition to make entries from its stored values. */
export interface EntrySource {
  /** Values sealed with another fingerprint are decoded and encoded anew. */
  readonly fingerprint: number;
  readonly schema: Struct;
  readonly selectableFields: Readonly<Record<string, (object: KubeObject) => string>>;
}

/** @throws DecodeError when the value is not what the definition says */
export function entryFromStored(stored: Stored, source: EntrySource): Entry {
  if (stored.seal?.fingerprint === source.fingerprint) return makeEntry(stored.key, stored.revision, stored.value, stored.seal, source);
  const { json, versionOffset, itemOffset } = encodeObject(decodeJson(stored.value, source.schema).object, source.schema);
  return makeEntry(stored.key, stored.revision, json, { versionOffset, itemOffset }, source);
}

/** @param json without resourceVersion, as {@link encodeObject} made it */
export function makeEntry(key: string, revision: number, json: Buffer, seal: Pick<Seal, "versionOffset" | "itemOffset">, source: EntrySource): Entry {
  const splice = `"resourceVersion":"${revision}",`;
  const bytes = Buffer.allocUnsafeSlow(json.length + splice.length);
  json.copy(bytes, 0, 0, seal.versionOffset);
  bytes.write(splice, seal.versionOffset, "latin1");
  json.copy(bytes, seal.versionOffset + splice.length, seal.versionOffset);
  return new CachedEntry(key, revision, bytes, seal.itemOffset, seal.versionOffset, source);
}

/** The last state of a deleted object, at the revision of its deletion. */
export function deletedEntry(previous: Entry, revision: number): Entry {
  const { json, itemOffset, versionOffset, source } = previous as CachedEntry;
  const old = `"resourceVersion":"${previous.revision}",`.length;
  const splice = `"resourceVersion":"${revision}",`;
  const bytes = Buffer.allocUnsafeSlow(json.length - old + splice.length);
  json.copy(bytes, 0, 0, versionOffset);
  bytes.write(splice, versionOffset, "latin1");
  json.copy(bytes, versionOffset + splice.length, versionOffset + old);
  return new CachedEntry(previous.key, revision, bytes, itemOffset, versionOffset, source);
}

class CachedEntry implements Entry {
  readonly key: string;
  readonly revision: number;
  readonly json: Buffer;
  readonly itemOffset: number;
  readonly versionOffset: number;
  readonly source: EntrySource;
  #index: EntryIndex | undefined;

  constructor(key: string, revision: number, json: Buffer, itemOffset: number, versionOffset: number, source: EntrySource) {
    this.key = key;
    this.revision = revision;
    this.json = json;
    this.itemOffset = itemOffset;
    this.versionOffset = versionOffset;
    this.source = source;
  }

  get index(): EntryIndex {
    this.#index ??= indexOf(this.json, this.source);
    return this.#index;
  }
}

function indexOf(json: Buffer, source: EntrySource): EntryIndex {
  const object = JSON.parse(json.toString()) as KubeObject;
  const { name = "", namespace = "", labels = {} } = object.metadata;
  const fields = new Map([
    ["metadata.name", name],
    ["metadata.namespace", namespace],
  ]);
  for (const [field, read] of Object.entries(source.selectableFields)) fields.set(field, read(object));
  return { name, namespace, labels: new Map(Object.entries(labels)), fields };
}
