/**
 * Snapshots, and a cache of recently used ones. Source: KEP-4988, feature gate
 * ListFromCacheSnapshot.
 */
import type { CacheEvent, Entry, EntryFilter, Snapshot } from "./contract.ts";
import type { IndexedTree } from "./indexed-tree.ts";

/** A snapshot whose tree can be the base of others. */
export interface TreeSnapshot extends Snapshot {
  readonly tree: IndexedTree;
}

class StateSnapshot implements TreeSnapshot {
  readonly tree: IndexedTree;
  readonly revision: number;

  constructor(tree: IndexedTree, revision: number) {
    this.tree = tree;
    this.revision = revision;
  }

  get size(): number {
    return this.tree.size;
  }

  get identity(): object {
    return this.tree;
  }

  get(key: string): Entry | undefined {
    return this.tree.get(key);
  }

  range(prefix: string, after?: string): IterableIterator<Entry> {
    return this.tree.range(prefix, after);
  }

  find(field: string, value: string, prefix: string, after?: string): IterableIterator<Entry> | undefined {
    return this.tree.find(field, value, prefix, after);
  }

  matching(filter: EntryFilter, prefix?: string, after?: string): IterableIterator<readonly Entry[]> {
    return this.tree.matching(filter, prefix, after);
  }

  count(prefix: string, after?: string): number {
    return this.tree.count(prefix, after);
  }
}

export function snapshotOf(tree: IndexedTree, revision: number): TreeSnapshot {
  return new StateSnapshot(tree, revision);
}

export function isTreeSnapshot(snapshot: Snapshot): snapshot is TreeSnapshot {
  return snapshot instanceof StateSnapshot;
}

/** Maximum cached snapshots; the least recently used one is dropped first. */
const keptMax = 32;

/**
 * Bytes of replaced objects that a snapshot keeps, unless the objects are less than this part of it. Later chunks of
 * its list are read from the recent events, or from the store.
 */
const replacedBytesMax = 16 << 20;
const replacedPartMax = 1 / 2;

/** Objects that were replaced or deleted, since the cache exists. */
interface Replaced {
  readonly objects: number;
  readonly bytes: number;
}

interface KeptSnapshot {
  readonly snapshot: TreeSnapshot;
  readonly since: number;
  /** Until it was kept first. */
  readonly replaced: Replaced;
}

export class KeptSnapshots {
  readonly #ageMaxMs: number;
  /** In order of last use. */
  readonly #kept = new Map<number, KeptSnapshot>();
  #replaced: Replaced = { objects: 0, bytes: 0 };

  constructor(ageMaxMs: number) {
    this.#ageMaxMs = ageMaxMs;
  }

  keep(snapshot: TreeSnapshot, now: number): void {
    this.#forget(now);
    const { replaced = this.#replaced } = this.#kept.get(snapshot.revision) ?? {};
    this.#kept.delete(snapshot.revision);
    this.#kept.set(snapshot.revision, { snapshot, since: now, replaced });
    if (this.#kept.size > keptMax) this.#kept.delete(this.#kept.keys().next().value as number);
  }

  find(revision: number, now: number): TreeSnapshot | undefined {
    this.#forget(now);
    return this.#kept.get(revision)?.snapshot;
  }

  /** Returns the snapshot whose revision is closest: a cached one, or `other`. */
  closest(revision: number, other: TreeSnapshot): TreeSnapshot {
    let found = other;
    for (const { snapshot } of this.#kept.values()) {
      if (Math.abs(snapshot.revision - revision) < Math.abs(found.revision - revision)) found = snapshot;
    }
    return found;
  }

  /** Drops snapshots before the revision. */
  forgetBefore(revision: number): void {
    for (const kept of this.#kept.keys()) if (kept < revision) this.#kept.delete(kept);
  }

  /** Drops snapshots that keep too much of what the events have replaced, and those that were not used recently. */
  applied(events: readonly CacheEvent[], now: number): void {
    this.#forget(now);
    if (this.#kept.size === 0) return;
    let { objects, bytes } = this.#replaced;
    for (const { previous } of events) {
      if (previous === undefined) continue;
      objects += 1;
      bytes += previous.json.length;
    }
    this.#replaced = { objects, bytes };
    for (const [revision, { snapshot, replaced }] of this.#kept) {
      const isMuch = bytes - replaced.bytes > replacedBytesMax;
      if (isMuch && objects - replaced.objects > snapshot.size * replacedPartMax) this.#kept.delete(revision);
    }
  }

  #forget(now: number): void {
    for (const [revision, { since }] of this.#kept) {
      if (now - since <= this.#ageMaxMs) return;
      this.#kept.delete(revision);
    }
  }

  clear(): void {
    this.#kept.clear();
  }
}
