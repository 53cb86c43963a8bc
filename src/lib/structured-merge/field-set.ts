/** The fields that an applied intent owns. Source: structured-merge-diff's toFieldSet; KEP-555. */

import { fieldElement, formatPath } from "./fields-v1.ts";
import { KnownElements } from "./items.ts";
import type { List, Struct, Type } from "./schema.ts";
import { leaf, type PathNode, type PathSet } from "./set.ts";
import {
  checkDepth,
  fieldType,
  granular,
  isDeclared,
  isEmptyMap,
  isMap,
  type MapLike,
  type PlainMap,
  TypedError,
} from "./typed.ts";

/**
 * The paths of every leaf, list item and map entry of a value. Nulls and empty maps are included,
 * empty associative lists are not.
 *
 * @param value an intent as the client wrote it, without schema defaults
 * @param options with `tolerate`, duplicate items are allowed
 * @throws TypedError for items without keys, for duplicate items unless tolerated, and beyond
 *   `depthMax` levels
 */
export function fieldSetOf(
  value: PlainMap,
  schema: Struct,
  options: { duplicates: "reject" | "tolerate" } = { duplicates: "reject" },
): PathSet {
  return fieldsOf(value, schema, { isStrict: options.duplicates === "reject", known: new KnownElements() });
}

/** As {@link fieldSetOf}. */
export function fieldsOf(value: PlainMap, schema: Struct, options: Pick<Walk, "isStrict" | "known">): PathSet {
  const set = below(value, schema, { ...options, path: [], last: undefined });
  return { member: false, children: set.children };
}

interface Walk {
  /** Elements from the root to the current position. */
  readonly path: string[];
  readonly isStrict: boolean;
  readonly known: KnownElements;
  last: LastItem | undefined;
}

/** The last item that has only scalars: those with the same fields share its node. */
interface LastItem {
  readonly type: Type;
  readonly depth: number;
  readonly names: readonly string[];
  readonly node: PathNode;
}

function below(value: unknown, type: Type, walk: Walk): PathNode {
  checkDepth(walk.path.length);
  const seen = granular(type, value);
  if (seen?.form === "map" && isMap(value)) return ofMap(value, seen.type, walk);
  if (seen?.form === "list" && Array.isArray(value)) return ofList(value, seen.type, walk);
  return leaf;
}

function ofMap(value: PlainMap, type: MapLike, walk: Walk): PathNode {
  const children = new Map<string, PathNode>();
  for (const name in value) {
    const part = value[name];
    if (part === undefined) continue;
    const element = fieldElement(name);
    walk.path.push(element);
    const inside = below(part, fieldType(type, name), walk);
    walk.path.pop();
    // An entry of a map is owned itself; a declared field is owned only through its content.
    const isOwned =
      inside.member || !isDeclared(type, name) || (inside.children.size === 0 && isMap(part) && isEmptyMap(part));
    if (isOwned) children.set(element, asMember(inside));
    else if (inside.children.size > 0) children.set(element, inside);
  }
  return { member: false, children };
}

function ofList(items: readonly unknown[], type: List, walk: Walk): PathNode {
  const children = new Map<string, PathNode>();
  const { elements } = walk.known.of(type, items);
  for (const [index, item] of items.entries()) {
    const element = elements[index] as string;
    const existing = children.get(element);
    if (existing !== undefined && walk.isStrict)
      throw new TypedError(`${formatPath(walk.path)}: duplicate entries for key ${formatPath([element])}`);
    // Duplicates are owned as a whole.
    const isWhole = type.listType === "set" || existing !== undefined;
    children.set(element, isWhole ? leaf : ofItem(element, item, type.items, walk));
  }
  return { member: false, children };
}

function ofItem(element: string, item: unknown, type: Type, walk: Walk): PathNode {
  const names = isMap(item) ? namesOfScalars(item) : undefined;
  const depth = walk.path.length;
  const { last } = walk;
  if (names !== undefined && last?.type === type && last.depth === depth && isSame(last.names, names)) return last.node;
  walk.path.push(element);
  const node = asMember(below(item, type, walk));
  walk.path.pop();
  if (names !== undefined) walk.last = { type, depth, names, node };
  return node;
}

/** @returns undefined when a field has another value than a scalar */
function namesOfScalars(item: PlainMap): string[] | undefined {
  const names: string[] = [];
  for (const name in item) {
    const part = item[name];
    if (typeof part === "object") return undefined;
    if (part !== undefined) names.push(name);
  }
  return names;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}

function asMember(node: PathNode): PathNode {
  if (node.member) return node;
  return node.children.size === 0 ? leaf : { member: true, children: node.children };
}
