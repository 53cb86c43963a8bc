/**
 * The objects of a resource at a version to which a {@link Converter} converts the stored objects.
 */
import assert from "node:assert/strict";
import { formatGroupVersion, type KubeObject, type ObjectMeta } from "../apimachinery/object.ts";
import { parseJson, peekTypeMeta } from "../lib/json/parse.ts";
import { conform } from "../lib/schema/decode.ts";
import { encodeObject } from "../lib/schema/encode.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { type EntrySource, makeEntry } from "../watch-cache/entry.ts";
import type { ConvertedVersion, Resource, ResourceStore, ServedVersion, ShowOptions } from "./contract.ts";
import type { Converted, Converter } from "./converter.ts";

/** Limits of one conversion request, because its response is decoded without yielding. */
const batchBytesMax = 256 << 10;
const batchMax = 250;
/** Objects that are encoded before the loop yields to other requests. */
const turnMax = 25;

/**
 * Creates the converted version of a resource. The storage version needs one, too, because objects
 * may have been stored at another version before.
 *
 * @returns undefined if the resource has no converter
 */
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
  /**
   * Conversions by stored entry, held weakly: at most one for each existing object and each kept
   * event.
   */
  readonly #conversions = new WeakMap<Entry, Entry | Promise<Entry>>();

  constructor(resource: Resource, store: ResourceStore, version: ServedVersion, converter: Converter) {
    const { definition } = resource;
    this.#apiVersion = formatGroupVersion(definition.group, version.version);
    this.#storedApiVersion = formatGroupVersion(store.form.group, store.form.version);
    this.#store = store;
    this.#version = version;
    this.#converter = converter;
    this.#source = {
      prefix: store.form.prefix,
      fingerprint: 0, // Unused: entries of this source are never read from storage.
      get schema() {
        return version.schema;
      },
      decode: () => assert.fail("converted entries are not stored"),
      selectableFields: definition.strategy.selectableFields,
      indexedFields: [],
    };
    this.shown = {
      resource: { definition, store: shownStore(store, version, this.#source) },
      version: withoutConversion(version),
    };
  }

  show(entries: readonly Entry[], { list = false }: ShowOptions = {}): readonly Entry[] | Promise<readonly Entry[]> {
    if (entries.every((entry) => this.#isAtVersion(entry))) return entries;
    const unconverted = entries.filter((entry) => !this.#isAtVersion(entry) && !this.#conversions.has(entry));
    if (unconverted.length > 0) this.#startConversion([...new Set(unconverted)], list);
    return Promise.all(entries.map((entry) => this.#conversions.get(entry) ?? entry));
  }

  async showReconverted(entry: Entry): Promise<Entry> {
    if (this.#isAtVersion(entry)) return entry;
    const [shown] = this.#conversions.has(entry) ? await this.#convertAll([entry], false) : await this.show([entry]);
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
    const [converted] = await this.#convert([json], this.#storedApiVersion, "object");
    return conform(converted as KubeObject, schema).object as KubeObject;
  }

  async readBack(object: KubeObject, { resourceVersion }: ObjectMeta): Promise<KubeObject> {
    if (this.#apiVersion === this.#storedApiVersion) return object;
    const { json } = encodeObject(object, this.#store.form.schema);
    const [shown] = (await this.#convert([json], this.#apiVersion, "object")) as [KubeObject];
    shown.apiVersion = this.#storedApiVersion;
    if (resourceVersion !== undefined) shown.metadata.resourceVersion = resourceVersion;
    return shown;
  }

  async recheck(entry: Entry): Promise<void> {
    await this.stored(await this.present(entry));
    await this.showReconverted(entry);
  }

  /** Starts to convert entries; failures are not cached. */
  #startConversion(entries: readonly Entry[], list: boolean): void {
    const converting = this.#convertAll(entries, list);
    for (const [index, entry] of entries.entries()) {
      const one = converting.then((converted) => {
        const shown = converted[index] as Entry;
        this.#conversions.set(entry, shown);
        return shown;
      });
      this.#conversions.set(entry, one);
      one.catch(() => {
        if (this.#conversions.get(entry) === one) this.#conversions.delete(entry);
      });
    }
  }

  async #convertAll(entries: readonly Entry[], list: boolean): Promise<Entry[]> {
    const converted: Entry[] = [];
    for (const batch of batches(entries)) {
      const what = list || batch.length > 1 ? "list" : "object";
      const objects = await this.#convert(
        batch.map(({ json }) => json),
        this.#apiVersion,
        what,
      );
      for (const [index, object] of objects.entries()) {
        if (index > 0 && index % turnMax === 0) await new Promise((resolve) => setImmediate(resolve));
        converted.push(this.#entryOf(batch[index] as Entry, object));
      }
    }
    return converted;
  }

  async #convert(objects: readonly Buffer[], apiVersion: string, what: Converted): Promise<KubeObject[]> {
    const converted = await this.#converter.convert(objects, apiVersion, what);
    for (const object of converted) this.#converter.prune(object, apiVersion);
    return converted;
  }

  #entryOf({ key, revision }: Entry, object: KubeObject): Entry {
    delete object.metadata.resourceVersion;
    const { json, versionOffset, itemOffset } = encodeObject(object, this.#version.schema);
    return makeEntry(key, revision, json, { versionOffset, itemOffset }, this.#source);
  }

  #isAtVersion({ json }: Entry): boolean {
    return isAtVersion(json, this.#apiVersion);
  }
}

/** Whether an encoded object has this apiVersion. */
export function isAtVersion(json: Buffer, apiVersion: string): boolean {
  // Keys are sorted, and apiVersion is usually the first.
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

/**
 * The store with this version as the storage version, so that converted entries are encoded
 * unchanged.
 */
function shownStore(store: ResourceStore, version: ServedVersion, source: EntrySource): ResourceStore {
  const { form, cache, uncached, turns, gates, now, keyOf, fingerprint } = store;
  return {
    source,
    cache,
    uncached,
    turns,
    gates,
    now,
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

/** Decodes without defaults, because those of the storage version have been set. */
function parsed({ json }: Entry): KubeObject {
  return parseJson(json).value as KubeObject;
}
