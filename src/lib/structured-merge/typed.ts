/**
 * How a value is seen by the merge: as a leaf, a map of named fields, or an associative list.
 * Source: structured-merge-diff's schema and typed packages; KEP-555.
 */
import { setMember } from "../json/values.ts";
import type { Field, List, MapType, Struct, Type } from "../schema/schema.ts";
import { unsetOf } from "../schema/zero.ts";

export type PlainMap = Record<string, unknown>;

/** Levels of nesting that are walked. */
export const depthMax = 1000;

/** Thrown for values that do not fit: duplicates in an apply, list items without keys, too many levels. The text is upstream's. */
export class TypedError extends Error {}

/** @throws TypedError beyond `depthMax` */
export function checkDepth(depth: number): void {
  if (depth > depthMax) throw new TypedError("exceeded max depth");
}

/** What the merge looks into; everything else is a leaf. */
export type Granular =
  | { readonly form: "map"; readonly type: MapLike }
  | { readonly form: "list"; readonly type: List };

/** Undefined for a map that no schema describes. */
export type MapLike = Struct | MapType | undefined;

/** Types whose content is merged by what it looks like: maps by key, the rest as a whole. */
const deducedDefinitions = new Set(["io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", ""]);

/** The type of what no schema describes. */
export const deduced: Type = { kind: "any", definition: "" };

const deducedMap: Granular = { form: "map", type: undefined };
const granularTypes = new WeakMap<Type, Granular>();

/** @returns undefined when a value of this type is a leaf: owned and replaced as a whole */
export function granular(type: Type, value: unknown): Granular | undefined {
  switch (type.kind) {
    case "struct":
    case "map":
      return type.atomic ? undefined : granularOf(type, () => ({ form: "map", type }));
    case "list":
      return type.listType === "atomic" ? undefined : granularOf(type, () => ({ form: "list", type }));
    case "any":
      return isDeduced(type) && isMap(value) ? deducedMap : undefined;
    default:
      return undefined;
  }
}

/** Made once for each type. */
function granularOf(type: Type, make: () => Granular): Granular {
  let made = granularTypes.get(type);
  if (made === undefined) {
    made = make();
    granularTypes.set(type, made);
  }
  return made;
}

export function isDeduced(type: Type): boolean {
  return type.kind === "any" && deducedDefinitions.has(type.definition);
}

export function isMap(value: unknown): value is PlainMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isEmptyMap(value: PlainMap): boolean {
  for (const _name in value) return false;
  return true;
}

/** An own field, whatever its name. */
export function fieldOf(value: PlainMap, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A copy of one level. */
export function copyMap(value: PlainMap): PlainMap {
  return { ...value };
}

export { setMember };

/** The type of one field of a map or struct. */
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
 * What Go would show of a field, given what our plain object has: zero values of fields that are always written, nothing for empty values of
 * fields that are written only when set. Ownership comes out as it does there that way.
 * @param value undefined when the field is not set. Null is a value: decoding takes it away where it means nothing.
 * @returns undefined when Go would show no such field; null for its nil
 */
export function shown(field: Field, value: unknown): unknown {
  if (value === undefined) return unsetOf(field);
  return value !== null && field.omitEmpty && !field.pointer && isGoEmpty(field.type, value) ? undefined : value;
}

const alwaysShown = new WeakMap<Struct, boolean>();

/** Whether Go shows a field of an empty struct. */
export function showsAlways(type: Struct): boolean {
  let shows = alwaysShown.get(type);
  if (shows === undefined) {
    shows = type.fields.some((field) => unsetOf(field) !== undefined);
    alwaysShown.set(type, shows);
  }
  return shows;
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
 * A value with all that Go would show of it, and nothing else: null in a field is as good as nothing.
 * @throws TypedError beyond `depthMax` levels
 */
export function asShown(value: unknown, type: Type, depth = 0): unknown {
  checkDepth(depth);
  if (type.kind === "list" && Array.isArray(value)) return value.map((item) => asShown(item, type.items, depth + 1));
  if (!isMap(value) || (type.kind !== "struct" && type.kind !== "map")) return value;
  const result: PlainMap = {};
  if (type.kind === "struct") {
    for (const field of type.fields) {
      const part = shown(field, fieldOf(value, field.name) ?? undefined);
      if (part !== undefined) setMember(result, field.name, asShown(part, field.type, depth + 1));
    }
  }
  for (const name of Object.keys(value)) {
    if (!isDeclared(type, name)) setMember(result, name, asShown(value[name], fieldType(type, name), depth + 1));
  }
  return result;
}
