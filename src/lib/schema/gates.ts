/**
 * Fields behind feature gates: dropped on write while the gate is off, unless the stored object
 * uses them.
 */
import type { Field, Struct, Type } from "./schema.ts";
import { structsWithin } from "./structs-within.ts";

/**
 * Removes, in place, each field whose gates are all off, unless `old` has the field at the same
 * path of the schema. List indexes and map keys do not matter, so that a moved item keeps its
 * fields.
 * @param old the object as stored; undefined on create
 */
export function dropDisabledFields(
  next: object,
  old: object | undefined,
  schema: Struct,
  enabled: (gate: string) => boolean,
): void {
  for (const path of gatedPaths(schema)) {
    const { gates } = path.at(-1) as Field;
    if (gates?.some(enabled)) continue;
    if (old === undefined || !uses(old, schema, path)) drop(next, schema, path);
  }
}

/** The fields from the root to one that has gates. */
type FieldPath = readonly Field[];

// Depends on the schema alone, and is garbage-collected with it.
const pathsBySchema = new WeakMap<Struct, readonly FieldPath[]>();

function gatedPaths(schema: Struct): readonly FieldPath[] {
  let paths = pathsBySchema.get(schema);
  if (paths === undefined) {
    paths = schema.custom === undefined ? [...pathsBelow(schema, [], new Set())] : [];
    pathsBySchema.set(schema, paths);
  }
  return paths;
}

/**
 * @param within the structs that contain this one; a recursive type has the same gates at each
 *   level
 */
function* pathsBelow(type: Type, path: FieldPath, within: ReadonlySet<string>): Generator<FieldPath> {
  if (type.kind === "list") yield* pathsBelow(type.items, path, within);
  else if (type.kind === "map") yield* pathsBelow(type.values, path, within);
  else if (type.kind === "struct" && !within.has(type.definition)) {
    const inner = new Set(within).add(type.definition);
    for (const field of type.fields) {
      const below = [...path, field];
      if (field.gates !== undefined) yield below;
      yield* pathsBelow(field.type, below, inner);
    }
  }
}

function uses(holder: unknown, type: Type, [field, ...rest]: FieldPath): boolean {
  if (field === undefined) return true;
  for (const struct of structsWithin(holder, type)) {
    const value = struct[field.name];
    if (value !== undefined && uses(value, field.type, rest)) return true;
  }
  return false;
}

function drop(holder: unknown, type: Type, [field, ...rest]: FieldPath): void {
  if (field === undefined) return;
  for (const struct of structsWithin(holder, type)) {
    const value = struct[field.name];
    if (value === undefined) continue;
    if (rest.length === 0) delete struct[field.name];
    else if (rest.length === 1 && rest[0]?.dropsHolder === true && holdsOnly(value, rest[0].name))
      delete struct[field.name];
    else drop(value, field.type, rest);
  }
}

function holdsOnly(holder: unknown, name: string): boolean {
  const members = typeof holder === "object" && holder !== null ? Object.keys(holder) : [];
  return members.length === 1 && members[0] === name;
}
