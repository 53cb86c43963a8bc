/** Makes a definition ready: its cache, its keys, its fingerprint. What depends on the definition alone is done here, once. */
import type { Clock } from "../apimachinery/clock.ts";
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { formatGroupVersion, type KubeObject } from "../apimachinery/object.ts";
import { openTurns, type Turns } from "../apimachinery/turns.ts";
import { decodeEncoded } from "../lib/schema/decode.ts";
import type { Storage } from "../storage/contract.ts";
import type { WatchCache } from "../watch-cache/contract.ts";
import { type EntrySource, entryFromStored, schemaFor } from "../watch-cache/entry.ts";
import { openWatchCache } from "../watch-cache/watch-cache.ts";
import type { Resource, ResourceDefinition, ResourceStore, StorageForm, Strategy } from "./contract.ts";
import { fingerprintOf } from "./fingerprint.ts";

export interface InstallOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly gates?: FeatureGates;
  /** How long a state is shown and watched from after it was superseded; without end when unset. */
  readonly historyMs?: number;
}

/** Installs the definitions of one server. */
export interface Installer {
  install(definition: ResourceDefinition): Resource;
  /** Forgets what is known of the objects of a definition that is served no more, or is another one now, and ends their watches. */
  release(definition: ResourceDefinition): void;
  /** By key prefix: definitions that store under the same prefix share one. For shutdown and metrics. */
  caches(): ReadonlyMap<string, WatchCache>;
}

export function createInstaller(options: InstallOptions): Installer {
  const shared = new Map<string, SharedCache>();
  return {
    install: (definition) => installResource(definition, { ...options, shared }),
    release({ storage: form }) {
      if (form === undefined) return;
      shared.get(form.prefix)?.cache.close();
      shared.delete(form.prefix);
    },
    caches: () => new Map([...shared].map(([prefix, { cache }]) => [prefix, cache])),
  };
}

/** One cache, and what its entries are made with. */
interface SharedCache {
  readonly cache: WatchCache;
  readonly source: EntrySource;
  readonly turns: Turns;
  readonly gates: FeatureGates | undefined;
  /** Another definition of the same objects has fields of its own to select by. */
  join(strategy: Strategy): void;
}

/** Builds no types and reads nothing: that comes with the first use. */
function installResource(
  definition: ResourceDefinition,
  { shared, ...options }: InstallOptions & { shared: Map<string, SharedCache> },
): Resource {
  const { storage: form } = definition;
  if (form === undefined) return { definition, store: undefined };
  const known = shared.get(form.prefix);
  known?.join(definition.strategy);
  const cache = known ?? openSharedCache(form, definition, options);
  shared.set(form.prefix, cache);
  return { definition, store: storeOf(form, cache) };
}

function openSharedCache(
  form: StorageForm,
  { strategy, resource, converter }: ResourceDefinition,
  { storage, clock, gates, historyMs }: InstallOptions,
): SharedCache {
  let fingerprint: number | undefined;
  let { selectableFields } = strategy;
  const source: EntrySource = {
    prefix: form.prefix,
    indexedFields: strategy.indexedFields,
    get fingerprint() {
      fingerprint ??= fingerprintOf(form);
      return fingerprint;
    },
    get schema() {
      return form.schema;
    },
    get selectableFields() {
      return selectableFields;
    },
    apiVersion: converter === undefined ? formatGroupVersion(form.group, form.version) : undefined,
    schemaOf: converter === undefined ? undefined : (apiVersion) => converter.schemaOf(apiVersion),
  };
  const keepsSnapshots = gates?.enabled("ListFromCacheSnapshot") ?? true;
  const cache = openWatchCache({
    storage,
    clock,
    prefix: form.prefix,
    resource: { group: form.group, resource },
    keepsSnapshots,
    ...(historyMs !== undefined && { historyMs }),
    indexedFields: strategy.indexedFields,
    entryOf: (stored) => entryFromStored(stored, source),
  });
  return {
    cache,
    source,
    turns: openTurns(),
    gates,
    join(other) {
      selectableFields = { ...selectableFields, ...other.selectableFields };
    },
  };
}

function storeOf(form: StorageForm, { cache, source, turns, gates }: SharedCache): ResourceStore {
  return {
    form,
    source,
    cache,
    turns,
    gates,
    get fingerprint() {
      return source.fingerprint;
    },
    keyOf: (namespace, name) => (namespace === "" ? `${form.prefix}${name}` : `${form.prefix}${namespace}/${name}`),
    decode: ({ json }) => decodeEncoded(json, schemaFor(json, source)) as KubeObject,
  };
}
