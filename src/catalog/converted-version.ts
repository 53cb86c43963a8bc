/** The objects of a resource at a version that a {@link Converter} makes of those that are stored. */
import { formatGroupVersion, type KubeObject } from "../apimachinery/object.ts";
import { parseJson, peekTypeMeta } from "../lib/json/parse.ts";
import { conform } from "../lib/schema/decode.ts";
import { encodeObject } from "../lib/schema/encode.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { type EntrySource, makeEntry } from "../watch-cache/entry.ts";
import type { ConvertedVersion, Resource, ResourceStore, ServedVersion, ShowOptions } from "./contract.ts";
import type { Converter } from "./converter.ts";

/** Bytes, and objects, that are converted at a time: what comes back is read in one go. */
const batchBytesMax = 256 << 10;
const batchMax = 250;
/** Objects that are encoded before others get a turn. */
const turnMax = 25;

/** @returns undefined where there is no converter. The version that is stored has one, too: objects may have been stored at another one before. */
export function convertedVersion(resource: Resource, version: ServedVersion): ConvertedVersion | undefined {
  const { definition, store } = resource;
  const { converter } = definition;
  if (converter === undefined || store === undefined) return undefined;
  return new VersionByConverter(resource, store, version, converter);
}

class VersionByConverter implements ConvertedVersion {
  readonly shown: ConvertedVersion["shown"];
  readonly #apiVersion: string;
  readonly #storedApiVersion: string;
  readonly #store: ResourceStore;
  readonly #version: ServedVersion;
  readonly #converter: Converter;
  readonly #source: EntrySource;
  /** Each as long as what it was made of, and no longer: at most one for each object that is there, and for each event that is kept. */
  readonly #known = new WeakMap<Entry, Entry | Promise<Entry>>();

  constructor(resource: Resource, store: ResourceStore, version: ServedVersion, converter: Converter) {
    const { definition } = resource;
    this.#apiVersion = formatGroupVersion(definition.group, version.version);
    this.#storedApiVersion = formatGroupVersion(store.form.group, store.form.version);
    this.#store = store;
    this.#version = version;
    this.#converter = converter;
    this.#source = {
      prefix: store.form.prefix,
      fingerprint: 0, // Of no use: nothing is read from the store with it.
      get schema() {
        return version.schema;
      },
      selectableFields: definition.strategy.selectableFields,
      indexedFields: [],
    };
    this.shown = {
      resource: { definition, store: shownStore(store, version, this.#source) },
      version: withoutConversion(version),
    };
  }

  show(entries: readonly Entry[], { list = false }: ShowOptions = {}): readonly Entry[] | Promise<readonly Entry[]> {
    if (entries.every((entry) => this.#isHere(entry))) return entries;
    const unknown = entries.filter((entry) => !this.#isHere(entry) && !this.#known.has(entry));
    if (unknown.length > 0) this.#make([...new Set(unknown)], list);
    return Promise.all(entries.map((entry) => this.#known.get(entry) ?? entry));
  }

  async showReconverted(entry: Entry): Promise<Entry> {
    if (this.#isHere(entry)) return entry;
    const [shown] = this.#known.has(entry) ? await this.#convertAll([entry], false) : await this.show([entry]);
    return shown as Entry;
  }

  async present(entry: Entry, { reconvert = false } = {}): Promise<KubeObject> {
    const [shown] = reconvert ? [await this.showReconverted(entry)] : await this.show([entry]);
    const object = parsed(shown as Entry);
    object.apiVersion = this.#storedApiVersion;
    return object;
  }

  async stored(object: KubeObject): Promise<KubeObject> {
    const { schema } = this.#store.form;
    if (this.#apiVersion === this.#storedApiVersion) {
      schema.custom?.settle(object);
      return object;
    }
    const { json } = encodeObject({ ...object, apiVersion: this.#apiVersion }, this.#version.schema);
    const [converted] = await this.#converter.convert([json], this.#storedApiVersion, "object");
    return conform(converted as KubeObject, schema).object as KubeObject;
  }

  async recheck(entry: Entry): Promise<void> {
    await this.stored(await this.present(entry));
    await this.showReconverted(entry);
  }

  /** Starts to convert; nothing that failed is remembered. */
  #make(entries: readonly Entry[], list: boolean): void {
    const making = this.#convertAll(entries, list);
    for (const [index, entry] of entries.entries()) {
      const one = making.then((made) => {
        const shown = made[index] as Entry;
        this.#known.set(entry, shown);
        return shown;
      });
      this.#known.set(entry, one);
      one.catch(() => {
        if (this.#known.get(entry) === one) this.#known.delete(entry);
      });
    }
  }

  async #convertAll(entries: readonly Entry[], list: boolean): Promise<Entry[]> {
    const made: Entry[] = [];
    for (const batch of batches(entries)) {
      const what = list || batch.length > 1 ? "list" : "object";
      const objects = await this.#converter.convert(
        batch.map(({ json }) => json),
        this.#apiVersion,
        what,
      );
      for (const [index, object] of objects.entries()) {
        if (index > 0 && index % turnMax === 0) await new Promise((resolve) => setImmediate(resolve));
        made.push(this.#entryOf(batch[index] as Entry, object));
      }
    }
    return made;
  }

  #entryOf({ key, revision }: Entry, object: KubeObject): Entry {
    delete object.metadata.resourceVersion;
    const { json, versionOffset, itemOffset } = encodeObject(object, this.#version.schema);
    return makeEntry(key, revision, json, { versionOffset, itemOffset }, this.#source);
  }

  #isHere({ json }: Entry): boolean {
    return isAtVersion(json, this.#apiVersion);
  }
}

/** Whether an object is of this version. */
export function isAtVersion(json: Buffer, apiVersion: string): boolean {
  // Keys are sorted, and few come before this one.
  const head = `{"apiVersion":"${apiVersion}",`;
  if (json.length > head.length && json.toString("latin1", 0, head.length) === head) return true;
  return !json.subarray(0, 15).equals(leading) && peekTypeMeta(json).apiVersion === apiVersion;
}

const leading = Buffer.from('{"apiVersion":"');

function* batches(entries: readonly Entry[]): Generator<readonly Entry[]> {
  let batch: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    if (batch.length > 0 && (batch.length === batchMax || bytes + entry.json.length > batchBytesMax)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(entry);
    bytes += entry.json.length;
  }
  if (batch.length > 0) yield batch;
}

/** As if this version were the one that is stored: what is shown of it is written as it is. */
function shownStore(store: ResourceStore, version: ServedVersion, source: EntrySource): ResourceStore {
  const { form, cache, turns, gates, keyOf, fingerprint } = store;
  return {
    source,
    cache,
    turns,
    gates,
    keyOf,
    fingerprint,
    form: {
      ...form,
      version: version.version,
      get schema() {
        return version.schema;
      },
    },
    decode: parsed,
  };
}

function withoutConversion(version: ServedVersion): ServedVersion {
  const { conversion, schema: _schema, openApi: _openApi, ...rest } = version;
  return {
    ...rest,
    get schema() {
      return version.schema;
    },
  };
}

/** Without defaults: those of the version that is stored are there already. */
function parsed({ json }: Entry): KubeObject {
  return parseJson(json).value as KubeObject;
}
