/** Installs definitions: creates the watch cache, keys and fingerprint of a resource. */
import type { Clock } from "../apimachinery/clock.ts";
import { type ApiError, plainError } from "../apimachinery/errors.ts";
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import type { GroupResource, KubeObject } from "../apimachinery/object.ts";
import { openTurns, type Turns } from "../apimachinery/turns.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { decodeEncoded } from "../lib/schema/decode.ts";
import type { Storage } from "../storage/contract.ts";
import type { Snapshot, WatchCache } from "../watch-cache/contract.ts";
import { type EntrySource, entryFromStored, schemaFor } from "../watch-cache/entry.ts";
import { openWatchCache } from "../watch-cache/watch-cache.ts";
import type { Resource, ResourceDefinition, ResourceStore, StorageForm } from "./contract.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { decodeValue } from "./stored-value.ts";
import type { Strategy } from "./strategy-contract.ts";

interface InstallOptions {
  /** Returns the store that has the keys with the prefix. */
  readonly storageOf: (prefix: string) => Storage;
  readonly clock: Clock;
  readonly gates?: FeatureGates;
  /** How long old revisions can be read and watched from; unlimited if unset. */
  readonly historyMs?: number;
  /** States of caches with which those of this server begin, by key prefix: those of the server that it is a fork of. */
  readonly cacheStates?: ReadonlyMap<string, CacheState> | undefined;
  /** Which resources have no watch cache besides those whose strategy says so. */
  readonly cached?: CachedResources;
  /** Called when a subscriber of a watch cache throws; must not throw. */
  readonly subscriberFailed?: (error: unknown) => void;
}

/** What clients see of watch caches: they can read and watch as if a resource had none. */
export interface CachedResources {
  /** False: no resource has one. */
  readonly watchCache: boolean;
  /** By name of the resource with its group, such as `deployments.apps`; 0: none. */
  readonly watchCacheSizes: ReadonlyMap<string, number>;
}

/** The state of a watch cache, for another cache of the same objects. */
export interface CacheState {
  readonly snapshot: Snapshot;
  /** Of the definition whose entries it has. */
  readonly source: Pick<EntrySource, "fingerprint">;
}

/** Installs the definitions of one server. */
export interface Installer {
  /** Installs a definition. Schemas are built and objects read on first use, not here. */
  install(definition: ResourceDefinition): Resource;
  /** Closes the watch cache of a removed or replaced definition, and with it its watches. */
  release(definition: ResourceDefinition): void;
  /** The watch caches by key prefix, for shutdown and metrics. */
  caches(): ReadonlyMap<string, WatchCache>;
  /** Makes the watch caches, also those of later definitions, reject exact reads of earlier revisions. */
  forgetBefore(revision: number): void;
  /** The states of the loaded caches that have this revision, by key prefix. */
  cacheStates(revision: number): ReadonlyMap<string, CacheState>;
  /** Finds the installed resource whose objects have keys like this one, or this prefix. */
  findByKey(key: string): GroupResource | undefined;
}

/** Creates the installer of a server. */
export function createInstaller(options: InstallOptions): Installer {
  const shared = new Map<string, SharedCache>();
  let forgotten = 0;
  return {
    install: (definition) => installResource(definition, { ...options, shared, forgotten }),
    release({ storage: form }) {
      if (form === undefined) return;
      shared.get(form.prefix)?.cache.close();
      shared.delete(form.prefix);
    },
    caches: () => new Map([...shared].map(([prefix, { cache }]) => [prefix, cache])),
    forgetBefore(revision) {
      forgotten = Math.max(forgotten, revision);
      for (const { cache } of shared.values()) cache.forgetBefore(revision);
    },
    cacheStates(revision) {
      const states = new Map<string, CacheState>();
      for (const [prefix, { cache, source }] of shared) {
        if (!cache.isLoaded || cache.latest().revision !== revision) continue;
        states.set(prefix, { snapshot: cache.latest(), source });
      }
      return states;
    },
    findByKey(key) {
      for (let slash = key.indexOf("/", 1); slash > 0; slash = key.indexOf("/", slash + 1)) {
        const found = shared.get(key.slice(0, slash + 1));
        if (found !== undefined) return found.resource;
      }
      return undefined;
    },
  };
}

/** The watch cache of a key prefix; definitions with the same prefix share it. */
interface SharedCache {
  readonly cache: WatchCache;
  readonly uncached: boolean;
  readonly resource: GroupResource;
  readonly source: EntrySource;
  readonly turns: Turns;
  readonly gates: FeatureGates | undefined;
  readonly now: ResourceStore["now"];
  /** Adds the selectable fields of another definition of the same objects. */
  join(strategy: Strategy): void;
}

function installResource(
  definition: ResourceDefinition,
  { shared, forgotten, ...options }: InstallOptions & { shared: Map<string, SharedCache>; forgotten: number },
): Resource {
  const { storage: form } = definition;
  if (form === undefined) return { definition, store: undefined };
  const existing = shared.get(form.prefix);
  existing?.join(definition.strategy);
  const cache = existing ?? openSharedCache(form, definition, options);
  if (existing === undefined && forgotten > 0) cache.cache.forgetBefore(forgotten);
  shared.set(form.prefix, cache);
  return { definition, store: new Store(form, cache) };
}

function openSharedCache(
  form: StorageForm,
  definition: ResourceDefinition,
  { storageOf, clock, gates, historyMs, cacheStates, cached, subscriberFailed }: InstallOptions,
): SharedCache {
  const { strategy, resource } = definition;
  const source = new Source(form, definition, gates);
  const name = { group: form.group, resource };
  const uncached = isUncached(name, strategy, cached);
  const keepsSnapshots = gates?.enabled("ListFromCacheSnapshot") ?? true;
  const cache = openWatchCache({
    storage: storageOf(form.prefix),
    clock,
    prefix: form.prefix,
    resource: name,
    namesCorrupt: source.namesCorrupt,
    keepsSnapshots,
    watchesCompacted: !uncached,
    ...(historyMs !== undefined && { historyMs }),
    ...(subscriberFailed !== undefined && { failed: subscriberFailed }),
    indexedFields: strategy.indexedFields,
    initial: initialState(cacheStates?.get(form.prefix), source, definition),
    entryOf: (stored) => entryFromStored(stored, source),
  });
  return {
    cache,
    uncached,
    resource: name,
    source,
    turns: openTurns(),
    gates,
    now: () => clock.now(),
    join(other) {
      source.selectableFields = { ...source.selectableFields, ...other.selectableFields };
    },
  };
}

/** Source: `GetRESTOptions` in k8s.io/apiserver@v0.36.0/pkg/server/options/etcd.go. */
function isUncached(
  { group, resource }: GroupResource,
  strategy: Pick<Strategy, "uncached">,
  { watchCache, watchCacheSizes }: CachedResources = { watchCache: true, watchCacheSizes: new Map() },
): boolean {
  if (!watchCache) return true;
  const size = watchCacheSizes.get(group === "" ? resource : `${resource}.${group}`);
  return size === undefined ? strategy.uncached : size === 0;
}

/**
 * The built-in definitions of a server and of its forks are equal, so their fingerprints need not be computed.
 *
 * @returns undefined when the entries of the state are not those of the definition
 */
function initialState(
  state: CacheState | undefined,
  source: EntrySource,
  { custom }: ResourceDefinition,
): Snapshot | undefined {
  if (state === undefined || (custom && state.source.fingerprint !== source.fingerprint)) return undefined;
  return state.snapshot;
}

/** How the entries of a cache are read. A class, because each server makes one for each kind, and V8 adds getters to plain objects slowly. */
class Source implements EntrySource {
  readonly prefix: string;
  readonly indexedFields: EntrySource["indexedFields"];
  readonly namesCorrupt: boolean;
  selectableFields: EntrySource["selectableFields"];
  readonly schemaOf: EntrySource["schemaOf"];
  readonly decode: EntrySource["decode"];
  readonly #form: StorageForm;

  constructor(form: StorageForm, definition: ResourceDefinition, gates: FeatureGates | undefined) {
    const { strategy, converter } = definition;
    this.prefix = form.prefix;
    this.indexedFields = strategy.indexedFields;
    this.namesCorrupt = gates?.enabled("AllowUnsafeMalformedObjectDeletion") ?? false;
    this.selectableFields = strategy.selectableFields;
    this.schemaOf = converter === undefined ? undefined : (apiVersion) => converter.schemaOf(apiVersion);
    this.decode = (value) => decodeValue(value, { form, definition, gates });
    this.#form = form;
  }

  get fingerprint() {
    return fingerprintOf(this.#form);
  }

  get schema() {
    return this.#form.schema;
  }
}

/** Source: `prepareKey` in k8s.io/apiserver@v0.36.0/pkg/storage/etcd3/store.go. */
function invalidKey({ prefix }: StorageForm, namespace: string, name: string): ApiError {
  const path = `${prefix.replace(/^\/registry/, "")}${namespace}${name === "" ? "" : `/${name}`}`;
  return plainError(`invalid key: ${quoteGo(path)}`);
}

class Store implements ResourceStore {
  readonly form: StorageForm;
  readonly source: EntrySource;
  readonly cache: WatchCache;
  readonly uncached: boolean;
  readonly turns: Turns;
  readonly gates: FeatureGates | undefined;
  readonly now: ResourceStore["now"];
  readonly keyOf: ResourceStore["keyOf"];
  readonly decode: ResourceStore["decode"];

  constructor(form: StorageForm, { source, cache, uncached, turns, gates, now }: SharedCache) {
    this.form = form;
    this.source = source;
    this.cache = cache;
    this.uncached = uncached;
    this.turns = turns;
    this.gates = gates;
    this.now = now;
    this.keyOf = (namespace, name) => {
      if (namespace === "." || namespace === "..") throw invalidKey(form, namespace, name);
      return namespace === "" ? `${form.prefix}${name}` : `${form.prefix}${namespace}/${name}`;
    };
    this.decode = ({ json }) => decodeEncoded(json, schemaFor(json, source)) as KubeObject;
  }

  get fingerprint() {
    return this.source.fingerprint;
  }
}
