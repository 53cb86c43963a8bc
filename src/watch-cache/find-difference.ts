/**
 * Compares a state of a cache with the store. Source: feature gate DetectCacheInconsistency,
 * `consistencyChecker` in k8s.io/apiserver@v0.36.0/pkg/storage/cacher/delegator.go.
 */
import type { Storage } from "../storage/contract.ts";
import type { CacheDifference, Entry, Snapshot } from "./contract.ts";
import { isBefore } from "./indexed-tree.ts";

const page = 1000;

/**
 * Finds the first object whose revision in the snapshot is not that of the store at the same state.
 * @returns undefined when there is none
 * @throws RevisionCompacted · RevisionInFuture · StorageUnavailable
 */
export async function findDifference(
  storage: Pick<Storage, "range">,
  prefix: string,
  snapshot: Pick<Snapshot, "range" | "revision">,
): Promise<CacheDifference | undefined> {
  const entries = snapshot.range(prefix);
  let entry = entries.next().value as Entry | undefined;
  for (let after = prefix; ; ) {
    const found = await storage.range(prefix, { after, limit: page, revision: snapshot.revision, keysOnly: true });
    for (const { key, revision } of found.entries) {
      if (entry === undefined || isBefore(key, entry.key)) return { key, cached: 0, stored: revision };
      if (entry.key !== key) return onlyCached(entry);
      if (entry.revision !== revision) return { key, cached: entry.revision, stored: revision };
      entry = entries.next().value as Entry | undefined;
      after = key;
    }
    if (!found.more) return entry && onlyCached(entry);
  }
}

function onlyCached({ key, revision }: Entry): CacheDifference {
  return { key, cached: revision, stored: 0 };
}
