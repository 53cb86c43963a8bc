/**
 * Immutable sets of field paths, as tries. A path element is its FieldsV1 text: `f:name`,
 * `k:{"name":"a"}`, `v:"x"`, `i:0`. Equal elements have equal texts.
 * Source: structured-merge-diff's fieldpath; KEP-555.
 */

/** A node of the trie: the paths that continue from one element. */
export interface PathNode {
  /** Whether the path that ends here is in the set. */
  readonly member: boolean;
  /** By path element. */
  readonly children: ReadonlyMap<string, PathNode>;
}

/** A set of paths: the root of a trie. */
export type PathSet = PathNode;

const noChildren: ReadonlyMap<string, PathNode> = new Map();
/** The set without paths. */
export const emptySet: PathSet = { member: false, children: noChildren };
/** A node that contains only the path that ends at it. */
export const leaf: PathNode = { member: true, children: noChildren };

/** Builds a set; nodes are created on first use. Most are leaves, which need no builder. */
export class PathSetBuilder {
  #member = false;
  #children: Map<string, PathSetBuilder | PathNode> | undefined;

  /** Adds the path that ends at this node. */
  insert(): void {
    this.#member = true;
  }

  /** Adds the path that ends one element below this node. */
  insertBelow(element: string): void {
    this.#children ??= new Map();
    const child = this.#children.get(element);
    if (child instanceof PathSetBuilder) child.insert();
    else this.#children.set(element, leaf);
  }

  /** Adds all paths of a node below an element that has none yet. */
  setBelow(element: string, below: PathNode): void {
    this.#children ??= new Map();
    this.#children.set(element, below);
  }

  /** The builder of the node below an element. */
  child(element: string): PathSetBuilder {
    this.#children ??= new Map();
    const child = this.#children.get(element);
    if (child instanceof PathSetBuilder) return child;
    const builder = new PathSetBuilder();
    if (child !== undefined) builder.insert();
    this.#children.set(element, builder);
    return builder;
  }

  /** Empty branches are left out. The builder becomes the set, and must not be used afterwards. */
  build(): PathSet {
    const children = this.#children;
    if (children === undefined) return node(this.#member, noChildren);
    for (const [element, child] of children) {
      if (!(child instanceof PathSetBuilder)) continue;
      const built = child.build();
      if (isEmpty(built)) children.delete(element);
      else children.set(element, built);
    }
    return node(this.#member, children as ReadonlyMap<string, PathNode>);
  }
}

function node(member: boolean, children: ReadonlyMap<string, PathNode>): PathNode {
  if (children.size === 0) return member ? leaf : emptySet;
  return { member, children };
}

/** Whether a set has no paths. */
export function isEmpty(set: PathSet): boolean {
  return !set.member && set.children.size === 0;
}

/**
 * Whether a path is in the set.
 * @param path elements from the root
 */
export function has(set: PathSet, path: readonly string[]): boolean {
  let at: PathNode | undefined = set;
  for (const element of path) at = at?.children.get(element);
  return at?.member ?? false;
}

/** The part of the set below an element; empty when there is none. */
export function below(set: PathSet, element: string): PathSet {
  return set.children.get(element) ?? emptySet;
}

/** Builds a set from paths, each a list of elements from the root. */
export function pathSetOf(paths: Iterable<readonly string[]>): PathSet {
  const builder = new PathSetBuilder();
  for (const path of paths) {
    let at = builder;
    for (const element of path) at = at.child(element);
    at.insert();
  }
  return builder.build();
}

/** The paths that are in either set; returns `a` itself when it contains `b`. */
export function union(a: PathSet, b: PathSet): PathSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b) || a === b) return a;
  let children: Map<string, PathNode> | undefined;
  for (const [element, child] of b.children) {
    const own = a.children.get(element);
    const both = own === undefined ? child : union(own, child);
    if (both === own) continue;
    children ??= new Map(a.children);
    children.set(element, both);
  }
  const member = a.member || b.member;
  return children === undefined && member === a.member ? a : node(member, children ?? a.children);
}

/** The paths that are in both sets. */
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

/** The paths of `a` that are not in `b`; returns `a` itself when no path of `b` is in it. */
export function difference(a: PathSet, b: PathSet): PathSet {
  if (isEmpty(b)) return a;
  if (a === b) return emptySet;
  return withoutMatches(a, b, a.member && !b.member, difference);
}

/**
 * @param without computes the rest of a child that both sets have
 * @returns `a` itself when nothing is removed
 */
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

/** The paths of `a` that are neither in `b` nor below a path of `b`. */
export function recursiveDifference(a: PathSet, b: PathSet): PathSet {
  return b.member ? emptySet : withoutMatches(a, b, a.member, recursiveDifference);
}

/** Whether every path of `a` is in `b`. */
export function isSubset(a: PathSet, b: PathSet): boolean {
  if (a === b) return true;
  if (a.member && !b.member) return false;
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined ? !isEmpty(child) : !isSubset(child, other)) return false;
  }
  return true;
}

/** Whether two sets have the same paths. */
export function equalSets(a: PathSet, b: PathSet): boolean {
  if (a === b) return true;
  if (a.member !== b.member || a.children.size !== b.children.size) return false;
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined || !equalSets(child, other)) return false;
  }
  return true;
}

/** The paths that are not a prefix of another path of the set. */
export function leaves(set: PathSet): PathSet {
  const children = new Map<string, PathNode>();
  for (const [element, child] of set.children) children.set(element, leaves(child));
  return node(set.member && children.size === 0, children);
}

/**
 * Yields every path of the set; at each level, paths that end there come first, in the order of
 * FieldsV1.
 */
export function* paths(set: PathSet): Generator<readonly string[]> {
  if (set.member) yield [];
  yield* pathsBelow(set, []);
}

function* pathsBelow(set: PathSet, prefix: readonly string[]): Generator<readonly string[]> {
  const elements = sortedElements(set);
  for (const element of elements) if ((set.children.get(element) as PathNode).member) yield [...prefix, element];
  for (const element of elements) yield* pathsBelow(set.children.get(element) as PathNode, [...prefix, element]);
}

/** The number of paths in the set. */
export function countPaths(set: PathSet): number {
  let count = set.member ? 1 : 0;
  for (const child of set.children.values()) count += countPaths(child);
  return count;
}

const kindOrder: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 };

/**
 * The elements of the root: fields by name, then keys and values (numbers by size), then indices.
 */
export function sortedElements(set: PathSet): string[] {
  return sortElements([...set.children.keys()]);
}

/**
 * Sorts path elements in the order of FieldsV1.
 * @param elements sorted in place if their texts have the order of their contents
 */
export function sortElements(elements: string[]): string[] {
  if (elements.length < 2 || sortFewFields(elements)) return elements;
  return elements.some(sortsByContent) ? sortedByContent(elements) : elements.sort(byKindAndText);
}

/** Up to so many elements are sorted without memory. */
const fewMax = 24;

/** Sorts elements if they are few, and all are fields. @returns whether it did */
function sortFewFields(elements: string[]): boolean {
  if (elements.length > fewMax || !elements.every(isField)) return false;
  for (let end = 1; end < elements.length; end++) {
    const element = elements[end] as string;
    let at = end;
    for (; at > 0 && (elements[at - 1] as string) > element; at--) elements[at] = elements[at - 1] as string;
    elements[at] = element;
  }
  return true;
}

function isField(element: string): boolean {
  return element[0] === "f";
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

/** Whether it contains numbers, escapes, or characters that come before the closing quote. */
function sortsByContent(element: string): boolean {
  return element[0] !== "f" && /(?:^|:)-?\d|[\\ !]/.test(element);
}

function sortedByContent(elements: readonly string[]): string[] {
  const decorated = elements.map((element) => ({
    element,
    content: element[0] === "f" ? [] : contentOf(element),
  }));
  decorated.sort(
    (a, b) => byKind(a.element, b.element) || byContent(a.content, b.content) || byText(a.element, b.element),
  );
  return decorated.map(({ element }) => element);
}

/** The names and values of keys in order, or the single value. */
function contentOf(element: string): unknown[] {
  const content: unknown = JSON.parse(element.slice(2));
  if (element[0] !== "k") return [content];
  const parts: unknown[] = []; // Without `entries`, because a list can have many thousand items.
  for (const name in content as object) parts.push(name, (content as Record<string, unknown>)[name]);
  return parts;
}

function byContent(a: readonly unknown[], b: readonly unknown[]): number {
  for (let index = 0; index < a.length; index++) {
    const [part, other] = [a[index], b[index]];
    if (part === other) continue;
    if (typeof part === "number" && typeof other === "number") return part - other;
    return rankOf(part) - rankOf(other) || byText(String(part), String(other));
  }
  return a.length - b.length;
}

const types = ["number", "string", "boolean", "object"];

/** Upstream sorts values of different types by type, null last. */
const rankOf = (value: unknown): number => (value === null ? types.length : types.indexOf(typeof value));
