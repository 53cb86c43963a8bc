/** Reads all objects of a resource from the store. */
import type { GroupResource } from "../apimachinery/object.ts";
import { RevisionCompacted, type Storage, type Stored } from "../storage/contract.ts";
import type { Entry } from "./contract.ts";
import type { CacheCounts } from "./counts.ts";
import { IndexedTree, IndexedTreeBuilder, isBefore } from "./indexed-tree.ts";
import { type CorruptErrors, Failures } from "./unreadable.ts";

/** Where the objects of a cache are stored, and what they become. */
export interface StoredStateSource extends CorruptErrors {
  readonly storage: Storage;
  readonly prefix: string;
  readonly resource: GroupResource;
  readonly entryOf: (stored: Stored) => Entry;
  readonly indexedFields: readonly string[];
}

export interface StoredState {
  readonly tree: IndexedTree;
  readonly revision: number;
}

const page = 500;

/** Reads the newest state. @throws UnreadableObjects when objects cannot be decoded */
export async function readStored(source: StoredStateSource, counts: CacheCounts): Promise<StoredState> {
  const tree = new IndexedTreeBuilder(source.indexedFields);
  const revision = await readPages(source, counts, undefined, (stored) => tree.add(source.entryOf(stored)));
  return { tree: tree.build(), revision };
}

/** A state that the result of a read can share entries with. */
export interface BaseState {
  readonly tree: IndexedTree;
  readonly revision: number;
}

/**
 * Reads the state at a revision. The result shares unchanged entries with the base, so that many
 * old states only need memory for their differences. Where the store finds these, only they are read.
 * @throws RevisionCompacted
 * @throws RevisionInFuture
 * @throws UnreadableObjects
 */
export async function readStoredAt(
  source: StoredStateSource,
  counts: CacheCounts,
  at: number,
  base: BaseState | undefined,
): Promise<IndexedTree> {
  const { storage, prefix, indexedFields } = source;
  if (base === undefined) return readWhole(source, counts, at, IndexedTree.empty(indexedFields));
  const { tree, revision } = base;
  const changed = await changedKeys(storage, prefix, { at, base: revision, max: tree.size });
  return changed === undefined ? readWhole(source, counts, at, tree) : readChanged(source, counts, at, tree, changed);
}

/**
 * @returns undefined when the store does not find them, or when they are too many
 * @throws RevisionCompacted, RevisionInFuture
 */
async function changedKeys(
  storage: Storage,
  prefix: string,
  { at, base, max }: { readonly at: number; readonly base: number; readonly max: number },
): Promise<readonly string[] | undefined> {
  try {
    return await storage.changedKeys?.(prefix, Math.min(at, base), max);
  } catch (error) {
    if (error instanceof RevisionCompacted && base < at) return undefined; // The cache has kept a state that the store has not.
    throw error;
  }
}

/** @param changed all keys that may differ between the base and the state */
async function readChanged(
  source: StoredStateSource,
  counts: CacheCounts,
  at: number,
  base: IndexedTree,
  changed: readonly string[],
): Promise<IndexedTree> {
  const { storage, entryOf } = source;
  const failures = new Failures();
  counts.storedLists += 1;
  counts.storedObjects += changed.length;
  let tree = base;
  const inOrder = changed.toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
  for (const [index, key] of inOrder.entries()) {
    if (index % page === page - 1) await new Promise((resolve) => setImmediate(resolve));
    const stored = await storage.get(key, at);
    if (stored === undefined) tree = tree.delete(key);
    else if (stored.damage !== undefined || tree.get(key)?.revision !== stored.revision)
      failures.collect(stored, () => {
        tree = tree.set(entryOf(stored));
      });
  }
  failures.end(source, counts);
  return tree;
}

/** @param base entries that the result can share */
async function readWhole(
  source: StoredStateSource,
  counts: CacheCounts,
  at: number,
  base: IndexedTree,
): Promise<IndexedTree> {
  let tree = base;
  const common = base.range(source.prefix);
  let next = common.next().value as Entry | undefined;
  await readPages(source, counts, at, (stored) => {
    for (; next !== undefined && isBefore(next.key, stored.key); next = common.next().value)
      tree = tree.delete(next.key);
    const same = next?.key === stored.key ? next : undefined;
    if (same !== undefined) next = common.next().value;
    if (same?.revision !== stored.revision || stored.damage !== undefined) tree = tree.set(source.entryOf(stored));
  });
  for (; next !== undefined; next = common.next().value) tree = tree.delete(next.key);
  return tree;
}

/**
 * Reads all objects in pages, and yields to the event loop in between.
 * @param at the revision to read; the newest when undefined
 * @returns the revision that was read
 */
async function readPages(
  source: StoredStateSource,
  counts: CacheCounts,
  at: number | undefined,
  add: (stored: Stored) => void,
): Promise<number> {
  const { storage, prefix } = source;
  const failures = new Failures();
  counts.storedLists += 1;
  let range = await storage.range(prefix, { limit: page, ...(at !== undefined && { revision: at }) });
  const { revision } = range;
  for (;;) {
    counts.storedObjects += range.entries.length;
    for (const stored of range.entries) failures.collect(stored, () => add(stored));
    const last = range.entries.at(-1);
    if (!range.more || last === undefined) break;
    await new Promise((resolve) => setImmediate(resolve));
    range = await storage.range(prefix, { after: last.key, limit: page, revision });
  }
  failures.end(source, counts);
  return revision;
}
