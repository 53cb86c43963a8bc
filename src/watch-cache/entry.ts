/** Cached objects: the bytes that are served, and the fields that selectors need. */
import type { KubeObject } from "../apimachinery/object.ts";
import { peekTypeMeta } from "../lib/json/parse.ts";
import { encodeObject, isEmpty } from "../lib/schema/encode.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { shardHash } from "../lib/selectors/shard-hash.ts";
import { DamagedRecord, type Seal, type Stored } from "../storage/contract.ts";
import { checkNotEncrypted, EncryptedValue } from "../storage/encrypted-value.ts";
import type { Entry, EntryIndex } from "./contract.ts";
import { uidBytes } from "./uid-bytes.ts";
import type { CorruptErrors } from "./unreadable.ts";

/** The parts of a resource definition that are needed to create entries from stored values. */
export interface EntrySource extends CorruptErrors {
  /** The key prefix; the namespace, if any, and the name follow. */
  readonly prefix: string;
  /** Values whose seal has another fingerprint are decoded and encoded again. */
  readonly fingerprint: number;
  readonly schema: Struct;
  /**
   * Decodes a stored value in any encoding and at any version, and returns the schema that encodes
   * it.
   * @throws DecodeError, JsonSyntaxError
   */
  decode(value: Buffer): { readonly object: KubeObject; readonly schema: Struct };
  /** Returns the schema of another stored version; undefined when `schema` applies to all. */
  readonly schemaOf?: ((apiVersion: string) => Struct | undefined) | undefined;
  /**
   * Reads a selectable field. The record is replaced, not modified, when another definition with
   * the same storage is added.
   */
  readonly selectableFields: Readonly<Record<string, (object: KubeObject) => string>>;
  /** The selectable fields that the cache indexes. */
  readonly indexedFields: readonly string[];
}

/**
 * Creates an entry from a stored value.
 * @throws DecodeError when the value does not match the schema
 * @throws JsonSyntaxError when the value is not JSON
 * @throws DamagedRecord when the stored record is damaged
 * @throws EncryptedValue when the value is encrypted
 */
export function entryFromStored(stored: Stored, source: EntrySource): Entry {
  const { key, revision, value, seal } = sealedState(stored, source);
  return makeEntry(key, revision, value, seal, source);
}

/**
 * Returns a state with its value as JSON at the storage version: the same one if its seal is that of the
 * definition.
 * @throws DamagedRecord · EncryptedValue · errors as those of {@link entryFromStored}
 */
export function sealedState(stored: Stored, source: EntrySource): Stored & { readonly seal: Seal } {
  const { key, revision, seal, value, damage, unreadable } = stored;
  const { fingerprint } = source;
  if (damage !== undefined) throw new DamagedRecord(damage);
  if (unreadable !== undefined) throw new EncryptedValue(unreadable);
  checkNotEncrypted(value);
  if (seal?.fingerprint === fingerprint) return stored as Stored & { readonly seal: Seal };
  const { object, schema } = source.decode(value);
  if (isEmpty(object.metadata)) nameByKey(object, key, source);
  const { json, versionOffset, itemOffset } = encodeObject(object, schema);
  return { key, revision, value: json, seal: { fingerprint, versionOffset, itemOffset } };
}

/** Gives an object without any metadata, where no resourceVersion can be inserted, the name in its key. */
function nameByKey(object: KubeObject, key: string, { prefix }: EntrySource): void {
  const [name, namespace] = key.slice(prefix.length).split("/").reverse();
  object.metadata = { name: name as string, ...(namespace !== undefined && { namespace }) };
}

/** Returns the schema of the version at which the object was stored. */
export function schemaFor(json: Buffer, { schema, schemaOf }: EntrySource): Struct {
  return schemaOf === undefined ? schema : (schemaOf(peekTypeMeta(json).apiVersion) ?? schema);
}

/**
 * Creates an entry from encoded JSON by inserting the resourceVersion.
 * @param json without resourceVersion, as returned by {@link encodeObject}
 */
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

/** Creates the entry of a DELETED event: the last state with the revision of the deletion. */
export function deletedEntry(previous: Entry, revision: number): Entry {
  return new DeletedEntry(previous as CachedEntry, revision);
}

/** Allocates a buffer of this length plus a final newline, with its own ArrayBuffer. */
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

  /**
   * Created on each access: storing a second view of each object would use a tenth of the cache's
   * memory.
   */
  get line(): Buffer {
    return Buffer.from(this.json.buffer);
  }

  get index(): EntryIndex {
    if (this.#index?.selectable !== this.source.selectableFields) this.#index = new LazyIndex(this);
    return this.#index as LazyIndex;
  }
}

/**
 * Its JSON is created on each access: most deletions are sent once, and the recent events keep the
 * previous state in any case.
 */
class DeletedEntry implements Entry {
  readonly key: string;
  readonly revision: number;
  readonly itemOffset: number;
  readonly #previous: CachedEntry;

  constructor(previous: CachedEntry, revision: number) {
    this.key = previous.key;
    this.revision = revision;
    this.itemOffset = previous.itemOffset;
    this.#previous = previous;
  }

  get json(): Buffer {
    const { json, versionOffset, revision } = this.#previous;
    const old = `"resourceVersion":"${revision}",`.length;
    const splice = `"resourceVersion":"${this.revision}",`;
    const bytes = lineOf(json.length - old + splice.length);
    json.copy(bytes, 0, 0, versionOffset);
    bytes.write(splice, versionOffset, "latin1");
    json.copy(bytes, versionOffset + splice.length, versionOffset + old);
    return bytes.subarray(0, -1);
  }

  get line(): Buffer {
    return Buffer.from(this.json.buffer);
  }

  get index(): EntryIndex {
    return this.#previous.index;
  }
}

/** Decodes labels and fields, and hashes the uid, on first access. */
class LazyIndex implements EntryIndex {
  readonly namespace: string;
  readonly name: string;
  readonly selectable: EntrySource["selectableFields"];
  readonly #entry: CachedEntry;
  #labels: ReadonlyMap<string, string> | undefined;
  #fields: ReadonlyMap<string, string> | undefined;
  #uidHash: bigint | undefined;

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

  get uidHash(): bigint {
    this.#uidHash ??= shardHash(uidBytes(this.#entry));
    return this.#uidHash;
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
/** In the metadata of built-ins only scalar values precede labels, and labels contain no braces. */
const leadingLabels = /^"metadata":\{[^{}]*?"labels":(\{[^{}]*\})/;
/** Bytes of metadata that are searched for labels before the whole object is parsed. */
const leadingBytesMax = 1024;

function labelsOf({ json, itemOffset }: CachedEntry): ReadonlyMap<string, string> {
  // Quotes in JSON strings are escaped, so these bytes can only be a key.
  if (json.indexOf('"labels":{', itemOffset, "latin1") < 0) return noLabels;
  const leading = leadingLabels.exec(json.toString("latin1", itemOffset, itemOffset + leadingBytesMax))?.[1];
  const labels: Record<string, string> =
    leading === undefined ? (parse(json).metadata.labels ?? {}) : JSON.parse(leading);
  return new Map(Object.entries(labels));
}

function parse(json: Buffer): KubeObject {
  return JSON.parse(json.toString()) as KubeObject;
}
