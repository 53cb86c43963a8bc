/**
 * References in OpenAPI v2 documents. Only those at places where the format has them count: text in
 * examples and defaults is data.
 * Source: https://spec.openapis.org/oas/v2.0.html.
 */
import type { Json } from "../json/values.ts";
import type { Shape } from "./shape.ts";

/** The prefixes of references to parts of the same document. */
export const prefixes = { definitions: "#/definitions/", parameters: "#/parameters/" } as const;

/** Calls `visit` with each reference in a normalized value. */
export function visitReferences(value: unknown, shape: Shape, visit: (reference: string) => void): void {
  mapReferences(value, shape, (reference) => {
    visit(reference);
    return reference;
  });
}

/**
 * Replaces references in a normalized value.
 *
 * @returns the value itself when no reference changes; otherwise a copy that shares unchanged parts
 */
export function mapReferences(value: unknown, shape: Shape, map: (reference: string) => string): unknown {
  if (typeof value !== "object" || value === null || typeof shape === "string") return value;
  switch (shape.kind) {
    case "struct":
      return mapMembers(value as Json, (member, key) => {
        if (key === "$ref" && shape.reference !== undefined) return map(member as string);
        const found = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
        return found === undefined ? member : mapReferences(member, found.shape, map);
      });
    case "map":
      return mapMembers(value as Json, (member) => mapReferences(member, shape.of(), map));
    case "keyed":
      return mapMembers(value as Json, (member, key) => {
        const found = shape.of(key);
        return found === undefined ? member : mapReferences(member, found, map);
      });
    case "list":
      return mapItems(value as unknown[], (item) => mapReferences(item, shape.of(), map));
    case "schemaOr":
      if (!Array.isArray(value)) return mapReferences(value, shape.schema(), map);
      return shape.otherwise === "schemas"
        ? mapItems(value, (item) => mapReferences(item, shape.schema(), map))
        : value;
  }
}

function mapMembers(object: Json, map: (member: unknown, key: string) => unknown): Json {
  let changed = false;
  const members = Object.entries(object).map(([key, member]) => {
    const mapped = map(member, key);
    changed ||= mapped !== member;
    return [key, mapped];
  });
  return changed ? Object.fromEntries(members) : object;
}

function mapItems(items: readonly unknown[], map: (item: unknown) => unknown): readonly unknown[] {
  const mapped = items.map(map);
  return mapped.some((item, index) => item !== items[index]) ? mapped : items;
}
