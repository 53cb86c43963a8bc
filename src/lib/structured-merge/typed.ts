/**
 * How a value is seen by the merge: as a leaf, a map of named fields, or an associative list.
 * Source: structured-merge-diff's schema and typed packages; KEP-555.
 */
import type { Field, List, MapType, Struct, Type } from "../schema/schema.ts";
import { fieldElement, keyElement, valueElement } from "./fields-v1.ts";

export type PlainMap = Record<string, unknown>;

/** Levels of nesting that are walked; decoding refuses deeper objects long before. */
export const depthMax = 10_000;

/** Thrown for values that do not fit: duplicates in an apply, list items without keys. The text is upstream's. */
export class TypedError extends Error {}

/** What the merge looks into; everything else is a leaf. */
export type Granular = { readonly form: "map"; readonly type: Struct | MapType | undefined } | { readonly form: "list"; readonly type: List };

/** Types whose content is merged by what it looks like: maps by key, the rest as a whole. */
const deducedDefinitions = new Set(["io.k8s.apimachinery.pkg.runtime.RawExtension", "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", ""]);

/** The type of what no schema describes. */
export const deduced: Type = { kind: "any", definition: "" };

/** @returns undefined when a value of this type is a leaf: owned and replaced as a whole */
export function granular(type: Type, value: unknown): Granular | undefined {
  switch (type.kind) {
    case "struct":
      return type.atomic ? undefined : { form: "map", type };
    case "map":
      return type.atomic ? undefined : { form: "map", type };
    case "list":
      return type.listType === "atomic" ? undefined : { form: "list", type };
    case "any":
      return deducedDefinitions.has(type.definition) && isMap(value) ? { form: "map", type: undefined } : undefined;
    default:
      return undefined;
  }
}

export function isMap(value: unknown): value is PlainMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The type of one field of a map or struct. */
export function fieldType(type: Struct | MapType | undefined, name: string): Type {
  if (type === undefined) return deduced;
  if (type.kind === "map") return type.values;
  return type.byName.get(name)?.type ?? deduced;
}

/** Whether the name is one of a struct's declared fields. */
export function isDeclared(type: Struct | MapType | undefined, name: string): boolean {
  return type !== undefined && type.kind === "struct" && type.byName.has(name);
}

/**
 * What Go would have in a field that is absent from our plain object: an empty struct for a plain struct, the zero value for a required scalar,
 * so that ownership comes out as it does there.
 */
export function fieldValue(parent: PlainMap, field: Field): unknown {
  const value = Object.hasOwn(parent, field.name) ? parent[field.name] : undefined;
  if (value !== undefined && value !== null) return field.omitEmpty && !field.pointer && isGoEmpty(value, field.type) ? undefined : value;
  if (field.pointer || field.omitZero) return undefined;
  if (field.type.kind === "struct") return {};
  if (field.omitEmpty) return undefined;
  switch (field.type.kind) {
    case "string":
      return "";
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "double":
      return 0;
    default:
      return undefined;
  }
}

/** What Go's JSON leaves out; a struct never is. */
function isGoEmpty(value: unknown, type: Type): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isMap(value)) return type.kind === "map" && Object.keys(value).length === 0;
  return value === "" || value === 0 || value === false;
}

/** Fields of a granular map: names and values, those that Go would show included. */
export function entriesOf(type: Struct | MapType | undefined, value: PlainMap): [name: string, value: unknown][] {
  if (type === undefined || type.kind === "map") return Object.entries(value);
  const entries: [string, unknown][] = [];
  for (const field of type.fields) {
    const present = fieldValue(value, field);
    if (present !== undefined) entries.push([field.name, present]);
  }
  if (type.preserveUnknown) for (const [name, part] of Object.entries(value)) if (!type.byName.has(name)) entries.push([name, part]);
  return entries;
}

/**
 * The path element of a list item.
 * @throws TypedError when the item has none of its keys
 */
export function itemElement(type: List, item: unknown, index: number): string {
  if (type.listType === "set") return valueElement(item);
  const keys: PlainMap = {};
  for (const name of type.mapKeys) {
    const value = isMap(item) && Object.hasOwn(item, name) ? item[name] : undefined;
    const known = value ?? keyDefault(type, name);
    if (known !== undefined) keys[name] = known;
  }
  if (Object.keys(keys).length === 0) {
    const names = type.mapKeys.map((name) => JSON.stringify(name)).join(" ");
    throw new TypedError(
      `element ${index}: associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return keyElement(keys);
}

function keyDefault(type: List, name: string): unknown {
  if (type.items.kind !== "struct") return undefined;
  const field = type.items.byName.get(name);
  if (field === undefined) return undefined;
  return field.default ?? fieldValue({}, field);
}

export { fieldElement };

/** Items of a list by path element; an element that occurs more than once keeps all its items, in order. */
export function itemsByElement(type: List, items: readonly unknown[]): Map<string, unknown[]> {
  const result = new Map<string, unknown[]>();
  items.forEach((item, index) => {
    const element = itemElement(type, item, index);
    const same = result.get(element);
    if (same === undefined) result.set(element, [item]);
    else same.push(item);
  });
  return result;
}
