/** Finds what differs between two trees, without reading what they share. */
import type { Node, Tree } from "./tree.ts";

/** A key whose values differ; undefined where the tree does not have the key. */
export type TreeDifference<V> = readonly [key: string, before: V | undefined, after: V | undefined];

/**
 * Iterates over the keys whose values are not identical, in key order. Nodes that both trees share are skipped, so
 * that the time is proportional to what has changed between the two, and not to their size.
 */
export function* differences<V>(before: Tree<V>, after: Tree<V>): IterableIterator<TreeDifference<V>> {
  const a = new Cursor(before);
  const b = new Cursor(after);
  for (;;) {
    if (a.isShared(b)) {
      a.skip();
      b.skip();
    } else if (a.isNode && (!b.isNode || a.height > b.height || (a.height === b.height && a.precedes(b)))) {
      // An entry of the other tree before all keys of the node stays where it is until the node is entered.
      if (b.isEntry && b.key < a.key) yield b.take("after");
      else a.enter();
    } else if (b.isNode) {
      if (a.isEntry && a.key < b.key) yield a.take("before");
      else b.enter();
    } else if (a.isEntry && b.isEntry && a.key === b.key) {
      const { key, value } = a;
      const next = b.value;
      a.skip();
      b.skip();
      if (value !== next) yield [key, value, next];
    } else if (a.isEntry && (!b.isEntry || a.key < b.key)) yield a.take("before");
    else if (b.isEntry) yield b.take("after");
    else return;
  }
}

interface Frame<V> {
  readonly node: Node<V>;
  /** The index of the current child or entry. */
  at: number;
  /** Levels below the node; 0 for a leaf. */
  readonly height: number;
}

/** A position in a tree: a node that is not entered yet, an entry of a leaf, or the end. */
class Cursor<V> {
  readonly #frames: Frame<V>[] = [];
  #root: Node<V> | undefined;
  readonly #rootHeight: number;

  constructor({ root }: Tree<V>) {
    let height = 0;
    for (let node: Node<V> | undefined = root; node?.children !== undefined; node = node.children[0]) height++;
    this.#root = root.size === 0 ? undefined : root;
    this.#rootHeight = height;
  }

  get #node(): Node<V> | undefined {
    const top = this.#frames.at(-1);
    return top === undefined ? this.#root : top.node.children?.[top.at];
  }

  get isNode(): boolean {
    return this.#node !== undefined;
  }

  get isEntry(): boolean {
    const top = this.#frames.at(-1);
    return top !== undefined && top.node.children === undefined;
  }

  /** The height of the current node. */
  get height(): number {
    const top = this.#frames.at(-1);
    return top === undefined ? this.#rootHeight : top.height - 1;
  }

  /** The key of the entry, or the smallest key of the node. */
  get key(): string {
    const top = this.#frames.at(-1);
    return (top === undefined ? this.#root?.keys[0] : top.node.keys[top.at]) as string;
  }

  /** The value of the entry. */
  get value(): V | undefined {
    const top = this.#frames.at(-1);
    return top?.node.children === undefined ? top?.node.values[top.at] : undefined;
  }

  isShared(other: Cursor<V>): boolean {
    const node = this.#node;
    return node !== undefined && node === other.#node;
  }

  precedes(other: Cursor<V>): boolean {
    return this.key <= other.key;
  }

  enter(): void {
    const node = this.#node as Node<V>;
    this.#frames.push({ node, at: 0, height: this.height });
  }

  /** Returns the entry as one that the other tree does not have, and goes to the next. */
  take(side: "before" | "after"): TreeDifference<V> {
    const { key, value } = this;
    this.skip();
    return side === "before" ? [key, value, undefined] : [key, undefined, value];
  }

  /** Goes behind the current node or entry. */
  skip(): void {
    for (let top = this.#frames.at(-1); top !== undefined; top = this.#frames.at(-1)) {
      top.at += 1;
      if (top.at < top.node.keys.length) return;
      this.#frames.pop();
    }
    this.#root = undefined;
  }
}
