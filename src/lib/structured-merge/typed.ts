/**
 * How the merge treats a value: as a leaf, as a map of named fields, or as an associative list.
 * Source: structured-merge-diff's schema and typed packages; KEP-555.
 */
import { isObject, setMember } from "../json/values.ts";
import { unsetValueOf } from "../schema/zero.ts";
import type { Field, List, MapType, Struct, Type } from "./schema.ts";

/** A plain JSON object. */
export type PlainMap = Record<string, unknown>;

/** The levels of nesting that the merge walks; deeper values are rejected. */
export const depthMax = 1000;

/**
 * A value that does not fit its schema, such as duplicate items in an apply, list items without
 * keys, or too many levels. The message is upstream's.
 */
export class TypedError extends Error {
  override readonly name = "TypedError";
}

/** @throws TypedError beyond `depthMax` */
export function checkDepth(depth: number): void {
  if (depth > depthMax) throw new TypedError("exceeded max depth");
}

/** A value that the merge walks; every other value is a leaf. */
type Granular = { readonly form: "map"; readonly type: MapLike } | { readonly form: "list"; readonly type: List };

/** Undefined for a map that no schema describes. */
export type MapLike = Struct | MapType | undefined;

/** Definitions whose content is merged by its form: maps by key, the rest as a whole. */
const deducedDefinitions = new Set(["io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", ""]);

/** The type of values that no schema describes. */
export const deduced: Type = { kind: "any", definition: "" };

const deducedMap: Granular = { form: "map", type: undefined };
const granularTypes = new WeakMap<Type, Granular>();

/** @returns undefined when a value of this type is a leaf: owned and replaced as a whole */
export function granular(type: Type, value: unknown): Granular | undefined {
  switch (type.kind) {
    case "struct":
    case "map":
      return type.atomic ? undefined : granularOf(type, () => (hasNoFields(type) ? deducedMap : { form: "map", type }));
    case "list":
      return type.listType === "atomic" ? undefined : granularOf(type, () => ({ form: "list", type }));
    case "any":
      return isDeduced(type) && isObject(value) ? deducedMap : undefined;
    default:
      return undefined;
  }
}

/** Upstream's schema of a struct without fields is that of a map, which may have any entries. */
export function hasNoFields(type: Type): boolean {
  return type.kind === "struct" && type.fields.length === 0;
}

/** Computed once per type. */
function granularOf(type: Type, make: () => Granular): Granular {
  let made = granularTypes.get(type);
  if (made === undefined) {
    made = make();
    granularTypes.set(type, made);
  }
  return made;
}

function isDeduced(type: Type): boolean {
  return type.kind === "any" && deducedDefinitions.has(type.definition);
}

/** Whether values of a type are owned as a whole. */
export function isWhole(type: Type): boolean {
  return type.kind === "list"
    ? type.listType === "atomic"
    : (type.kind === "struct" || type.kind === "map") && type.atomic;
}

/** How Go describes a value. */
export interface ForeignTexts {
  /** As `%v` formats it. */
  readonly plain: string;
  /** As `%#v` formats it. */
  readonly syntax: string;
  /** The name of its type. */
  readonly goType: string;
}

/**
 * A value of a Go type that has no form in JSON, in an intent that an expression created. It fits no
 * type; the messages about it contain its texts.
 */
export class ForeignValue implements ForeignTexts {
  readonly plain: string;
  readonly syntax: string;
  readonly goType: string;
  constructor({ plain, syntax, goType }: ForeignTexts) {
    this.plain = plain;
    this.syntax = syntax;
    this.goType = goType;
  }
}

export { isObject as isMap };

export function isEmptyMap(value: PlainMap): boolean {
  for (const _name in value) return false;
  return true;
}

/** The value of an own field; safe for names such as `__proto__`. */
export function fieldOf(value: PlainMap, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A shallow copy. */
export function copyMap(value: PlainMap): PlainMap {
  return { ...value };
}

export { setMember };

/** The type of a field of a struct, or of an entry of a map. */
export function fieldType(type: MapLike, name: string): Type {
  if (type === undefined) return deduced;
  if (type.kind === "map") return type.values;
  return type.byName.get(name)?.type ?? deduced;
}

/** Whether the name is one of a struct's declared fields. */
export function isDeclared(type: MapLike, name: string): boolean {
  return type !== undefined && type.kind === "struct" && type.byName.has(name);
}

/**
 * The value that Go serializes for a field. Absent fields without `omitempty` have their zero
 * values, and empty values of fields with `omitempty` are absent. Ownership depends on this form.
 *
 * @param value undefined when the field is not set. Null is a value: the decoder removes nulls that
 *   have no meaning.
 * @returns undefined when Go omits the field; null for Go's nil
 */
export function serialized(field: Field, value: unknown): unknown {
  if (value === undefined) return unsetValueOf(field);
  return value !== null && field.omitEmpty && !field.pointer && isGoEmpty(field.type, value) ? undefined : value;
}

const serializingWhenEmpty = new WeakMap<Struct, boolean>();

/** Whether Go serializes any field of an empty struct. */
export function serializesWhenEmpty(type: Struct): boolean {
  let result = serializingWhenEmpty.get(type);
  if (result === undefined) {
    result = type.fields.some((field) => unsetValueOf(field) !== undefined);
    serializingWhenEmpty.set(type, result);
  }
  return result;
}

function isGoEmpty(type: Type, value: unknown): boolean {
  switch (typeof value) {
    case "string":
      return value === "" && (type.kind === "string" || type.kind === "bytes");
    case "number":
      return value === 0 && type.kind !== "intOrString";
    case "boolean":
      return !value;
    case "object":
      if (Array.isArray(value)) return value.length === 0;
      return type.kind === "map" && isEmptyMap(value as PlainMap);
    default:
      return false;
  }
}

/**
 * A copy of a value in the form that Go serializes: with every zero value that Go writes, and
 * without the empty fields that it omits. A null field counts as absent.
 * @throws TypedError beyond `depthMax` levels
 */
export function asSerialized(value: unknown, type: Type, depth = 0): unknown {
  checkDepth(depth);
  if (type.kind === "list" && Array.isArray(value))
    return value.map((item) => asSerialized(item, type.items, depth + 1));
  if (!isObject(value) || (type.kind !== "struct" && type.kind !== "map")) return value;
  const result: PlainMap = {};
  if (type.kind === "struct") {
    for (const field of type.fields) {
      const part = serialized(field, fieldOf(value, field.name) ?? undefined);
      if (part !== undefined) setMember(result, field.name, asSerialized(part, field.type, depth + 1));
    }
  }
  for (const name of Object.keys(value)) {
    if (!isDeclared(type, name)) setMember(result, name, asSerialized(value[name], fieldType(type, name), depth + 1));
  }
  return result;
}
