/** The fields an applied intent owns. */
import type { Struct, Type } from "../schema/schema.ts";
import { fieldElement } from "./fields-v1.ts";
import { type PathSet, PathSetBuilder } from "./set.ts";
import { fieldType, granular, isDeclared, isMap, itemElement, type PlainMap, TypedError } from "./typed.ts";

/**
 * Every leaf of the value, every list item, and every entry of a map.
 * @param value as the client wrote it, schema defaults not filled in
 * @throws TypedError for duplicate items, which an intent may not have
 */
export function fieldSetOf(value: PlainMap, schema: Struct, options: { duplicates: "refuse" | "tolerate" } = { duplicates: "refuse" }): PathSet {
  const builder = new PathSetBuilder();
  walk(value, schema, builder, [], options.duplicates === "refuse");
  return builder.build();
}

function walk(value: unknown, type: Type, at: PathSetBuilder, path: readonly string[], strict: boolean): void {
  const seen = granular(type, value);
  if (seen?.form === "map" && isMap(value)) {
    for (const [name, part] of Object.entries(value)) {
      const child = at.child(fieldElement(name));
      if (part === null || (isMap(part) && Object.keys(part).length === 0) || !isDeclared(seen.type, name)) child.insert();
      walk(part, fieldType(seen.type, name), child, [...path, name], strict);
    }
    return;
  }
  if (seen?.form === "list" && Array.isArray(value)) {
    if (value.length === 0) at.insert();
    const elements = new Set<string>();
    value.forEach((item, index) => {
      const element = itemElement(seen.type, item, index);
      if (strict && elements.has(element)) throw new TypedError(`${path.map((name) => `.${name}`).join("")}: duplicate entries for key ${element}`);
      elements.add(element);
      const child = at.child(element);
      child.insert();
      if (seen.type.listType === "map") walk(item, seen.type.items, child, path, strict);
    });
    return;
  }
  // An empty map is noted by its parent; anything else is a leaf.
  at.insert();
}
