/** Where a watch begins and which events it shows. Source: resource-api §4.7. */
import { ApiError, badRequest, resourceVersionTooLarge } from "../apimachinery/errors.ts";
import type { Resource, ResourceStore } from "../catalog/contract.ts";
import type { CacheEvent, Entry, Snapshot, Topic, WatchCache } from "../watch-cache/contract.ts";
import { deletedEntry } from "../watch-cache/entry.ts";
import { candidates, topicOf } from "./candidates.ts";
import { checkWatchOptions, type ListOptions, parseResourceVersion, withWatchDefaults } from "./list-options.ts";
import { storeOf } from "./resource-names.ts";
import { everything, type Selection, selectionOf } from "./selection.ts";

export interface WatchRequest {
  /** Empty for all of them. */
  readonly namespace: string;
  /** Of the path; empty for a collection. */
  readonly name: string;
  readonly options: ListOptions;
  /** The gate WatchList. */
  readonly initialEvents: boolean;
  /** Whether somebody else converts the objects: the scope is asked only of what he has made of them then, but for `objects`. */
  readonly converted?: boolean;
}

export interface WatchPlan {
  readonly scope: WatchScope;
  /** Its objects are sent as ADDED before everything else. Undefined: the client has them. */
  readonly initial: Snapshot | undefined;
  /** Events after this revision follow. Infinity where the client named a version beyond all that can be. */
  readonly from: number;
  /** Once this revision is reached, the bookmark that ends the initial events is sent. */
  readonly initialEventsEnd: number | undefined;
  /** Sent as an event instead of all others: the initial state did not come. */
  readonly refused: ApiError | undefined;
}

/** What a watch can see. */
export interface WatchScope {
  /** The same text for scopes that see the same. */
  readonly text: string;
  /** What it needs to hear of at most; undefined for everything. */
  readonly topic: Topic | undefined;
  objects(snapshot: Snapshot): Iterable<Entry>;
  /** Undefined where all that `objects` gives is wanted. */
  readonly wants?: (entry: Entry) => boolean;
  /** How the event looks from inside; undefined when it does not show. */
  shown(event: CacheEvent): Shown | undefined;
}

export interface Shown {
  readonly type: CacheEvent["type"];
  readonly entry: Entry;
}

/** @throws ApiError 400 for options that do not go together or cannot be read; 500 for a version that is no number (as upstream) */
export async function planWatch(resource: Resource, request: WatchRequest): Promise<WatchPlan> {
  const { namespace, name, initialEvents, converted = false } = request;
  const options = withWatchDefaults(request.options, { initialEvents });
  checkWatchOptions(options, { initialEvents });
  const { cache } = storeOf(resource);
  const selection = selectionOf(resource.definition, options);
  const own = scopeOf(resource, namespace, name, selection);
  const scope =
    converted && selection !== everything
      ? selectingLate(own, scopeOf(resource, namespace, name, everything), selection)
      : own;
  const { resourceVersion, sendInitialEvents, allowWatchBookmarks } = options;
  const wanted = parseResourceVersion(resourceVersion, "watch");
  const plan = { scope, initial: undefined, from: wanted, initialEventsEnd: undefined, refused: undefined };
  if (wanted > 0 && sendInitialEvents !== true) return plan;
  const state = await stateFor(cache, resourceVersion, wanted);
  if (state instanceof ApiError) return { ...plan, refused: state };
  return {
    ...plan,
    initial: sendInitialEvents === false ? undefined : state,
    from: state.revision,
    initialEventsEnd: sendInitialEvents === true && allowWatchBookmarks ? state.revision : undefined,
  };
}

/** What a watch begins with. A version that does not come is no error of the request: the watch has begun by then. */
async function stateFor(cache: WatchCache, resourceVersion: string, wanted: number): Promise<Snapshot | ApiError> {
  if (resourceVersion === "") return cache.current();
  await cache.ready();
  if (wanted === 0) return cache.latest();
  if (wanted === Number.POSITIVE_INFINITY) return resourceVersionTooLarge(resourceVersion, cache.latest().revision);
  try {
    return await cache.notOlderThan(wanted);
  } catch (error) {
    if (error instanceof ApiError && error.status.code === 504) return error;
    throw error;
  }
}

/** @param name of the path: it must agree with a field selector, if there is one */
function scopeOf(resource: Resource, namespace: string, name: string, selection: Selection): WatchScope {
  if (name !== "" && selection.fieldSelector !== "" && selection.name !== name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  const store = storeOf(resource);
  const { form, keyOf } = store;
  const wantedName = name === "" ? selection.name : name;
  const isSingle = wantedName !== undefined && (namespace !== "" || !resource.definition.namespaced);
  if (isSingle) return singleScope(keyOf(namespace, wantedName), selection);
  return rangeScope(
    { prefix: namespace === "" ? form.prefix : keyOf(namespace, ""), isWhole: namespace === "" },
    selection,
    store,
  );
}

/** What is selected by may look different once objects are converted. */
function selectingLate(scope: WatchScope, whole: WatchScope, selection: Selection): WatchScope {
  return { ...scope, objects: whole.objects, wants: selection.matches };
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
    *objects(snapshot) {
      for (const entry of candidates(snapshot, range, selection, store)) if (selection.matches(entry)) yield entry;
    },
    shown: (event) => (isWhole || event.entry.key.startsWith(prefix) ? shownBy(selection, event) : undefined),
  };
}

/** An object that begins or ceases to match appears or disappears; it disappears as it was when it matched. */
function shownBy(selection: Selection, event: CacheEvent): Shown | undefined {
  if (selection === everything) return event;
  const { type, entry, previous, revision } = event;
  const before = previous !== undefined && selection.matches(previous);
  if (type === "DELETED") return before || (previous === undefined && selection.matches(entry)) ? event : undefined;
  const now = selection.matches(entry);
  if (now) return { type: before ? "MODIFIED" : "ADDED", entry };
  return before ? { type: "DELETED", entry: deletedEntry(previous, revision) } : undefined;
}
