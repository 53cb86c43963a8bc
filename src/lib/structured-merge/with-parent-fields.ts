import type { Type } from "./schema.ts";
import type { PathNode, PathSet } from "./set.ts";
import { fieldType, isDeclared } from "./typed.ts";

/**
 * Adds the declared struct fields above the paths of a set, so that pruning also removes a parent
 * that becomes empty. List items are not added.
 * Source: https://github.com/kubernetes-sigs/structured-merge-diff.
 */
export function withParentFields(set: PathSet, type: Type): PathSet {
  const children = new Map<string, PathNode>();
  for (const [element, child] of set.children) {
    const inside = withParentFields(child, typeBelow(type, element));
    const isField = type.kind === "struct" && element.startsWith("f:") && isDeclared(type, element.slice(2));
    children.set(
      element,
      isField && !inside.member && inside.children.size > 0 ? { member: true, children: inside.children } : inside,
    );
  }
  return { member: set.member, children };
}

function typeBelow(type: Type, element: string): Type {
  if (type.kind === "list") return type.items;
  if (type.kind === "struct" || type.kind === "map") return fieldType(type, element.slice(2));
  return type;
}
