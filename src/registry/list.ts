/** Reads a collection: which state, which keys, which chunk. Source: resource-api §4.6, §4.8. */
import { ApiError, badRequest, expired, resourceVersionTooLarge } from "../api/errors.ts";
import type { Resource, ResourceStore } from "../resource/contract.ts";
import type { Entry, Snapshot, WatchCache } from "../watch-cache/contract.ts";
import { candidates } from "./candidates.ts";
import { type ContinueToken, formatContinue, parseContinue } from "./continue-token.ts";
import { checkListOptions, type ListOptions, parseResourceVersion } from "./list-options.ts";
import { storeOf } from "./resource-names.ts";
import { type Selection, selectionOf } from "./selection.ts";

/** What a list tells about itself. */
export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface ListResult {
  readonly meta: ListMeta;
  /** In key order. May be read once; nothing is read before, so that a reader who takes his time may yield in between. */
  readonly entries: Iterable<Entry>;
}

/** Entries a selector looks at before other requests get a turn. */
const scannedMax = 250;

/**
 * @param namespace empty for all of them
 * @throws ApiError 400 for options that do not go together, 410 when the version is gone, 504 when it is not there yet
 */
export async function listEntries(resource: Resource, namespace: string, options: ListOptions): Promise<ListResult> {
  checkListOptions(options);
  const selection = selectionOf(resource.definition, options);
  const store = storeOf(resource);
  const prefix = namespace === "" ? store.form.prefix : store.keyOf(namespace, "");
  const token = options.continueToken === "" ? undefined : continueFrom(options);
  // The rest of a list is looked for as any rest is, whatever it selects.
  const single = token === undefined ? singleKey(resource, store, namespace, selection) : undefined;
  const snapshot = token === undefined ? await stateFor(store.cache, options) : await continuedState(store.cache, token);
  if (single !== undefined) return { meta: metaOf(snapshot), entries: pick(snapshot, single, selection) };
  const after = token === undefined ? undefined : prefix + token.after;
  // Upstream's cache does not cut what may be of any version, be it the rest of a list.
  const limit = options.resourceVersion === "0" ? 0 : options.limit;
  if (limit === 0 && selection.all) return { meta: metaOf(snapshot), entries: snapshot.range(prefix, after) };
  const { entries, last } = await collect(candidates(snapshot, { prefix, after }, selection, store), selection, limit);
  if (last === undefined) return { meta: metaOf(snapshot), entries };
  store.cache.keep(snapshot);
  const next = formatContinue({ revision: snapshot.revision, after: last.key.slice(prefix.length) });
  const remainingItemCount = selection.all ? snapshot.count(prefix, last.key) : undefined;
  return { meta: { ...metaOf(snapshot), continue: next, ...(remainingItemCount !== undefined && { remainingItemCount }) }, entries };
}

function metaOf({ revision }: Snapshot): ListMeta {
  return { resourceVersion: String(revision) };
}

/** The state that the first chunk of a list shows. */
async function stateFor(cache: WatchCache, { resourceVersion, resourceVersionMatch, limit }: ListOptions): Promise<Snapshot> {
  if (resourceVersion === "") return cache.current();
  const revision = parseResourceVersion(resourceVersion, "list");
  await cache.ready();
  if (revision === Number.POSITIVE_INFINITY) throw resourceVersionTooLarge(resourceVersion, cache.latest().revision);
  if (revision === 0) return cache.latest();
  const isExact = resourceVersionMatch === "Exact" || (resourceVersionMatch === "" && limit > 0);
  return isExact ? cache.exactly(revision) : cache.notOlderThan(revision);
}

/** @throws ApiError 400 */
function continueFrom({ continueToken, resourceVersion }: ListOptions): ContinueToken {
  const token = parseContinue(continueToken);
  if (resourceVersion !== "" && resourceVersion !== "0") throw badRequest("specifying resource version is not allowed when using continue");
  return token;
}

async function continuedState(cache: WatchCache, token: ContinueToken): Promise<Snapshot> {
  if (token.revision < 0) return cache.current();
  try {
    return await cache.exactly(token.revision);
  } catch (error) {
    if (error instanceof ApiError && error.status.code === 410) throw continueExpired(token);
    throw error;
  }
}

/** The error carries a token that goes on at the newest revision, for clients that can live with that. */
function continueExpired(token: ContinueToken): ApiError {
  const { status } = expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, " +
      "or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an " +
      "inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
  );
  return new ApiError({ ...status, continue: formatContinue({ ...token, revision: -1 }) });
}

/** The one key that can match, where a selector names it. */
function singleKey({ definition }: Resource, store: ResourceStore, namespace: string, selection: Selection): string | undefined {
  if (selection.name === undefined || (definition.namespaced && namespace === "")) return undefined;
  return store.keyOf(namespace, selection.name);
}

function pick(snapshot: Snapshot, key: string, selection: Selection): Entry[] {
  const entry = snapshot.get(key);
  return entry !== undefined && selection.matches(entry) ? [entry] : [];
}

/** @returns `last` when more would follow after it */
async function collect(all: Iterable<Entry>, selection: Selection, limit: number): Promise<{ entries: Entry[]; last?: Entry }> {
  const entries: Entry[] = [];
  let scanned = 0;
  for (const entry of all) {
    if (!selection.all) {
      scanned += 1;
      if (scanned % scannedMax === 0) await new Promise((resolve) => setImmediate(resolve));
      if (!selection.matches(entry)) continue;
    }
    const last = entries.at(-1);
    if (limit > 0 && entries.length === limit && last !== undefined) return { entries, last };
    entries.push(entry);
  }
  return { entries };
}
