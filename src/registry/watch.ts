/** Plans a watch: where it starts and which events it shows. */
import { ApiError, badRequest, resourceVersionTooLarge } from "../apimachinery/errors.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { Resource, ResourceStore } from "../catalog/contract.ts";
import type { CacheEvent, Entry, Snapshot, Topic, WatchCache } from "../watch-cache/contract.ts";
import { deletedEntry } from "../watch-cache/entry.ts";
import { candidates, topicOf } from "./candidates.ts";
import { checkWatchOptions, type ListOptions, parseResourceVersion, withWatchDefaults } from "./list-options.ts";
import { selectedInSteps } from "./scan.ts";
import { everything, type Selection, selectionOf } from "./selection.ts";

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
}

/** An event within a scope. */
export interface Shown {
  readonly type: CacheEvent["type"];
  readonly entry: Entry;
}

/**
 * Plans a watch.
 * @throws ApiError 400 for options that exclude each other or cannot be parsed; 500 for a
 *   resourceVersion that is not a number (as upstream)
 */
export async function planWatch(resource: Resource, request: WatchRequest): Promise<WatchPlan> {
  const { namespace, name, initialEvents, converted = false } = request;
  const options = withWatchDefaults(request.options, { initialEvents });
  checkWatchOptions(options, { initialEvents });
  const { cache } = storeOf(resource);
  const selection = selectionOf(resource.definition, options);
  const own = scopeOf(resource, namespace, name, selection);
  const scope =
    converted && selection !== everything
      ? selectingAfterConversion(own, scopeOf(resource, namespace, name, everything), selection)
      : own;
  const { resourceVersion, sendInitialEvents, allowWatchBookmarks } = options;
  const requested = parseResourceVersion(resourceVersion, "watch");
  const plan = { scope, initial: undefined, from: requested, initialEventsEnd: undefined, startError: undefined };
  if (requested > 0 && sendInitialEvents !== true) return plan;
  const state = await stateFor(cache, resourceVersion, requested);
  if (state instanceof ApiError) return { ...plan, startError: state };
  return {
    ...plan,
    initial: sendInitialEvents === false ? undefined : state,
    from: state.revision,
    initialEventsEnd: sendInitialEvents === true && allowWatchBookmarks ? state.revision : undefined,
  };
}

/**
 * The state that a watch starts with. A timeout is returned, not thrown: the watch has started by
 * then.
 */
async function stateFor(cache: WatchCache, resourceVersion: string, requested: number): Promise<Snapshot | ApiError> {
  if (resourceVersion === "") return cache.current();
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
function scopeOf(resource: Resource, namespace: string, name: string, selection: Selection): WatchScope {
  if (name !== "" && selection.fieldSelector !== "" && selection.name !== name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  const store = storeOf(resource);
  const { form, keyOf } = store;
  const requiredName = name === "" ? selection.name : name;
  const isSingle = requiredName !== undefined && (namespace !== "" || !resource.definition.namespaced);
  if (isSingle) return singleScope(keyOf(namespace, requiredName), selection);
  return rangeScope(
    { prefix: namespace === "" ? form.prefix : keyOf(namespace, ""), isWhole: namespace === "" },
    selection,
    store,
  );
}

/** Applies the selection after conversion, which may change the selected fields. */
function selectingAfterConversion(scope: WatchScope, whole: WatchScope, selection: Selection): WatchScope {
  return { ...scope, objects: whole.objects, selects: selection.matches };
}

function singleScope(key: string, selection: Selection): WatchScope {
  return {
    text: `=${key}\n${selection.text}`,
    topic: { key },
    objects(snapshot) {
      const entry = snapshot.get(key);
      return entry !== undefined && selection.matches(entry) ? [entry] : [];
    },
    shown: (event) => (event.entry.key === key ? shownBy(selection, event) : undefined),
  };
}

function rangeScope(
  range: { prefix: string; isWhole: boolean },
  selection: Selection,
  store: ResourceStore,
): WatchScope {
  const { prefix, isWhole } = range;
  return {
    text: `${prefix}\n${selection.text}`,
    topic: topicOf(range, selection, store),
    objects(snapshot) {
      const all = candidates(snapshot, range, selection, store);
      return selection.all ? all : selectedInSteps(all, selection.matches);
    },
    shown: (event) => (isWhole || event.entry.key.startsWith(prefix) ? shownBy(selection, event) : undefined),
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
