/** The fields that an applied intent owns. Source: structured-merge-diff's toFieldSet; KEP-555. */

import { fieldElement, formatPath } from "./fields-v1.ts";
import { itemElement } from "./items.ts";
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
  const set = below(value, schema, { path: [], isStrict: options.duplicates === "reject" });
  return { member: false, children: set.children };
}

interface Walk {
  /** Elements from the root to the current position. */
  readonly path: string[];
  readonly isStrict: boolean;
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
    const isOwned = inside.member || !isDeclared(type, name) || (isMap(part) && isEmptyMap(part));
    if (isOwned) children.set(element, asMember(inside));
    else if (inside.children.size > 0) children.set(element, inside);
  }
  return { member: false, children };
}

function ofList(items: readonly unknown[], type: List, walk: Walk): PathNode {
  const children = new Map<string, PathNode>();
  for (const [index, item] of items.entries()) {
    const element = itemElement(type, item, index);
    const existing = children.get(element);
    if (existing !== undefined && walk.isStrict)
      throw new TypedError(`${formatPath(walk.path)}: duplicate entries for key ${formatPath([element])}`);
    // Duplicates are owned as a whole.
    if (type.listType === "set" || existing !== undefined) {
      children.set(element, leaf);
      continue;
    }
    walk.path.push(element);
    children.set(element, asMember(below(item, type.items, walk)));
    walk.path.pop();
  }
  return { member: false, children };
}

function asMember(node: PathNode): PathNode {
  if (node.member) return node;
  return node.children.size === 0 ? leaf : { member: true, children: node.children };
}
