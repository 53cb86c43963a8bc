/**
 * Field sets that were written before the schema changed, without a new version, between owned as a whole and owned field by field.
 * Source: resource-api §4.11 point 8; structured-merge-diff's reconciliation of field sets.
 */
import type { Struct, Type } from "../schema/schema.ts";
import { fieldSetOf } from "./field-set.ts";
import { below, emptySet, leaf, type PathNode, type PathSet, union } from "./set.ts";
import { checkDepth, fieldType, type PlainMap } from "./typed.ts";

/**
 * Who owned something in what is a whole now, owns the whole. Who owned a whole that is looked into now, owns all that is in it.
 * @param live the object at the set's version
 * @param live gives the object at the set's version; asked only when something is outdated
 * @returns the set itself when nothing about it is outdated. Parts that no schema describes are left alone.
 */
export function reconcile(set: PathSet, schema: Struct, live: () => PlainMap): PathSet {
  let present: PathSet | undefined;
  const context: Context = {
    path: [],
    contentAt(path) {
      present ??= fieldSetOf(live(), schema, { duplicates: "tolerate" });
      return path.reduce(below, present);
    },
  };
  const children = reconcileChildren(set, (element) => typeBelow(schema, element), context);
  return children === set.children ? set : { member: set.member, children };
}

interface Context {
  readonly path: string[];
  /** What the live object has at a path; empty when it has nothing there. */
  contentAt(path: readonly string[]): PathSet;
}

function reconcileNode(node: PathNode, type: Type, context: Context): PathNode {
  checkDepth(context.path.length);
  if (!isContainer(type)) return node;
  if (isWhole(type)) return node.children.size === 0 ? node : leaf;
  if (node.children.size === 0) return node.member ? asGranular(node, context) : node;
  const children = reconcileChildren(node, (element) => typeBelow(type, element), context);
  return children === node.children ? node : { member: node.member, children };
}

/** An empty map or list, or one that is gone, stays as it is. */
function asGranular(node: PathNode, context: Context): PathNode {
  return union(node, { ...emptySet, children: context.contentAt(context.path).children });
}

function reconcileChildren(node: PathNode, typeOf: (element: string) => Type | undefined, context: Context): PathNode["children"] {
  let children: Map<string, PathNode> | undefined;
  for (const [element, child] of node.children) {
    const type = typeOf(element);
    if (type === undefined) continue;
    context.path.push(element);
    const reconciled = reconcileNode(child, type, context);
    context.path.pop();
    if (reconciled === child) continue;
    children ??= new Map(node.children);
    children.set(element, reconciled);
  }
  return children ?? node.children;
}

function isContainer(type: Type): boolean {
  return type.kind === "struct" || type.kind === "map" || type.kind === "list";
}

function isWhole(type: Type): boolean {
  return type.kind === "list" ? type.listType === "atomic" : (type.kind === "struct" || type.kind === "map") && type.atomic;
}

/** @returns undefined for what the schema does not describe */
function typeBelow(type: Type, element: string): Type | undefined {
  if (type.kind === "list") return type.items;
  if (!element.startsWith("f:") || (type.kind !== "struct" && type.kind !== "map")) return undefined;
  return fieldType(type, element.slice(2));
}
