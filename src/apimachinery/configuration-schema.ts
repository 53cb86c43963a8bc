/** Schemas of configuration files, which upstream has as Go structs that are in no table of API types. */
import type { Field, List, Scalar, Struct, Type } from "../lib/schema/schema.ts";

const scalar = (kind: Scalar["kind"]): Scalar => ({ kind });

export const text = scalar("string");
export const bool = scalar("bool");
export const int32 = scalar("int32");
export const duration = scalar("duration");

export function listOf(items: Type): List {
  return { kind: "list", items, listType: "atomic", mapKeys: [] };
}

/** A field whose absence differs from its zero value, or whose Go type has another name than its schema tells. */
export interface FieldForm {
  readonly type: Type;
  readonly pointer?: boolean;
  /** Names of the Go type, then of what its list holds. */
  readonly goTypes?: readonly string[];
}

/** @param goType with its package, such as `v1.Issuer`, as decoding errors print it */
export function configStruct(goType: string, fields: Readonly<Record<string, Type | FieldForm>>): Struct {
  const made = Object.entries(fields).map(
    ([name, form]): Field => fieldOf(name, "kind" in form ? { type: form } : form),
  );
  return {
    kind: "struct",
    definition: goType,
    goType,
    fields: made,
    byName: new Map(made.map((field) => [field.name, field])),
    atomic: false,
    preserveUnknown: false,
  };
}

function fieldOf(name: string, { type, pointer = false, goTypes }: FieldForm): Field {
  return { name, type, pointer, omitEmpty: false, omitZero: false, required: false, ...(goTypes && { goTypes }) };
}

/** The root of a file. */
export function configKind(goType: string, fields: Readonly<Record<string, Type | FieldForm>>): Struct {
  return configStruct(goType, { kind: text, apiVersion: text, ...fields });
}
