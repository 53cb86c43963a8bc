/**
 * Builds schemas of configuration files, whose Go structs are not in the generated table of API
 * types.
 * Source: Kubernetes docs, "Configuration APIs".
 */
import type { Field, List, Scalar, Struct, Type } from "../lib/schema/schema.ts";

const scalar = (kind: Scalar["kind"]): Scalar => ({ kind });

/** Schemas of scalar fields. */
export const text = scalar("string");
export const bool = scalar("bool");
export const int32 = scalar("int32");
export const duration = scalar("duration");

/** @returns the schema of an atomic list */
export function listOf(items: Type): List {
  return { kind: "list", items, listType: "atomic", mapKeys: [] };
}

/**
 * A field whose absence differs from its zero value, or whose Go type cannot be derived from its
 * schema.
 */
interface FieldForm {
  readonly type: Type;
  readonly pointer?: boolean;
  /** The name of the Go type, then that of the items of its list. */
  readonly goTypes?: readonly string[];
}

/**
 * Builds the schema of a struct.
 *
 * @param goType with its package, such as `v1.Issuer`, as decoding errors print it
 */
export function configStruct(goType: string, fields: Readonly<Record<string, Type | FieldForm>>): Struct {
  const fieldList = Object.entries(fields).map(
    ([name, form]): Field => fieldOf(name, "kind" in form ? { type: form } : form),
  );
  return {
    kind: "struct",
    definition: goType,
    goType,
    fields: fieldList,
    byName: new Map(fieldList.map((field) => [field.name, field])),
    atomic: false,
    preserveUnknown: false,
  };
}

function fieldOf(name: string, { type, pointer = false, goTypes }: FieldForm): Field {
  return { name, type, pointer, omitEmpty: false, omitZero: false, required: false, ...(goTypes && { goTypes }) };
}

/** Builds the schema of the root of a configuration file: the fields, `kind` and `apiVersion`. */
export function configKind(goType: string, fields: Readonly<Record<string, Type | FieldForm>>): Struct {
  return configStruct(goType, { kind: text, apiVersion: text, ...fields });
}
