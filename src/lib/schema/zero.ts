/** Go's zero values, as plain objects have them. */
import type { Field, Type } from "./schema.ts";

/** What null leaves of a value, and what one that is absent is taken for. Times and Any have no other form than null. Containers are fresh ones. */
export function zeroOf({ kind }: Type): unknown {
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

/** What Go shows of a field that is not set. @returns undefined where it leaves the field out; null for its nil; not to be changed */
export function unsetOf({ pointer, omitEmpty, omitZero, type }: Field): unknown {
  if (pointer) return omitEmpty ? undefined : null;
  if (omitZero) return undefined;
  switch (type.kind) {
    // No struct is empty to Go, and these are structs.
    case "struct":
      return emptyStruct;
    case "any":
    case "time":
    case "microtime":
    case "quantity":
    case "duration":
    case "intOrString":
      return zeroOf(type);
    case "list":
    case "map":
    case "bytes":
      return omitEmpty ? undefined : null;
    default:
      return omitEmpty ? undefined : zeroOf(type);
  }
}
