/**
 * Field sets that were written before the schema changed, without a new version, between owned as a whole and owned field by field.
 * Source: resource-api §4.11 point 8; structured-merge-diff's reconciliation of field sets.
 */
import type { Struct, Type } from "../schema/schema.ts";
import { leaf, type PathNode, type PathSet } from "./set.ts";
import { checkDepth, fieldType } from "./typed.ts";

/**
 * Who owned something in what is a whole now, owns the whole. Who owned a whole that is looked into now, owns its place and nothing in it: a place
 * with nothing below it may as well be what is left of a map whose entries were taken by others.
 * @returns the set itself when nothing about it is outdated. Parts that no schema describes are left alone.
 * @throws TypedError beyond `depthMax` levels
 */
export function reconcile(set: PathSet, schema: Struct): PathSet {
  const children = reconcileChildren(set, schema, 0);
  return children === set.children ? set : { member: set.member, children };
}

function reconcileNode(node: PathNode, type: Type, depth: number): PathNode {
  checkDepth(depth);
  if (!isContainer(type) || node.children.size === 0) return node;
  if (isWhole(type)) return leaf;
  const children = reconcileChildren(node, type, depth);
  return children === node.children ? node : { member: node.member, children };
}

function reconcileChildren(node: PathNode, type: Type, depth: number): PathNode["children"] {
  let children: Map<string, PathNode> | undefined;
  for (const [element, child] of node.children) {
    const childType = typeBelow(type, element);
    if (childType === undefined) continue;
    const reconciled = reconcileNode(child, childType, depth + 1);
    if (reconciled === child) continue;
    children ??= new Map(node.children);
    children.set(element, reconciled);
  }
  return children ?? node.children;
}

function isContainer(type: Type): boolean {
  return type.kind === "struct" || type.kind === "map" || type.kind === "list";
}

/** Whether it is owned as a whole. */
export function isWhole(type: Type): boolean {
  return type.kind === "list"
    ? type.listType === "atomic"
    : (type.kind === "struct" || type.kind === "map") && type.atomic;
}

/** @returns undefined for what the schema does not describe */
export function typeBelow(type: Type, element: string): Type | undefined {
  if (type.kind === "list") return type.items;
  if (!element.startsWith("f:") || (type.kind !== "struct" && type.kind !== "map")) return undefined;
  return fieldType(type, element.slice(2));
}
