/** Plans a watch: where it starts and which events it shows. */
import type { Clock } from "../apimachinery/clock.ts";
import { ApiError, badRequest, resourceVersionTooLarge } from "../apimachinery/errors.ts";
import { within } from "../apimachinery/within.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { Resource, ResourceStore } from "../catalog/contract.ts";
import type { ListOptions } from "../request/list-options.ts";
import { SharedStoreError } from "../storage/contract.ts";
import type { CacheEvent, Entry, Snapshot, Topic, WatchCache } from "../watch-cache/contract.ts";
import { deletedEntry } from "../watch-cache/entry.ts";
import { candidates, topicOf } from "./candidates.ts";
import { checkWatchOptions, parseResourceVersion, withWatchDefaults } from "./list-options.ts";
import { selectedInSteps } from "./scan.ts";
import { everything, type Selection, selectionOf } from "./selection.ts";
import { selectsShard, withinShard } from "./shard-selection.ts";
import { tracedRead } from "./traced-read.ts";

/** A watch of a resource, or of one object. */
interface WatchRequest {
  /** Empty for all namespaces. */
  readonly namespace: string;
  /** The name in the path; empty for a collection. */
  readonly name: string;
  readonly options: ListOptions;
  /** The gate WatchList. */
  readonly initialEvents: boolean;
  /**
   * Whether a webhook converts the objects: the scope then sees converted objects, except in
   * `objects`.
   */
  readonly converted?: boolean;
  /** How long the watch may wait for the state that it starts with. */
  readonly limit?: { readonly clock: Clock; readonly timeoutMs: number };
}

/** What a watch sends, and from where. */
export interface WatchPlan {
  readonly scope: WatchScope;
  /** The objects to send as ADDED first; undefined when the client has them already. */
  readonly initial: Snapshot | undefined;
  /** Events after this revision follow. Infinity for a resourceVersion above all revisions. */
  readonly from: number;
  /** After this revision, the bookmark that ends the initial events is sent. */
  readonly initialEventsEnd: number | undefined;
  /** Sent as the only event: the initial state was not reached in time. */
  readonly startError: ApiError | undefined;
}

/** The events that a watch shows. */
export interface WatchScope {
  /** Equal for scopes that show the same events. */
  readonly text: string;
  /** The smallest set of events that the watch must receive; undefined for all. */
  readonly topic: Topic | undefined;
  /** The existing objects; undefined where the caller can let other requests run. */
  objects(snapshot: Snapshot): Iterable<Entry | undefined>;
  /** Selects from `objects` after their conversion; undefined when all of them are shown. */
  readonly selects?: (entry: Entry) => boolean;
  /** The event as the watch shows it; undefined when it is outside the scope. */
  shown(event: CacheEvent): Shown | undefined;
  /**
   * Counts the states of an event that the shard selector excludes; undefined without one.
   * `objects` and `selects` count what they exclude in the counters of the cache.
   */
  readonly excluded?: ((event: CacheEvent) => number) | undefined;
}

/** An event within a scope. */
export interface Shown {
  readonly type: CacheEvent["type"];
  readonly entry: Entry;
}

/**
 * Plans a watch.
 * @throws ApiError 400 for options that exclude each other or cannot be parsed; 500 for a
 *   resourceVersion that is not a number, or a shard selector that cannot be parsed (as upstream)
 */
export async function planWatch(resource: Resource, request: WatchRequest): Promise<WatchPlan> {
  const { namespace, name, initialEvents, converted = false } = request;
  const options = withWatchDefaults(request.options, { initialEvents });
  checkWatchOptions(options, { initialEvents });
  const store = storeOf(resource);
  const { cache } = store;
  const everyShard = selectionOf(resource.definition, options);
  checkName(name, everyShard);
  const selection = selectsShard(options, store) ? await withinShard(everyShard, options.shardSelector) : everyShard;
  const own = scopeOf(resource, namespace, name, selection);
  const scope =
    converted && selection !== everything
      ? selectingAfterConversion(own, scopeOf(resource, namespace, name, everything), counting(selection, cache))
      : own;
  const { resourceVersion, sendInitialEvents, allowWatchBookmarks } = options;
  const requested = parseResourceVersion(resourceVersion, "watch");
  const plan = { scope, initial: undefined, from: requested, initialEventsEnd: undefined, startError: undefined };
  if (requested > 0 && sendInitialEvents !== true) return plan;
  const state = await tracedRead(
    resourceVersion === "" || store.uncached
      ? currentState(cache, request, resourceVersion)
      : stateFor(cache, requested, options),
  );
  if (state instanceof ApiError) return { ...plan, startError: state };
  return {
    ...plan,
    initial: sendInitialEvents === false ? undefined : state,
    from: state.revision,
    initialEventsEnd: sendInitialEvents === true && allowWatchBookmarks ? state.revision : undefined,
  };
}

/**
 * The state of the store. When it cannot be read in time, or is older than the revision, the error is returned, not
 * thrown: the watch has started by then. Source: `newErrWatcher` in k8s.io/apiserver@v0.36.0/pkg/storage/cacher.
 */
async function currentState(
  cache: WatchCache,
  { limit }: WatchRequest,
  resourceVersion: string,
): Promise<Snapshot | ApiError> {
  const current = cache.current();
  try {
    const state = await (limit === undefined ? current : within(limit.clock, limit.timeoutMs, current));
    if (state === undefined) return watchFailed("context deadline exceeded");
    const isReached = parseResourceVersion(resourceVersion, "watch") <= state.revision;
    return isReached ? state : resourceVersionTooLarge(resourceVersion, state.revision);
  } catch (error) {
    if (error instanceof SharedStoreError) return watchFailed(error.message);
    throw error;
  }
}

function watchFailed(message: string): ApiError {
  return new ApiError({ code: 500, reason: "InternalError", message });
}

/**
 * The state that a watch starts with. A timeout is returned, not thrown: the watch has started by
 * then.
 */
async function stateFor(
  cache: WatchCache,
  requested: number,
  { resourceVersion }: Pick<ListOptions, "resourceVersion">,
): Promise<Snapshot | ApiError> {
  await cache.ready();
  if (requested === 0) return cache.latest();
  if (requested === Number.POSITIVE_INFINITY) return resourceVersionTooLarge(resourceVersion, cache.latest().revision);
  try {
    return await cache.notOlderThan(requested);
  } catch (error) {
    if (error instanceof ApiError && error.status.code === 504) return error;
    throw error;
  }
}

/** @param name in the path; a field selector on the name must agree with it */
function checkName(name: string, { fieldSelector, name: selected }: Selection): void {
  if (name !== "" && fieldSelector !== "" && selected !== name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
}

function scopeOf(resource: Resource, namespace: string, name: string, selection: Selection): WatchScope {
  const store = storeOf(resource);
  const { form, keyOf } = store;
  const requiredName = name === "" ? selection.name : name;
  const isSingle = requiredName !== undefined && (namespace !== "" || !resource.definition.namespaced);
  if (isSingle) return singleScope(keyOf(namespace, requiredName), selection, store);
  return rangeScope(
    { prefix: namespace === "" ? form.prefix : keyOf(namespace, ""), isWhole: namespace === "" },
    selection,
    store,
  );
}

/** Applies the selection after conversion, which may change the selected fields. */
function selectingAfterConversion(
  scope: WatchScope,
  whole: WatchScope,
  selection: Pick<Selection, "matches">,
): WatchScope {
  return { ...scope, objects: whole.objects, selects: selection.matches };
}

function singleScope(key: string, selection: Selection, { cache }: ResourceStore): WatchScope {
  const { matches } = counting(selection, cache);
  const covers = (event: CacheEvent): boolean => event.entry.key === key;
  return {
    text: `=${key}\n${selection.text}`,
    topic: { key },
    objects(snapshot) {
      const entry = snapshot.get(key);
      return entry !== undefined && matches(entry) ? [entry] : [];
    },
    shown: (event) => (covers(event) ? shownBy(selection, event) : undefined),
    excluded: excludedBy(selection, covers),
  };
}

function rangeScope(
  range: { prefix: string; isWhole: boolean },
  selection: Selection,
  store: ResourceStore,
): WatchScope {
  const { prefix, isWhole } = range;
  const { matches } = counting(selection, store.cache);
  const covers = (event: CacheEvent): boolean => isWhole || event.entry.key.startsWith(prefix);
  return {
    text: `${prefix}\n${selection.text}`,
    topic: topicOf(range, selection, store),
    objects(snapshot) {
      const all = candidates(snapshot, range, selection, store);
      return selection.all ? all : selectedInSteps(all, matches);
    },
    shown: (event) => (covers(event) ? shownBy(selection, event) : undefined),
    excluded: excludedBy(selection, covers),
  };
}

/** Counts the objects that the shard selector excludes, for the initial events of one watcher. */
function counting(selection: Selection, { counts }: WatchCache): Pick<Selection, "matches"> {
  const { shard, matches } = selection;
  if (shard === undefined) return selection;
  return {
    matches(entry) {
      if (shard.has(entry)) return matches(entry);
      counts.excludedByShard += 1;
      return false;
    },
  };
}

/** As upstream, the states before and after an event count separately. */
function excludedBy({ shard }: Selection, covers: (event: CacheEvent) => boolean): WatchScope["excluded"] {
  if (shard === undefined) return undefined;
  const count = (entry: Entry | undefined): number => Number(entry !== undefined && !shard.has(entry));
  return (event) => {
    if (!covers(event)) return 0;
    const { type, entry, previous } = event;
    return type === "DELETED" ? count(previous ?? entry) : count(entry) + count(previous);
  };
}

/**
 * An object that starts to match is shown as ADDED, one that ceases to match as DELETED in its last
 * matching state.
 */
function shownBy(selection: Selection, event: CacheEvent): Shown | undefined {
  if (selection === everything) return event;
  const { type, entry, previous, revision } = event;
  const before = previous !== undefined && selection.matches(previous);
  if (type === "DELETED") return before || (previous === undefined && selection.matches(entry)) ? event : undefined;
  const now = selection.matches(entry);
  if (now) return { type: before ? "MODIFIED" : "ADDED", entry };
  return before ? { type: "DELETED", entry: deletedEntry(previous, revision) } : undefined;
}
