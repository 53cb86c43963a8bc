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
  #children: Map<string, PathSetBuilder> | undefined;

  insert(): void {
    this.#member = true;
  }

  child(element: string): PathSetBuilder {
    this.#children ??= new Map();
    let child = this.#children.get(element);
    if (child === undefined) {
      child = new PathSetBuilder();
      this.#children.set(element, child);
    }
    return child;
  }

  /** Empty branches are left out. */
  build(): PathSet {
    if (this.#children === undefined) return node(this.#member, noChildren);
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

/** What is in either; `a` itself when it has all of `b`. */
export function union(a: PathSet, b: PathSet): PathSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b) || a === b) return a;
  let children: Map<string, PathNode> | undefined;
  for (const [element, child] of b.children) {
    const mine = a.children.get(element);
    const both = mine === undefined ? child : union(mine, child);
    if (both === mine) continue;
    children ??= new Map(a.children);
    children.set(element, both);
  }
  const member = a.member || b.member;
  return children === undefined && member === a.member ? a : node(member, children ?? a.children);
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

/** What is in `a` and not in `b`; `a` itself when that is all of it. */
export function difference(a: PathSet, b: PathSet): PathSet {
  if (isEmpty(b)) return a;
  return withoutMatches(a, b, a.member && !b.member, difference);
}

/** @returns `a` itself when nothing goes. @param without what is done to children that both have */
function withoutMatches(
  a: PathSet,
  b: PathSet,
  member: boolean,
  without: (a: PathSet, b: PathSet) => PathSet,
): PathSet {
  let children: Map<string, PathNode> | undefined;
  for (const [element, other] of b.children) {
    const child = (children ?? a.children).get(element);
    if (child === undefined) continue;
    const rest = without(child, other);
    if (rest === child) continue;
    children ??= new Map(a.children);
    if (isEmpty(rest)) children.delete(element);
    else children.set(element, rest);
  }
  return children === undefined && member === a.member ? a : node(member, children ?? a.children);
}

/** What is in `a` and neither in `b` nor below anything in `b`. */
export function recursiveDifference(a: PathSet, b: PathSet): PathSet {
  return b.member ? emptySet : withoutMatches(a, b, a.member, recursiveDifference);
}

/** Whether everything in `a` is in `b` too. */
export function isSubset(a: PathSet, b: PathSet): boolean {
  if (a === b) return true;
  if (a.member && !b.member) return false;
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined ? !isEmpty(child) : !isSubset(child, other)) return false;
  }
  return true;
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

/** Every path of the set: those that end at a level before those that go on there, each in the order FieldsV1 writes them. */
export function* paths(set: PathSet): Generator<readonly string[]> {
  if (set.member) yield [];
  yield* pathsBelow(set, []);
}

function* pathsBelow(set: PathSet, prefix: readonly string[]): Generator<readonly string[]> {
  const elements = sortedElements(set);
  for (const element of elements) if ((set.children.get(element) as PathNode).member) yield [...prefix, element];
  for (const element of elements) yield* pathsBelow(set.children.get(element) as PathNode, [...prefix, element]);
}

export function countPaths(set: PathSet): number {
  let count = set.member ? 1 : 0;
  for (const child of set.children.values()) count += countPaths(child);
  return count;
}

const kindOrder: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 };

/** Fields by name, then keys and values, numbers among them by size, then indices. */
export function sortedElements(set: PathSet): string[] {
  return sortElements([...set.children.keys()]);
}

/** The same for any elements. @param elements sorted in place */
export function sortElements(elements: string[]): string[] {
  if (elements.length < 2) return elements;
  return elements.some(holdsNumber) ? sortedByContent(elements) : elements.sort(byKindAndText);
}

function byKindAndText(a: string, b: string): number {
  return byKind(a, b) || byText(a, b);
}

function byKind(a: string, b: string): number {
  return (kindOrder[a[0] as string] ?? 4) - (kindOrder[b[0] as string] ?? 4);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function holdsNumber(element: string): boolean {
  return element[0] !== "f" && /(?:^|:)-?\d/.test(element);
}

function sortedByContent(elements: readonly string[]): string[] {
  const decorated = elements.map((element) => ({
    element,
    content: element[0] === "f" ? [] : contentOf(element.slice(2)),
  }));
  decorated.sort(
    (a, b) => byKind(a.element, b.element) || byContent(a.content, b.content) || byText(a.element, b.element),
  );
  return decorated.map(({ element }) => element);
}

/** Names and values of keys in order, or the one value. */
function contentOf(text: string): unknown[] {
  const content: unknown = JSON.parse(text);
  return typeof content === "object" && content !== null ? Object.entries(content).flat() : [content];
}

function byContent(a: readonly unknown[], b: readonly unknown[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (part === other) continue;
    if (typeof part === "number" && typeof other === "number") return part - other;
    return typeof part === typeof other ? byText(String(part), String(other)) : typeof part === "number" ? -1 : 1;
  }
  return a.length - b.length;
}
