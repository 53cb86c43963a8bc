/**
 * The paths of a value that only one of two objects has. Most values of a new object are of this
 * kind, so that its lists can have thousands of items with the same fields.
 */
import { fieldElement } from "./fields-v1.ts";
import { itemElement } from "./items.ts";
import type { List, Struct, Type } from "./schema.ts";
import { leaf, type PathNode } from "./set.ts";
import {
  checkDepth,
  deduced,
  fieldOf,
  fieldType,
  granular,
  isEmptyMap,
  isMap,
  type MapLike,
  type PlainMap,
  serialized,
  serializesWhenEmpty,
} from "./typed.ts";

interface WholeValue {
  /** Whether it is exactly as a client wrote it. */
  readonly isWritten: boolean;
  readonly shared: SharedNodes;
  /** Of the value in its object. */
  readonly depth: number;
}

/**
 * The paths of a value from its element on: the value itself, and all of its fields and items that
 * Go serializes, or that were written.
 * @throws TypedError beyond `depthMax` levels
 */
export function nodeOf(value: unknown, type: Type, at: WholeValue): PathNode {
  checkDepth(at.depth);
  const seen = granular(type, value);
  if (seen === undefined) return leaf;
  const below = { ...at, depth: at.depth + 1 };
  if (seen.form === "list") return Array.isArray(value) && value.length > 0 ? listNode(value, seen.type, below) : leaf;
  if (!isMap(value)) return leaf;
  if (seen.type?.kind !== "struct") return entriesNode(value, seen.type, below);
  return isBlank(value, seen.type, at.isWritten) ? leaf : structNode(value, seen.type, below);
}

/** Whether a container is absent or empty, and Go serializes no zero value in it either. */
export function isBlank(
  value: PlainMap | readonly unknown[] | undefined,
  type: MapLike | List,
  isWritten: boolean,
): boolean {
  if (value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isEmptyMap(value as PlainMap) && (isWritten || type?.kind !== "struct" || !serializesWhenEmpty(type));
}

/** Items with the same path element are owned as a whole. */
function listNode(items: readonly unknown[], type: List, at: WholeValue): PathNode {
  const children = new Map<string, PathNode>();
  for (let index = 0; index < items.length; index++) {
    const element = itemElement(type, items[index], index, at.isWritten);
    const isWhole = type.listType !== "map" || children.has(element);
    children.set(element, isWhole ? leaf : nodeOf(items[index], type.items, at));
  }
  return { member: true, children };
}

function entriesNode(value: PlainMap, type: MapLike, at: WholeValue): PathNode {
  const children = new Map<string, PathNode>();
  for (const name in value) {
    const part = value[name];
    if (part !== undefined) children.set(fieldElement(name), nodeOf(part, fieldType(type, name), at));
  }
  return children.size === 0 ? leaf : { member: true, children };
}

function structNode(value: PlainMap, type: Struct, at: WholeValue): PathNode {
  const names: string[] = [];
  const nodes: PathNode[] = [];
  for (const field of type.fields) {
    const written = fieldOf(value, field.name);
    const part = at.isWritten ? written : serialized(field, written);
    if (part === undefined) continue;
    names.push(field.name);
    nodes.push(nodeOf(part, field.type, at));
  }
  if (type.preserveUnknown)
    for (const name in value) {
      if (type.byName.has(name) || value[name] === undefined) continue;
      names.push(name);
      nodes.push(nodeOf(value[name], deduced, at));
    }
  return at.shared.nodeOf(type, names, nodes);
}

interface LastNode {
  readonly names: readonly string[];
  readonly nodes: readonly PathNode[];
  readonly node: PathNode;
}

/** The last node of each struct, which the next one shares if it has the same fields. */
export class SharedNodes {
  readonly #last = new Map<Struct, LastNode>();

  /** @returns a node with the fields, which is a member */
  nodeOf(type: Struct, names: readonly string[], nodes: readonly PathNode[]): PathNode {
    const last = this.#last.get(type);
    if (last !== undefined && isSame(last.names, names) && isSame(last.nodes, nodes)) return last.node;
    const children = new Map(names.map((name, index) => [fieldElement(name), nodes[index] as PathNode]));
    const node: PathNode = children.size === 0 ? leaf : { member: true, children };
    this.#last.set(type, { names, nodes, node });
    return node;
  }
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}
