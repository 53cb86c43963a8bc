/** Makes a definition ready: its cache, its keys, its fingerprint. What depends on the definition alone is done here, once. */
import type { Clock } from "../api/clock.ts";
import type { KubeObject } from "../api/object.ts";
import { decodeJson } from "../lib/schema/decode.ts";
import type { Storage } from "../storage/contract.ts";
import type { WatchCache } from "../watch-cache/contract.ts";
import { type EntrySource, entryFromStored } from "../watch-cache/entry.ts";
import { openWatchCache } from "../watch-cache/watch-cache.ts";
import type { Resource, ResourceDefinition, ResourceStore, StorageForm } from "./contract.ts";
import { fingerprintOf } from "./fingerprint.ts";

export interface Installer {
  install(definition: ResourceDefinition): Resource;
  /** Of every cache that was asked for; for shutdown and metrics. */
  caches(): ReadonlyMap<string, WatchCache>;
}

/** Definitions that store under the same prefix share one cache. */
export function createInstaller(options: { storage: Storage; clock: Clock }): Installer {
  const caches = new Map<string, WatchCache>();
  return {
    caches: () => caches,
    install(definition) {
      const { storage: form } = definition;
      if (form === undefined) return { definition, store: undefined };
      const source = entrySource(form, definition);
      let cache = caches.get(form.prefix);
      if (cache === undefined) {
        cache = openWatchCache({ ...options, prefix: form.prefix, entryOf: (stored) => entryFromStored(stored, source) });
        caches.set(form.prefix, cache);
      }
      return { definition, store: storeOf(form, cache, source) };
    },
  };
}

/** The schema and its fingerprint are made when first needed: start-up builds no types. */
function entrySource(form: StorageForm, definition: ResourceDefinition): EntrySource {
  let fingerprint: number | undefined;
  return {
    get fingerprint() {
      fingerprint ??= fingerprintOf(form);
      return fingerprint;
    },
    get schema() {
      return form.schema;
    },
    selectableFields: definition.strategy.selectableFields,
  };
}

function storeOf(form: StorageForm, cache: WatchCache, source: EntrySource): ResourceStore {
  return {
    form,
    source,
    cache,
    get fingerprint() {
      return source.fingerprint;
    },
    keyOf: (namespace, name) => (namespace === "" ? `${form.prefix}${name}` : `${form.prefix}${namespace}/${name}`),
    decode: ({ json }) => decodeJson(json, form.schema).object as KubeObject,
  };
}
