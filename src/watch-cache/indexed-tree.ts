/**
 * Entries in the store's key order, with indexes by the values of some fields. A persistent data
 * structure, like {@link Tree}.
 */

import { afterPrefix, orderedKey as ordered } from "../lib/persistent-tree/ordered-key.ts";
import { Tree, TreeBuilder } from "../lib/persistent-tree/tree.ts";
import type { Entry, EntryFilter } from "./contract.ts";

export class IndexedTree {
  readonly #byKey: Tree<Entry>;
  readonly #byField: ReadonlyMap<string, Tree<Entry>>;

  constructor(byKey: Tree<Entry>, byField: ReadonlyMap<string, Tree<Entry>>) {
    this.#byKey = byKey;
    this.#byField = byField;
  }

  /** @param fields the fields to index */
  static empty(fields: readonly string[]): IndexedTree {
    return new IndexedTreeBuilder(fields).build();
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): Entry | undefined {
    return this.#byKey.get(ordered(key));
  }

  set(entry: Entry): IndexedTree {
    return this.#changed(this.#byKey.set(ordered(entry.key), entry), this.get(entry.key), entry);
  }

  delete(key: string): IndexedTree {
    const previous = this.get(key);
    return previous === undefined ? this : this.#changed(this.#byKey.delete(ordered(key)), previous, undefined);
  }

  /** Iterates over the entries with the prefix, after the key `after` if set. */
  range(prefix: string, after?: string): IterableIterator<Entry> {
    return this.#byKey.values(ordered(after === undefined ? prefix : `${after}\0`), ordered(prefix) + afterPrefix);
  }

  matching(filter: EntryFilter, prefix?: string, after?: string): IterableIterator<readonly Entry[]> {
    if (prefix === undefined) return this.#byKey.matching(filter);
    const from = after === undefined ? prefix : `${after}\0`;
    return this.#byKey.matching(filter, ordered(from), ordered(prefix) + afterPrefix);
  }

  count(prefix: string, after?: string): number {
    return (
      this.#byKey.rank(ordered(prefix) + afterPrefix) -
      this.#byKey.rank(ordered(after === undefined ? prefix : `${after}\0`))
    );
  }

  /** As `range`, for entries whose field has the value; undefined when the field has no index. */
  find(field: string, value: string, prefix: string, after?: string): IterableIterator<Entry> | undefined {
    const from = after === undefined ? prefix : `${after}\0`;
    return this.#byField.get(field)?.values(`${value}\0${ordered(from)}`, `${value}\0${ordered(prefix)}${afterPrefix}`);
  }

  #changed(byKey: Tree<Entry>, previous: Entry | undefined, entry: Entry | undefined): IndexedTree {
    if (this.#byField.size === 0) return new IndexedTree(byKey, this.#byField);
    const byField = new Map<string, Tree<Entry>>();
    for (const [field, tree] of this.#byField) {
      const old = previous && placeOf(previous, field);
      const place = entry && placeOf(entry, field);
      const without = old === undefined || old === place ? tree : tree.delete(old);
      byField.set(field, entry === undefined || place === undefined ? without : without.set(place, entry));
    }
    return new IndexedTree(byKey, byField);
  }
}

/** Builds a tree from entries in the store's key order. */
export class IndexedTreeBuilder {
  readonly #byKey = new TreeBuilder<Entry>();
  readonly #byField: Map<string, Tree<Entry>>;

  /** @param fields the fields to index */
  constructor(fields: readonly string[]) {
    this.#byField = new Map(fields.map((field) => [field, Tree.empty()]));
  }

  add(entry: Entry): void {
    this.#byKey.add(ordered(entry.key), entry);
    for (const [field, tree] of this.#byField) this.#byField.set(field, tree.set(placeOf(entry, field), entry));
  }

  build(): IndexedTree {
    return new IndexedTree(this.#byKey.build(), this.#byField);
  }
}

function placeOf(entry: Entry, field: string): string {
  return `${entry.index.fields.get(field) ?? ""}\0${ordered(entry.key)}`;
}

/** Returns whether a key precedes another in the store's order. */
export function isBefore(key: string, other: string): boolean {
  return ordered(key) < ordered(other);
}
