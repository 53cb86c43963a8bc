/**
 * A persistent sorted map (B+ tree): every change creates a new root, which shares all nodes but
 * one path with the old one. Setting and deleting copy O(log n) small arrays; a snapshot is a root.
 */

/** Maximum entries of a leaf and children of an inner node; a split halves them. */
const nodeMax = 64;
/** Adjacent nodes whose total size is at most this are merged. */
const mergeBelow = nodeMax / 2;

interface Leaf<V> {
  readonly keys: readonly string[];
  readonly values: readonly V[];
  readonly children: undefined;
  readonly size: number;
}

interface Inner<V> {
  /** The smallest key of each child. */
  readonly keys: readonly string[];
  readonly children: readonly Node<V>[];
  readonly size: number;
}

/** A node of a tree. Immutable: trees share nodes. */
export type Node<V> = Leaf<V> | Inner<V>;

export class Tree<V> {
  readonly root: Node<V>;

  /** @param root the root node that a builder or a change created */
  constructor(root: Node<V>) {
    this.root = root;
  }

  static empty<V>(): Tree<V> {
    return new Tree<V>(leaf([], []));
  }

  /** @param entries sorted by key, each key once */
  static fromSorted<V>(entries: Iterable<readonly [string, V]>): Tree<V> {
    const builder = new TreeBuilder<V>();
    for (const [key, value] of entries) builder.add(key, value);
    return builder.build();
  }

  get size(): number {
    return this.root.size;
  }

  get(key: string): V | undefined {
    let node = this.root;
    while (node.children !== undefined) node = node.children[childFor(node.keys, key)] as Node<V>;
    const at = lowerBound(node.keys, key);
    return node.keys[at] === key ? node.values[at] : undefined;
  }

  set(key: string, value: V): Tree<V> {
    const parts = insert(this.root, key, value);
    return new Tree(parts.length === 1 ? parts[0] : inner(parts));
  }

  delete(key: string): Tree<V> {
    let root = remove(this.root, key);
    if (root === this.root) return this;
    while (root.children !== undefined && root.children.length === 1) root = root.children[0] as Node<V>;
    return new Tree(root.size === 0 ? leaf([], []) : root);
  }

  /** Returns the number of smaller keys. */
  rank(key: string): number {
    let node = this.root;
    let before = 0;
    while (node.children !== undefined) {
      const child = childFor(node.keys, key);
      for (let at = 0; at < child; at++) before += (node.children[at] as Node<V>).size;
      node = node.children[child] as Node<V>;
    }
    return before + lowerBound(node.keys, key);
  }

  /** Iterates over the values of the keys from `from` to before `end`, in key order. */
  *values(from: string, end: string | undefined): IterableIterator<V> {
    const stack: { node: Node<V>; at: number }[] = [{ node: this.root, at: -1 }];
    let descending = true;
    while (stack.length > 0) {
      const top = stack[stack.length - 1] as { node: Node<V>; at: number };
      const { node } = top;
      if (node.children === undefined) {
        const { keys, values } = node;
        // One comparison for most leaves: keys of a collection are long and begin alike.
        const isWhole = end === undefined || keys.length === 0 || (keys[keys.length - 1] as string) < end;
        const until = isWhole ? keys.length : lowerBound(keys, end);
        for (let at = descending ? lowerBound(keys, from) : 0; at < until; at++) yield values[at] as V;
        if (!isWhole) return;
        descending = false;
        stack.pop();
        continue;
      }
      top.at = descending && top.at < 0 ? childFor(node.keys, from) : top.at + 1;
      if (top.at >= node.children.length) stack.pop();
      else stack.push({ node: node.children[top.at] as Node<V>, at: -1 });
    }
  }

  /**
   * Iterates over the values of the keys from `from` to before `end` that pass the filter, in key order: an array for
   * each leaf that has to be searched.
   */
  matching(filter: NodeFilter<V>, from = "", end?: string): IterableIterator<readonly V[]> {
    return search(this.root, filter, from, end);
  }
}

/** A test of values, and the nodes that have none which passes it: trees share nodes, so that each is searched once. */
export interface NodeFilter<V> {
  readonly test: (value: V) => boolean;
  readonly without: WeakSet<Node<V>>;
}

function* search<V>(
  node: Node<V>,
  filter: NodeFilter<V>,
  from: string,
  end: string | undefined,
): Generator<readonly V[], void> {
  const { test, without } = filter;
  if (without.has(node)) return;
  if (node.children === undefined) {
    const first = lowerBound(node.keys, from);
    const until = end === undefined ? node.keys.length : lowerBound(node.keys, end);
    const isWhole = first === 0 && until === node.keys.length;
    const found = (isWhole ? node.values : node.values.slice(first, until)).filter(test);
    if (isWhole && found.length === 0) without.add(node);
    yield found;
    return;
  }
  for (let at = childFor(node.keys, from); at < node.children.length; at++) {
    if (end !== undefined && at > 0 && (node.keys[at] as string) >= end) break;
    yield* search(node.children[at] as Node<V>, filter, from, end);
  }
  if (node.children.every((child) => without.has(child))) without.add(node);
}

/** Builds a tree from keys in order. */
export class TreeBuilder<V> {
  readonly #leaves: Node<V>[] = [];
  #keys: string[] = [];
  #values: V[] = [];

  /** @param key must be larger than all previous keys */
  add(key: string, value: V): void {
    this.#keys.push(key);
    this.#values.push(value);
    if (this.#keys.length === mergeBelow) this.#endLeaf();
  }

  build(): Tree<V> {
    if (this.#keys.length > 0) this.#endLeaf();
    let level: readonly Node<V>[] = this.#leaves;
    while (level.length > 1) {
      const above: Node<V>[] = [];
      for (let at = 0; at < level.length; at += mergeBelow) above.push(inner(level.slice(at, at + mergeBelow)));
      level = above;
    }
    return level[0] === undefined ? Tree.empty() : new Tree(level[0]);
  }

  #endLeaf(): void {
    this.#leaves.push(leaf(this.#keys, this.#values));
    this.#keys = [];
    this.#values = [];
  }
}

function leaf<V>(keys: readonly string[], values: readonly V[]): Leaf<V> {
  return { keys, values, children: undefined, size: keys.length };
}

function inner<V>(children: readonly Node<V>[]): Inner<V> {
  let size = 0;
  for (const child of children) size += child.size;
  return { keys: children.map((child) => child.keys[0] as string), children, size };
}

/** Returns the index of the first key that is not smaller. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the index of the child that contains the key, or would contain it. */
function childFor(keys: readonly string[], key: string): number {
  const at = lowerBound(keys, key);
  return keys[at] === key ? at : Math.max(0, at - 1);
}

function insert<V>(node: Node<V>, key: string, value: V): [Node<V>] | [Node<V>, Node<V>] {
  if (node.children === undefined) {
    const at = lowerBound(node.keys, key);
    const found = node.keys[at] === key;
    const keys = found ? node.keys : node.keys.toSpliced(at, 0, key);
    const values = found ? node.values.with(at, value) : node.values.toSpliced(at, 0, value);
    if (keys.length <= nodeMax) return [leaf(keys, values)];
    // Appended keys fill leaves completely instead of leaving them half empty.
    const middle = at === keys.length - 1 ? nodeMax : nodeMax / 2;
    return [leaf(keys.slice(0, middle), values.slice(0, middle)), leaf(keys.slice(middle), values.slice(middle))];
  }
  const at = childFor(node.keys, key);
  const children = node.children.toSpliced(at, 1, ...insert(node.children[at] as Node<V>, key, value));
  if (children.length <= nodeMax) return [inner(children)];
  const middle = at >= nodeMax - 1 ? nodeMax : nodeMax / 2;
  return [inner(children.slice(0, middle)), inner(children.slice(middle))];
}

function remove<V>(node: Node<V>, key: string): Node<V> {
  if (node.children === undefined) {
    const at = lowerBound(node.keys, key);
    return node.keys[at] === key ? leaf(node.keys.toSpliced(at, 1), node.values.toSpliced(at, 1)) : node;
  }
  const at = childFor(node.keys, key);
  const old = node.children[at] as Node<V>;
  const child = remove(old, key);
  if (child === old) return node;
  if (child.size === 0) return inner(node.children.toSpliced(at, 1));
  const left = at > 0 ? at - 1 : at;
  const pair =
    at > 0 ? [node.children[at - 1] as Node<V>, child] : [child, node.children[at + 1] as Node<V> | undefined];
  const merged = pair[1] === undefined ? undefined : mergeNodes(pair[0] as Node<V>, pair[1]);
  if (merged !== undefined) return inner(node.children.toSpliced(left, 2, merged));
  return inner(node.children.with(at, child));
}

function mergeNodes<V>(a: Node<V>, b: Node<V>): Node<V> | undefined {
  if (a.keys.length + b.keys.length > mergeBelow) return undefined;
  if (a.children !== undefined && b.children !== undefined) return inner([...a.children, ...b.children]);
  if (a.children === undefined && b.children === undefined)
    return leaf([...a.keys, ...b.keys], [...a.values, ...b.values]);
  return undefined;
}
