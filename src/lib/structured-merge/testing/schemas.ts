/** Short constructors of schemas for the tests. Fields are optional, as in custom resources. */
import type { Field, List, MapType, Scalar, ScalarKind, Struct, Type } from "../../schema/schema.ts";

export const scalar = (kind: ScalarKind): Scalar => ({ kind });
export const string = scalar("string");
export const int = scalar("int64");
export const bool = scalar("bool");
export const any: Type = { kind: "any", definition: "" };

/** @param fields by name; a pair gives a default too */
export function struct(
  fields: Readonly<Record<string, Type | readonly [Type, unknown]>>,
  options: Partial<Struct> = {},
): Struct {
  const all = Object.entries(fields).map(([name, type]): Field => {
    const flags = { pointer: true, omitEmpty: true, omitZero: false, required: false };
    return "kind" in type ? { name, type, ...flags } : { name, type: type[0], default: type[1], ...flags };
  });
  const byName = new Map(all.map((field) => [field.name, field]));
  return {
    kind: "struct",
    definition: "test",
    goType: "test",
    fields: all,
    byName,
    atomic: false,
    preserveUnknown: false,
    ...options,
  };
}

/** A struct whose zero values Go always serializes. */
export function goStruct(fields: Readonly<Record<string, Type>>): Struct {
  const made = struct(fields);
  const all = made.fields.map((field) => ({ ...field, pointer: false, omitEmpty: false }));
  return { ...made, fields: all, byName: new Map(all.map((field) => [field.name, field])) };
}

export const map = (values: Type, options: Partial<MapType> = {}): MapType => ({
  kind: "map",
  values,
  atomic: false,
  ...options,
});
export const set = (items: Type): List => ({ kind: "list", items, listType: "set", mapKeys: [] });
export const atomicList = (items: Type): List => ({ kind: "list", items, listType: "atomic", mapKeys: [] });
export const keyed = (mapKeys: readonly string[], items: Type): List => ({
  kind: "list",
  items,
  listType: "map",
  mapKeys,
});
