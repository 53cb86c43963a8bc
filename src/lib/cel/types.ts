/**
 * Types of expressions. Source: cel-spec, "Gradual Type Checking"; the names are those of cel-go.
 */

/** What a type is, apart from its name and parameters. */
export type TypeKind =
  | "dyn"
  | "any"
  | "null"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "timestamp"
  | "duration"
  | "list"
  | "map"
  | "type"
  | "object"
  | "opaque"
  | "parameter"
  | "wrapper"
  | "error";

/**
 * A type. `name` is the name at run time: `google.protobuf.Timestamp`, `list`, the name of an
 * object type, of an abstract type such as `optional_type`, or of a type parameter. `parameters`
 * are those of `list(int)`, `map(string, dyn)`, `wrapper(int)`.
 */
export interface CelType {
  readonly kind: TypeKind;
  /** The name at run time. */
  readonly name: string;
  /** Empty for a type without parameters. */
  readonly parameters: readonly CelType[];
}

function simple(kind: TypeKind, name: string = kind): CelType {
  return { kind, name, parameters: [] };
}

/** Any value; its type is checked at run time. */
export const dynType = simple("dyn");
/** A `google.protobuf.Any`. */
export const anyType = simple("any", "google.protobuf.Any");
/** `null`. */
export const nullType = simple("null", "null_type");
/** `true` and `false`. */
export const boolType = simple("bool");
/** Integers of 64 bits. */
export const intType = simple("int");
/** Unsigned integers of 64 bits. */
export const uintType = simple("uint");
/** IEEE 754 numbers of 64 bits. */
export const doubleType = simple("double");
/** Unicode text. */
export const stringType = simple("string");
/** Bytes. */
export const bytesType = simple("bytes");
/** Points in time. */
export const timestampType = simple("timestamp", "google.protobuf.Timestamp");
/** Spans of time. */
export const durationType = simple("duration", "google.protobuf.Duration");
/** The type of an expression with a reported error. It is assignable to every type. */
export const errorType = simple("error", "!error!");

/** `list(element)`. */
export function listType(element: CelType): CelType {
  return { kind: "list", name: "list", parameters: [element] };
}

/** `map(key, value)`. */
export function mapType(key: CelType, value: CelType): CelType {
  return { kind: "map", name: "map", parameters: [key, value] };
}

/** The type of a type, as in `type(1) == int`. */
export function typeOf(type: CelType): CelType {
  return { kind: "type", name: "type", parameters: [type] };
}

/** A message type. The environment's `TypeResolver` has its fields. */
export function objectType(name: string): CelType {
  return simple("object", name);
}

/** An abstract type of a library, such as `kubernetes.Quantity`: it has functions and no fields. */
export function opaqueType(name: string, ...parameters: CelType[]): CelType {
  return { kind: "opaque", name, parameters };
}

/** `optional_type(value)`. */
export function optionalType(value: CelType): CelType {
  return opaqueType("optional_type", value);
}

/** A scalar that can be null, such as `google.protobuf.Int64Value`. */
export function wrapperType(scalar: CelType): CelType {
  return { kind: "wrapper", name: scalar.name, parameters: [scalar] };
}

/** A type parameter of a declaration, such as `T` in `list(T)`. */
export function parameterType(name: string): CelType {
  return simple("parameter", name);
}

/** Whether the type is `optional_type(…)`. */
export function isOptional(type: CelType): boolean {
  return type.kind === "opaque" && type.name === "optional_type";
}

/** Whether the type is known at run time only. */
export function isDyn(type: CelType): boolean {
  return type.kind === "dyn" || type.kind === "any";
}

/** Whether the type is known at run time only, or not at all: an error within the expression is reported already. */
export function isDynOrError(type: CelType): boolean {
  return type.kind === "error" || isDyn(type);
}

/** Whether two types have the same kind, name and parameters. */
export function sameType(left: CelType, right: CelType): boolean {
  if (left === right) return true;
  if (left.kind !== right.kind || left.name !== right.name || left.parameters.length !== right.parameters.length)
    return false;
  return left.parameters.every((parameter, index) => sameType(parameter, right.parameters[index] as CelType));
}

const shortNames = new Map<TypeKind, string>([
  ["null", "null"],
  ["any", "any"],
  ["timestamp", "timestamp"],
  ["duration", "duration"],
  ["error", "!error!"],
]);

/**
 * Formats a type for messages: `list(map(string, dyn))`, `wrapper(int)`, `timestamp`. Source:
 * cel-go, FormatCELType
 */
export function formatType(type: CelType): string {
  const short = shortNames.get(type.kind);
  if (short !== undefined) return short;
  if (type.kind === "wrapper") return `wrapper(${type.name})`;
  if (type.parameters.length === 0) return type.name;
  return `${type.name}(${type.parameters.map(formatType).join(", ")})`;
}
