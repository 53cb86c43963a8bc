/** Reads a collection: selects the state, the keys and the chunk. */
import { ApiError, badRequest, expired, resourceVersionTooLarge } from "../apimachinery/errors.ts";
import { activeSpan } from "../apimachinery/spans.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { ConvertedVersion, Resolved, Resource, ResourceStore } from "../catalog/contract.ts";
import { dnsLabelProblems } from "../lib/names/names.ts";
import type { ListOptions } from "../request/list-options.ts";
import type { Entry, EntryFilter, Snapshot, WatchCache } from "../watch-cache/contract.ts";
import { candidates, indexName, type Range } from "./candidates.ts";
import { type ContinueToken, formatContinue, parseContinue } from "./continue-token.ts";
import { checkReached } from "./get.ts";
import { checkListOptions, parseResourceVersion } from "./list-options.ts";
import { repeatedFilter } from "./repeated-selections.ts";
import { afterOthers, inSteps, type RunInTurn, scannedMax } from "./scan.ts";
import { type Selection, selectionOf } from "./selection.ts";
import { selectsShard, withinShard } from "./shard-selection.ts";
import { tracedRead } from "./traced-read.ts";

/** The metadata of a list. */
export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  /** Only of built-in resources: upstream's lists of custom resources have no such field. */
  readonly shardInfo?: { readonly selector: string };
}

/** One page of a list. */
export interface ListResult {
  readonly meta: ListMeta;
  /** In key order, readable once. Read lazily, so that the caller can yield between entries. */
  readonly entries: Iterable<Entry>;
  /** For chunks after the first: the number of objects in the state that the chunks come from. */
  readonly totalCount?: number;
}

/** Leaves of a tree, of some 64 entries at most, that a repeated selection searches before other requests run. */
const searchedMax = 4;
/** Entries that a list without a selector reads before other requests run. */
const readMax = 2500;

/**
 * Lists the objects of a resource, or of one namespace.
 * @param namespace empty for all namespaces
 * @param converted for resources with a conversion webhook: the entries are as the webhook
 *   converted them
 * @param inTurn runs the steps of a scan; for lists that are converted, it must not lend seats
 * @throws ApiError 400 for options that exclude each other, 410 when the revision is compacted, 504
 *   when it is not reached yet, 500 when conversion fails or a shard selector cannot be parsed
 */
export async function listEntries(
  resource: Resource,
  namespace: string,
  options: ListOptions,
  converted?: Resolved["converted"],
  inTurn: RunInTurn = afterOthers,
): Promise<ListResult> {
  checkListOptions(options);
  const store = storeOf(resource);
  const everyShard = selectionOf(resource.definition, options);
  const selection = selectsShard(options, store) ? await withinShard(everyShard, options.shardSelector) : everyShard;
  const within = resource.definition.namespaced && namespace === "" ? selectedNamespace(selection) : namespace;
  const prefix = within === "" ? store.form.prefix : store.keyOf(within, "");
  const token = options.continueToken === "" ? undefined : continueFrom(options);
  // The continuation of a list reads a range, whatever it selects.
  const single = token === undefined ? singleKey(resource, store, within, selection) : undefined;
  const snapshot = await tracedRead(
    token === undefined
      ? stateFor(store, options, { isSingle: single !== undefined })
      : continuedState(store.cache, token),
  );
  const shardInfo = shardInfoOf(resource, selection);
  if (single !== undefined) {
    const entry = snapshot.get(single);
    const found = entry === undefined ? [] : (await shownOf(converted, [entry])).filter(selection.matches);
    countList(store, "", { fetched: Number(entry !== undefined), returned: found.length });
    return { meta: metaOf(snapshot, shardInfo), entries: found };
  }
  const after = token === undefined ? undefined : prefix + token.after;
  // Upstream's cache ignores the limit of a list at resourceVersion 0, also when the list is
  // continued.
  const limit = options.resourceVersion === "0" && !store.uncached ? 0 : options.limit;
  if (limit === 0 && selection.all && converted === undefined) {
    const count = snapshot.count(prefix, after);
    countList(store, "", { fetched: count, returned: count });
    return { meta: metaOf(snapshot, shardInfo), entries: snapshot.range(prefix, after) };
  }
  const { entries, last, fetched, candidatesFollow } =
    converted === undefined
      ? await collectStored(snapshot, { prefix, after }, { selection, store, limit, inTurn })
      : await collectConverted(snapshot.range(prefix, after), converted, selection, { limit, inTurn });
  countList(store, converted === undefined ? indexName(selection, store) : "", { fetched, returned: entries.length });
  const chunk = { entries, ...(token !== undefined && { totalCount: snapshot.size }) };
  const continues =
    last !== undefined &&
    (isIndexed(options, selection, store) ? candidatesFollow : snapshot.count(prefix, last.key) > 0);
  if (!continues) return { meta: metaOf(snapshot, shardInfo), ...chunk };
  store.cache.keep(snapshot);
  const next = formatContinue(
    { revision: snapshot.revision, after: last.key.slice(prefix.length) },
    store.uncached ? "" : "/",
  );
  // As upstream, which counts the objects of all shards and subtracts what a chunk of one shard has.
  const remainingItemCount = selection.isPlain ? snapshot.count(prefix, after) - limit : undefined;
  const position = { continue: next, ...(remainingItemCount !== undefined && { remainingItemCount }) };
  return { meta: metaOf(snapshot, shardInfo, position), ...chunk };
}

/** The only namespace whose objects the field selector accepts; empty when it names none. */
function selectedNamespace(selection: Selection): string {
  const namespace = selection.fixed("metadata.namespace") ?? "";
  return namespace !== "" && dnsLabelProblems(namespace).length === 0 ? namespace : "";
}

/** Counts a list for metrics, and reports it to its trace. */
function countList(
  { cache }: ResourceStore,
  index: string,
  counts: { readonly fetched: number; readonly returned: number },
): void {
  cache.counts.countList(index, counts);
  const span = activeSpan();
  span?.addEvent("Listed items from cache", { count: counts.fetched });
  span?.addEvent("Filtered items", { count: counts.returned });
}

/** Whether upstream reads an index, so that only objects in it can follow. */
function isIndexed(
  { resourceVersion, resourceVersionMatch, continueToken }: ListOptions,
  selection: Selection,
  store: ResourceStore,
): boolean {
  const isLatest =
    !store.uncached && continueToken === "" && (resourceVersion === "" || resourceVersionMatch === "NotOlderThan");
  return isLatest && indexName(selection, store) !== "";
}

/** The fields are in the order of upstream's type. */
function metaOf(
  { revision }: Snapshot,
  shardInfo: ListMeta["shardInfo"],
  position: Pick<ListMeta, "continue" | "remainingItemCount"> = {},
): ListMeta {
  return { resourceVersion: String(revision), ...position, ...(shardInfo !== undefined && { shardInfo }) };
}

function shardInfoOf({ definition }: Resource, { shard }: Selection): ListMeta["shardInfo"] {
  return shard === undefined || definition.custom ? undefined : { selector: shard.text };
}

/**
 * The state of the first chunk of a list. A limit makes a resourceVersion exact, except for one object without a watch
 * cache, which is read as by a get.
 */
async function stateFor(
  { cache, uncached }: ResourceStore,
  { resourceVersion, resourceVersionMatch: match, limit }: ListOptions,
  { isSingle }: { readonly isSingle: boolean },
): Promise<Snapshot> {
  if (resourceVersion === "") return newest(cache, await consistent(cache));
  const revision = parseResourceVersion(resourceVersion, "list");
  await cache.ready();
  const isLimited = match === "" && limit > 0 && !(uncached && isSingle);
  const isExact = revision > 0 && (match === "Exact" || isLimited);
  // Upstream reads such a list of one name from the store, which does not wait for a revision.
  if (uncached || (isSingle && isExact)) {
    const current = checkReached(await consistent(cache), resourceVersion, revision);
    return isExact ? cache.exactly(revision) : newest(cache, current);
  }
  if (revision === Number.POSITIVE_INFINITY) throw resourceVersionTooLarge(resourceVersion, cache.latest().revision);
  if (isExact) return cache.exactly(revision);
  return newest(cache, revision === 0 ? cache.latest() : await cache.notOlderThan(revision));
}

/** The client can continue the list for some time. */
function newest(cache: WatchCache, snapshot: Snapshot): Snapshot {
  cache.listed(snapshot);
  return snapshot;
}

async function consistent(cache: WatchCache): Promise<Snapshot> {
  const { consistentReads } = cache.counts;
  let counts = consistentReads.cache;
  const fallBack = (): void => {
    counts = consistentReads.store;
  };
  try {
    const state = await cache.current(fallBack);
    counts.succeeded += 1;
    return state;
  } catch (error) {
    counts.failed += 1;
    throw error;
  }
}

/** @throws ApiError 400 */
function continueFrom({ continueToken, resourceVersion }: ListOptions): ContinueToken {
  const token = parseContinue(continueToken);
  if (resourceVersion !== "" && resourceVersion !== "0")
    throw badRequest("specifying resource version is not allowed when using continue");
  return token;
}

async function continuedState(cache: WatchCache, token: ContinueToken): Promise<Snapshot> {
  if (token.revision < 0) return newest(cache, await consistent(cache));
  try {
    return await cache.exactly(token.revision);
  } catch (error) {
    if (error instanceof ApiError && error.status.code === 410) throw continueExpired(token);
    throw error;
  }
}

/**
 * The error carries a token that continues at the newest revision, for clients that accept an
 * inconsistent list.
 */
function continueExpired(token: ContinueToken): ApiError {
  const { status } = expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, " +
      "or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an " +
      "inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
  );
  return new ApiError({ ...status, continue: formatContinue({ ...token, revision: -1 }) });
}

/** The one key that can match, if the field selector names the object. */
function singleKey(
  { definition }: Resource,
  store: ResourceStore,
  namespace: string,
  selection: Selection,
): string | undefined {
  if (selection.name === undefined || (definition.namespaced && namespace === "")) return undefined;
  return store.keyOf(namespace, selection.name);
}

async function shownOf(converted: Resolved["converted"], entries: readonly Entry[]): Promise<readonly Entry[]> {
  return converted === undefined ? entries : converted.show(entries, { list: true });
}

/**
 * As {@link collect}, but applies the selection to converted objects, so that all candidates are
 * converted.
 */
async function collectConverted(
  all: Iterable<Entry>,
  converted: ConvertedVersion,
  selection: Selection,
  { limit, inTurn }: { readonly limit: number; readonly inTurn: RunInTurn },
): Promise<Collected> {
  const entries: Entry[] = [];
  const isFull = (): boolean => limit > 0 && entries.length === limit;
  const take = async (some: readonly Entry[]): Promise<void> => {
    const showing = converted.show(some, { list: true });
    const shown = await showing;
    const pending = inTurn(() => {
      for (const entry of shown) if (!isFull() && selection.matches(entry)) entries.push(entry);
      return showing instanceof Promise ? bytesOf(shown) : 0; // The webhook received as much.
    });
    if (pending !== undefined) await pending;
  };
  // Without a selector, converts only what is returned.
  const atOnce = selection.all && limit > 0 ? limit : scannedMax;
  let pending: Entry[] = [];
  let fetched = 0;
  for (const entry of all) {
    fetched += 1;
    pending.push(entry);
    if (pending.length < atOnce) continue;
    await take(pending);
    pending = [];
    if (isFull()) break;
  }
  if (pending.length > 0 && !isFull()) await take(pending);
  return { entries, fetched, last: isFull() ? entries.at(-1) : undefined, candidatesFollow: false };
}

function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((bytes, { json }) => bytes + json.length, 0);
}

interface Collected {
  readonly entries: Entry[];
  /** The number of entries checked. */
  readonly fetched: number;
  /** The last entry, if the limit is reached. */
  readonly last: Entry | undefined;
  /** Whether other candidates follow the last entry. */
  readonly candidatesFollow: boolean;
}

interface Collecting {
  readonly selection: Selection;
  readonly store: ResourceStore;
  readonly limit: number;
  readonly inTurn: RunInTurn;
}

function collectStored(snapshot: Snapshot, range: Range, collecting: Collecting): Promise<Collected> {
  const { selection, store } = collecting;
  const isScanned = selection.name === undefined && indexName(selection, store) === "";
  const filter = isScanned ? repeatedFilter(selection, store) : undefined;
  return filter === undefined
    ? collect(candidates(snapshot, range, selection, store), selection, collecting)
    : collectRepeated(snapshot, range, filter, collecting);
}

/** As {@link collect}, for a selection that was used before. */
async function collectRepeated(
  snapshot: Snapshot,
  { prefix, after }: Range,
  filter: EntryFilter,
  { limit, inTurn }: Pick<Collecting, "limit" | "inTurn">,
): Promise<Collected> {
  const pieces = snapshot.matching(filter, prefix, after);
  const entries: Entry[] = [];
  const isFull = (): boolean => limit > 0 && entries.length === limit;
  const step = (): boolean => {
    for (let piece = 0; piece < searchedMax; piece++) {
      const next = pieces.next();
      if (next.done === true) return true;
      for (const entry of next.value) {
        entries.push(entry);
        if (isFull()) return true;
      }
    }
    return false;
  };
  await inSteps(step, inTurn);
  const last = isFull() ? entries.at(-1) : undefined;
  const left = last === undefined ? 0 : snapshot.count(prefix, last.key);
  return { entries, fetched: snapshot.count(prefix, after) - left, last, candidatesFollow: false };
}

async function collect(
  all: Iterable<Entry>,
  selection: Selection,
  { limit, inTurn }: { readonly limit: number; readonly inTurn: RunInTurn },
): Promise<Collected> {
  const remaining = all[Symbol.iterator]();
  const entries: Entry[] = [];
  const stepMax = selection.all ? readMax : scannedMax;
  let fetched = 0;
  const isFull = (): boolean => limit > 0 && entries.length === limit;
  const step = (): boolean => {
    for (let read = 0; read < stepMax; read++) {
      const next = remaining.next();
      if (next.done === true) return true;
      fetched += 1;
      if (selection.matches(next.value)) entries.push(next.value);
      if (isFull()) return true;
    }
    return false;
  };
  await inSteps(step, inTurn);
  if (!isFull()) return { entries, fetched, last: undefined, candidatesFollow: false };
  return { entries, fetched, last: entries.at(-1), candidatesFollow: remaining.next().done !== true };
}
