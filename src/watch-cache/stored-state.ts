/** All objects of a cache, read from the store. */
import type { GroupResource } from "../api/object.ts";
import type { Storage, Stored } from "../storage/contract.ts";
import type { Entry } from "./contract.ts";
import type { CacheCounts } from "./counts.ts";
import { type IndexedTree, IndexedTreeBuilder } from "./indexed-tree.ts";
import { Failures, UnreadableObjects } from "./unreadable.ts";

export interface StoredStateSource {
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

/**
 * In pages, between which others run.
 * @param at the newest revision when undefined
 * @throws RevisionCompacted · RevisionInFuture · UnreadableObjects, which names all that cannot be read
 */
export async function readStored(source: StoredStateSource, counts: CacheCounts, at?: number): Promise<StoredState> {
  const { storage, prefix, entryOf, resource, indexedFields } = source;
  const failures = new Failures();
  const tree = new IndexedTreeBuilder(indexedFields);
  counts.storedLists += 1;
  let range = await storage.range(prefix, { limit: page, ...(at !== undefined && { revision: at }) });
  const { revision } = range;
  for (;;) {
    counts.storedObjects += range.entries.length;
    for (const stored of range.entries) {
      try {
        tree.add(entryOf(stored));
      } catch (error) {
        failures.add(stored.key, stored.revision, error);
      }
    }
    const last = range.entries.at(-1);
    if (!range.more || last === undefined) break;
    await new Promise((resolve) => setImmediate(resolve));
    range = await storage.range(prefix, { after: last.key, limit: page, revision });
  }
  counts.decodeErrors += failures.count;
  if (failures.count > 0) throw new UnreadableObjects(resource, failures);
  return { tree: tree.build(), revision };
}
