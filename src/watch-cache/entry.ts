/** An object as the cache holds it: the bytes that are served, and what selectors need of them. */
import type { KubeObject } from "../apimachinery/object.ts";
import { peekTypeMeta } from "../lib/json/parse.ts";
import { decodeStored } from "../lib/schema/decode.ts";
import { encodeObject } from "../lib/schema/encode.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { DamagedRecord, type Seal, type Stored } from "../storage/contract.ts";
import type { Entry, EntryIndex } from "./contract.ts";

/** What must be known of a definition to make entries from its stored values. */
export interface EntrySource {
  /** Of the keys; the namespace, if any, and the name follow. */
  readonly prefix: string;
  /** Values sealed with another fingerprint are decoded and encoded anew. */
  readonly fingerprint: number;
  readonly schema: Struct;
  /** Of all objects, whatever they were stored as; undefined where they stay at their versions. */
  readonly apiVersion?: string | undefined;
  /** Of objects that were stored at other versions and stay at them; undefined where `schema` does for all. */
  readonly schemaOf?: ((apiVersion: string) => Struct | undefined) | undefined;
  /** Replaced, not changed, when another definition joins that stores the same objects. */
  readonly selectableFields: Readonly<Record<string, (object: KubeObject) => string>>;
  /** Those of them that the cache has an index of. */
  readonly indexedFields: readonly string[];
}

/** @throws DecodeError when the value is not what the definition says · DamagedRecord when it is not what was written */
export function entryFromStored(stored: Stored, source: EntrySource): Entry {
  if (stored.damage !== undefined) throw new DamagedRecord(stored.damage);
  if (stored.seal?.fingerprint === source.fingerprint)
    return makeEntry(stored.key, stored.revision, stored.value, stored.seal, source);
  const schema = schemaFor(stored.value, source);
  const object = decodeStored(stored.value, schema);
  if (source.apiVersion !== undefined) object.apiVersion = source.apiVersion;
  const { json, versionOffset, itemOffset } = encodeObject(object, schema);
  return makeEntry(stored.key, stored.revision, json, { versionOffset, itemOffset }, source);
}

/** What an object is read with, which may be of another version than the one that is stored now. */
export function schemaFor(json: Buffer, { schema, schemaOf }: EntrySource): Struct {
  return schemaOf === undefined ? schema : (schemaOf(peekTypeMeta(json).apiVersion) ?? schema);
}

/** @param json without resourceVersion, as {@link encodeObject} made it */
export function makeEntry(
  key: string,
  revision: number,
  json: Buffer,
  seal: Pick<Seal, "versionOffset" | "itemOffset">,
  source: EntrySource,
): Entry {
  const splice = `"resourceVersion":"${revision}",`;
  const bytes = lineOf(json.length + splice.length);
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
  const bytes = lineOf(json.length - old + splice.length);
  json.copy(bytes, 0, 0, versionOffset);
  bytes.write(splice, versionOffset, "latin1");
  json.copy(bytes, versionOffset + splice.length, versionOffset + old);
  return new CachedEntry(previous.key, revision, bytes, itemOffset, versionOffset, source);
}

/** Memory of its own for so many bytes and a newline, which is already there. */
function lineOf(length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length + 1);
  bytes[length] = 0x0a;
  return bytes;
}

class CachedEntry implements Entry {
  readonly key: string;
  readonly revision: number;
  readonly json: Buffer;
  readonly itemOffset: number;
  readonly versionOffset: number;
  readonly source: EntrySource;
  #index: LazyIndex | undefined;

  constructor(
    key: string,
    revision: number,
    line: Buffer,
    itemOffset: number,
    versionOffset: number,
    source: EntrySource,
  ) {
    this.key = key;
    this.revision = revision;
    this.json = line.subarray(0, -1);
    this.itemOffset = itemOffset;
    this.versionOffset = versionOffset;
    this.source = source;
  }

  /** Made anew: a second view of each object would take a tenth of the cache's memory. */
  get line(): Buffer {
    return Buffer.from(this.json.buffer);
  }

  get index(): EntryIndex {
    if (this.#index?.selectable !== this.source.selectableFields) this.#index = new LazyIndex(this);
    return this.#index as LazyIndex;
  }
}

/** Reads labels and fields when they are first asked for, and keeps them. */
class LazyIndex implements EntryIndex {
  readonly namespace: string;
  readonly name: string;
  readonly selectable: EntrySource["selectableFields"];
  readonly #entry: CachedEntry;
  #labels: ReadonlyMap<string, string> | undefined;
  #fields: ReadonlyMap<string, string> | undefined;

  constructor(entry: CachedEntry) {
    const { key, source } = entry;
    const slash = key.indexOf("/", source.prefix.length);
    this.namespace = slash < 0 ? "" : key.slice(source.prefix.length, slash);
    this.name = key.slice(slash < 0 ? source.prefix.length : slash + 1);
    this.selectable = source.selectableFields;
    this.#entry = entry;
  }

  get labels(): ReadonlyMap<string, string> {
    this.#labels ??= labelsOf(this.#entry);
    return this.#labels;
  }

  get fields(): ReadonlyMap<string, string> {
    this.#fields ??= this.#readFields();
    return this.#fields;
  }

  #readFields(): ReadonlyMap<string, string> {
    const fields = new Map([
      ["metadata.name", this.name],
      ["metadata.namespace", this.namespace],
    ]);
    const own = Object.entries(this.selectable);
    if (own.length === 0) return fields;
    const object = parse(this.#entry.json);
    for (const [field, read] of own) fields.set(field, read(object));
    return fields;
  }
}

const noLabels: ReadonlyMap<string, string> = new Map();
/** In a built-in's metadata only plain values come before labels, and labels have no braces in them. */
const leadingLabels = /^"metadata":\{[^{}]*?"labels":(\{[^{}]*\})/;
/** How far from the start of metadata its labels are looked for before the whole object is parsed. */
const leadingBytesMax = 1024;

function labelsOf({ json, itemOffset }: CachedEntry): ReadonlyMap<string, string> {
  // Inside a JSON text a quote is escaped, so that these bytes can only be a key.
  if (json.indexOf('"labels":{', itemOffset, "latin1") < 0) return noLabels;
  const leading = leadingLabels.exec(json.toString("latin1", itemOffset, itemOffset + leadingBytesMax))?.[1];
  const labels: Record<string, string> =
    leading === undefined ? (parse(json).metadata.labels ?? {}) : JSON.parse(leading);
  return new Map(Object.entries(labels));
}

function parse(json: Buffer): KubeObject {
  return JSON.parse(json.toString()) as KubeObject;
}
