/** Sets the defaults that a schema declares. Source: `+default` markers of the API types. */
import { cloneJson, setMember } from "../json/values.ts";
import type { Field, Struct, Type } from "./schema.ts";

/**
 * Sets declared defaults of absent fields, in place. As in upstream's generated defaulters, an
 * empty value of a field that is not a pointer counts as absent.
 */
export function applyDefaults(object: object, schema: Struct): void {
  // The decoder sets defaults of custom resources.
  if (schema.custom === undefined) defaulter(schema)?.(object as Record<string, unknown>);
}

type Defaulter = (object: Record<string, unknown>) => void;

// Depends on the schema alone, and is garbage-collected with it. Undefined when there are no
// defaults.
const defaulters = new WeakMap<Struct, Defaulter | undefined>();

function defaulter(schema: Struct): Defaulter | undefined {
  if (defaulters.has(schema)) return defaulters.get(schema);
  const made = hasDefaults(schema, new Set()) ? makeDefaulter(schema) : undefined;
  defaulters.set(schema, made);
  return made;
}

/** @param seen structs that were visited already, for recursive types */
function hasDefaults(type: Type, seen: Set<string>): boolean {
  if (type.kind === "list") return hasDefaults(type.items, seen);
  if (type.kind === "map") return hasDefaults(type.values, seen);
  if (type.kind !== "struct" || seen.has(type.definition)) return false;
  seen.add(type.definition);
  return type.fields.some((field) => field.default !== undefined || hasDefaults(field.type, seen));
}

function makeDefaulter(schema: Struct): Defaulter {
  const own = schema.fields.filter((field) => field.default !== undefined);
  const below = schema.fields.filter((field) => hasDefaults(field.type, new Set()));
  return (object) => {
    for (const field of own) if (isUnset(object, field)) setMember(object, field.name, cloneJson(field.default));
    for (const field of below) {
      const value = Object.hasOwn(object, field.name) ? object[field.name] : undefined;
      applyWithin(value, field.type);
    }
  };
}

function isUnset(object: Record<string, unknown>, field: Field): boolean {
  const value = Object.hasOwn(object, field.name) ? object[field.name] : undefined;
  if (value === undefined || value === null) return true;
  return !field.pointer && (value === "" || value === 0 || value === false);
}

/** Sets defaults in a struct itself, or in the structs of a list or map. */
function applyWithin(value: unknown, type: Type): void {
  if (typeof value !== "object" || value === null) return;
  if (type.kind === "struct") defaulter(type)?.(value as Record<string, unknown>);
  else if (type.kind === "list") for (const item of value as unknown[]) applyWithin(item, type.items);
  else if (type.kind === "map") for (const item of Object.values(value)) applyWithin(item, type.values);
}
