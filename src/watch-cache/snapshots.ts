/** Frozen states, and those of them that are kept for readers who come back. Source: resource-api §4.6, gate ListFromCacheSnapshot. */
import type { Entry, Snapshot } from "./contract.ts";
import type { Tree } from "./tree.ts";

/** Sorts after every key that has the prefix before it. */
const afterPrefix = "\uffff";

export function snapshotOf(tree: Tree<Entry>, revision: number): Snapshot {
  return {
    revision,
    size: tree.size,
    get: (key) => tree.get(key),
    range: (prefix, after) => tree.values(after === undefined ? prefix : `${after}\0`, prefix + afterPrefix),
    count: (prefix, after) => tree.rank(prefix + afterPrefix) - tree.rank(after === undefined ? prefix : `${after}\0`),
  };
}

/** At most so many; the one that was not asked for longest goes first. */
const keptMax = 32;

export class KeptSnapshots {
  readonly #ageMaxMs: number;
  /** In order of last use. */
  readonly #kept = new Map<number, { snapshot: Snapshot; since: number }>();

  constructor(ageMaxMs: number) {
    this.#ageMaxMs = ageMaxMs;
  }

  keep(snapshot: Snapshot, now: number): void {
    this.forget(now);
    this.#kept.delete(snapshot.revision);
    this.#kept.set(snapshot.revision, { snapshot, since: now });
    if (this.#kept.size > keptMax) this.#kept.delete(this.#kept.keys().next().value as number);
  }

  find(revision: number): Snapshot | undefined {
    return this.#kept.get(revision)?.snapshot;
  }

  /** Lets go what nobody asked for lately. */
  forget(now: number): void {
    for (const [revision, { since }] of this.#kept) {
      if (now - since <= this.#ageMaxMs) return;
      this.#kept.delete(revision);
    }
  }

  clear(): void {
    this.#kept.clear();
  }
}
