/**
 * Adapts field sets to a schema that changed between atomic and granular without a new version.
 * Source: KEP-555; structured-merge-diff's typed/reconcile_schema.go.
 */
import type { Struct, Type } from "./schema.ts";
import { leaf, type PathNode, type PathSet } from "./set.ts";
import { checkDepth, fieldType, isWhole } from "./typed.ts";

/**
 * Adapts a set to the current schema. Paths below a value that is now atomic become the path of the
 * value. The path of a value that is now granular stays as it is and gains nothing below it,
 * because it may also be the rest of a map whose entries other managers took.
 *
 * @returns the set itself when it is up to date. Parts that no schema describes stay as they are.
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

/**
 * The type of a path element below a value of the type.
 * @returns undefined when the schema does not describe it
 */
export function typeBelow(type: Type, element: string): Type | undefined {
  if (type.kind === "list") return type.items;
  if (!element.startsWith("f:") || (type.kind !== "struct" && type.kind !== "map")) return undefined;
  return fieldType(type, element.slice(2));
}
