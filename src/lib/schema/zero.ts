/** Go's zero values, in the form of plain objects. Source: https://go.dev/ref/spec#The_zero_value. */
import type { Field, Type } from "./schema.ts";

/** A field, as far as its zero value depends on it. */
type Presence = Pick<Field, "pointer" | "omitEmpty" | "omitZero"> & { readonly type: Pick<Type, "kind"> };

/** The zero value of a type; null for times and Any. Containers are new objects. */
export function zeroValueOf({ kind }: Pick<Type, "kind">): unknown {
  switch (kind) {
    case "struct":
    case "map":
      return {};
    case "list":
      return [];
    case "string":
    case "bytes":
      return "";
    case "bool":
      return false;
    case "quantity":
      return "0";
    case "duration":
      return "0s";
    case "any":
    case "time":
    case "microtime":
      return null;
    default:
      return 0;
  }
}

const emptyStruct: object = Object.freeze({});

/**
 * The value that Go serializes for a field that is not set. Callers must not change it.
 * @returns undefined when Go omits the field; null for Go's nil
 */
export function unsetValueOf({ pointer, omitEmpty, omitZero, type }: Presence): unknown {
  if (pointer) return omitEmpty ? undefined : null;
  if (omitZero) return undefined;
  switch (type.kind) {
    // These are structs in Go, and no struct is empty.
    case "struct":
      return emptyStruct;
    case "any":
    case "time":
    case "microtime":
    case "quantity":
    case "duration":
    case "intOrString":
      return zeroValueOf(type);
    case "list":
    case "map":
    case "bytes":
      return omitEmpty ? undefined : null;
    default:
      return omitEmpty ? undefined : zeroValueOf(type);
  }
}
