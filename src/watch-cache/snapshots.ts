/** Frozen states, and those of them that are kept for readers who come back. Source: resource-api §4.6, gate ListFromCacheSnapshot. */
import type { Snapshot } from "./contract.ts";
import type { IndexedTree } from "./indexed-tree.ts";

/** A snapshot of this cache, from whose tree others can be made. */
export interface TreeSnapshot extends Snapshot {
  readonly tree: IndexedTree;
}

export function snapshotOf(tree: IndexedTree, revision: number): TreeSnapshot {
  return {
    tree,
    revision,
    size: tree.size,
    get: (key) => tree.get(key),
    range: (prefix, after) => tree.range(prefix, after),
    find: (field, value, prefix, after) => tree.find(field, value, prefix, after),
    count: (prefix, after) => tree.count(prefix, after),
  };
}

export function isTreeSnapshot(snapshot: Snapshot): snapshot is TreeSnapshot {
  return "tree" in snapshot;
}

/** At most so many; the one that was not asked for longest goes first. */
const keptMax = 32;

export class KeptSnapshots {
  readonly #ageMaxMs: number;
  /** In order of last use. */
  readonly #kept = new Map<number, { snapshot: TreeSnapshot; since: number }>();

  constructor(ageMaxMs: number) {
    this.#ageMaxMs = ageMaxMs;
  }

  keep(snapshot: TreeSnapshot, now: number): void {
    this.forget(now);
    this.#kept.delete(snapshot.revision);
    this.#kept.set(snapshot.revision, { snapshot, since: now });
    if (this.#kept.size > keptMax) this.#kept.delete(this.#kept.keys().next().value as number);
  }

  find(revision: number, now: number): TreeSnapshot | undefined {
    this.forget(now);
    return this.#kept.get(revision)?.snapshot;
  }

  /** The kept snapshot or the other one, whichever is closer to the revision. */
  closest(revision: number, other: TreeSnapshot): TreeSnapshot {
    let found = other;
    for (const { snapshot } of this.#kept.values()) {
      if (Math.abs(snapshot.revision - revision) < Math.abs(found.revision - revision)) found = snapshot;
    }
    return found;
  }

  /** Lets go what is older than the revision. */
  forgetBefore(revision: number): void {
    for (const kept of this.#kept.keys()) if (kept < revision) this.#kept.delete(kept);
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
