/** Fields of structs and maps that have owned paths below them are counted as owned themselves, so that an emptied parent goes too. */
import type { Type } from "../schema/schema.ts";
import type { PathNode, PathSet } from "./set.ts";
import { fieldType, isDeclared } from "./typed.ts";

/** The set with every named field on the way to one of its paths as a member; list items are left as they are. */
export function named(set: PathSet, type: Type): PathSet {
  const children = new Map<string, PathNode>();
  for (const [element, child] of set.children) {
    const inside = named(child, typeBelow(type, element));
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
