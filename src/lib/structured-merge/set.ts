/**
 * Sets of field paths, as tries. A path element is its FieldsV1 text: `f:name`, `k:{"name":"a"}`, `v:"x"`, `i:0`; equal elements are equal texts.
 * Source: structured-merge-diff's fieldpath; KEP-555.
 */

export interface PathNode {
  /** Whether the path that ends here is in the set. */
  readonly member: boolean;
  readonly children: ReadonlyMap<string, PathNode>;
}

export type PathSet = PathNode;

const noChildren: ReadonlyMap<string, PathNode> = new Map();
export const emptySet: PathSet = { member: false, children: noChildren };
/** Just the path that ends here. */
export const leaf: PathNode = { member: true, children: noChildren };

/** A set under construction; nodes are made when first touched. */
export class PathSetBuilder {
  #member = false;
  readonly #children = new Map<string, PathSetBuilder>();

  insert(): void {
    this.#member = true;
  }

  child(element: string): PathSetBuilder {
    let child = this.#children.get(element);
    if (child === undefined) {
      child = new PathSetBuilder();
      this.#children.set(element, child);
    }
    return child;
  }

  /** Empty branches are left out. */
  build(): PathSet {
    const children = new Map<string, PathNode>();
    for (const [element, builder] of this.#children) {
      const child = builder.build();
      if (!isEmpty(child)) children.set(element, child);
    }
    return node(this.#member, children);
  }
}

function node(member: boolean, children: ReadonlyMap<string, PathNode>): PathNode {
  if (children.size === 0) return member ? leaf : emptySet;
  return { member, children };
}

export function isEmpty(set: PathSet): boolean {
  return !set.member && set.children.size === 0;
}

/** @param path elements from the root */
export function has(set: PathSet, path: readonly string[]): boolean {
  let at: PathNode | undefined = set;
  for (const element of path) at = at?.children.get(element);
  return at?.member ?? false;
}

/** The part of the set below an element; empty when there is none. */
export function below(set: PathSet, element: string): PathSet {
  return set.children.get(element) ?? emptySet;
}

export function pathSetOf(paths: Iterable<readonly string[]>): PathSet {
  const builder = new PathSetBuilder();
  for (const path of paths) {
    let at = builder;
    for (const element of path) at = at.child(element);
    at.insert();
  }
  return builder.build();
}

export function union(a: PathSet, b: PathSet): PathSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b) || a === b) return a;
  const children = new Map(a.children);
  for (const [element, child] of b.children) {
    const mine = children.get(element);
    children.set(element, mine === undefined ? child : union(mine, child));
  }
  return node(a.member || b.member, children);
}

export function intersection(a: PathSet, b: PathSet): PathSet {
  const children = new Map<string, PathNode>();
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined) continue;
    const both = intersection(child, other);
    if (!isEmpty(both)) children.set(element, both);
  }
  return node(a.member && b.member, children);
}

/** What is in `a` and not in `b`. */
export function difference(a: PathSet, b: PathSet): PathSet {
  if (isEmpty(b)) return a;
  const children = new Map<string, PathNode>();
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    const rest = other === undefined ? child : difference(child, other);
    if (!isEmpty(rest)) children.set(element, rest);
  }
  return node(a.member && !b.member, children);
}

/** What is in `a` and neither in `b` nor below anything in `b`. */
export function recursiveDifference(a: PathSet, b: PathSet): PathSet {
  if (b.member) return emptySet;
  const children = new Map<string, PathNode>();
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    const rest = other === undefined ? child : recursiveDifference(child, other);
    if (!isEmpty(rest)) children.set(element, rest);
  }
  return node(a.member, children);
}

export function equalSets(a: PathSet, b: PathSet): boolean {
  if (a === b) return true;
  if (a.member !== b.member || a.children.size !== b.children.size) return false;
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined || !equalSets(child, other)) return false;
  }
  return true;
}

/** Paths that have no longer path of the set below them. */
export function leaves(set: PathSet): PathSet {
  const children = new Map<string, PathNode>();
  for (const [element, child] of set.children) children.set(element, leaves(child));
  return node(set.member && children.size === 0, children);
}

/** Every path of the set, in the order FieldsV1 writes them. */
export function* paths(set: PathSet, prefix: readonly string[] = []): Generator<readonly string[]> {
  if (set.member) yield prefix;
  for (const element of sortedElements(set)) yield* paths(set.children.get(element) as PathNode, [...prefix, element]);
}

export function countPaths(set: PathSet): number {
  let count = set.member ? 1 : 0;
  for (const child of set.children.values()) count += countPaths(child);
  return count;
}

const kindOrder: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 };

/** Fields by name, then keys, values and indices. */
export function sortedElements(set: PathSet): string[] {
  return [...set.children.keys()].sort((a, b) => {
    const kinds = (kindOrder[a[0] as string] ?? 4) - (kindOrder[b[0] as string] ?? 4);
    if (kinds !== 0) return kinds;
    if (a[0] === "i") return Number(a.slice(2)) - Number(b.slice(2));
    return a < b ? -1 : a > b ? 1 : 0;
  });
}
