/** The objects of a cache in the store's order, and again by the value of each field that the kind is often selected by. Persistent, as {@link Tree}. */
import type { Entry } from "./contract.ts";
import { Tree, TreeBuilder } from "./tree.ts";

/** Sorts after every key that has the prefix before it. */
const afterPrefix = "\uffff";

export class IndexedTree {
  readonly #byKey: Tree<Entry>;
  readonly #byField: ReadonlyMap<string, Tree<Entry>>;

  constructor(byKey: Tree<Entry>, byField: ReadonlyMap<string, Tree<Entry>>) {
    this.#byKey = byKey;
    this.#byField = byField;
  }

  /** @param fields those that have an index */
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

  /** Keys that have the prefix and come after `after`, when given. */
  range(prefix: string, after?: string): IterableIterator<Entry> {
    return this.#byKey.values(ordered(after === undefined ? prefix : `${after}\0`), ordered(prefix) + afterPrefix);
  }

  count(prefix: string, after?: string): number {
    return (
      this.#byKey.rank(ordered(prefix) + afterPrefix) -
      this.#byKey.rank(ordered(after === undefined ? prefix : `${after}\0`))
    );
  }

  /** Those of a range whose field has the value, without a look at the others; undefined where the field has no index. */
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

/** Makes a tree of entries that come in the store's order, a few of them at a time. */
export class IndexedTreeBuilder {
  readonly #byKey = new TreeBuilder<Entry>();
  readonly #byField: Map<string, Tree<Entry>>;

  /** @param fields those that have an index */
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

const reordered = /[\ud800-\uffff]/;

/** A text that sorts by its UTF-16 units as the key does by its bytes in the store: what lies beyond the basic plane goes after what lies in it. */
function ordered(key: string): string {
  return reordered.test(key) ? key.replace(/[\ud800-\uffff]/g, shifted) : key;
}

/** Whether a key comes before another in the store's order. */
export function isBefore(key: string, other: string): boolean {
  return ordered(key) < ordered(other);
}

function shifted(unit: string): string {
  const code = unit.charCodeAt(0);
  return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800);
}
