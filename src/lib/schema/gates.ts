/**
 * Fields behind feature gates: dropped on write while the gate is off, unless the stored object
 * uses them.
 * Source: Kubernetes docs, "Feature Gates"; "Changing the API" in https://github.com/kubernetes/community.
 */
import { isEmpty } from "./encode.ts";
import type { Field, Struct, Type } from "./schema.ts";

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
  dropIn(next as Record<string, unknown>, branchesOf(schema), { old, schema, enabled });
}

interface Rules {
  readonly old: object | undefined;
  readonly schema: Struct;
  readonly enabled: (gate: string) => boolean;
}

/** The fields from the root to one that has gates. */
type FieldPath = readonly Field[];

/** A field that has gates, or contains fields that have. */
interface Branch {
  readonly field: Field;
  readonly path: FieldPath;
  readonly below: readonly Branch[];
}

// Depends on the schema alone, and is garbage-collected with it.
const branchesBySchema = new WeakMap<Struct, readonly Branch[]>();

function branchesOf(schema: Struct): readonly Branch[] {
  let branches = branchesBySchema.get(schema);
  if (branches === undefined) {
    branches = schema.custom === undefined ? branchesBelow(schema, [], new Set()) : [];
    branchesBySchema.set(schema, branches);
  }
  return branches;
}

/**
 * @param within the structs that contain this one; a recursive type has the same gates at each
 *   level
 */
function branchesBelow(type: Type, path: FieldPath, within: ReadonlySet<string>): Branch[] {
  if (type.kind === "list") return branchesBelow(type.items, path, within);
  if (type.kind === "map") return branchesBelow(type.values, path, within);
  if (type.kind !== "struct" || within.has(type.definition)) return [];
  const inner = new Set(within).add(type.definition);
  return type.fields
    .map((field) => ({ field, path: [...path, field], below: branchesBelow(field.type, [...path, field], inner) }))
    .filter(({ field, below }) => field.gates !== undefined || below.length > 0);
}

function uses(holder: unknown, type: Type, [field, ...rest]: FieldPath): boolean {
  if (field === undefined) return true;
  for (const struct of structsWithin(holder, type)) {
    const value = struct[field.name];
    if (value !== undefined && uses(value, field.type, rest)) return true;
  }
  return false;
}

/** @returns whether the holder of the struct must drop it */
function dropIn(struct: Record<string, unknown>, branches: readonly Branch[], rules: Rules): boolean {
  for (const { field, path, below } of branches) {
    const value = struct[field.name];
    if (value === undefined) continue;
    if (isDropped(path, rules)) {
      delete struct[field.name];
      if (field.dropsHolder === true && isEmpty(struct)) return true;
    } else if (below.length > 0 && dropBelow(value, field.type, below, rules)) delete struct[field.name];
  }
  return false;
}

function dropBelow(value: unknown, type: Type, branches: readonly Branch[], rules: Rules): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (type.kind === "struct") return dropIn(value as Record<string, unknown>, branches, rules);
  if (type.kind === "list") for (const item of value as unknown[]) dropBelow(item, type.items, branches, rules);
  else if (type.kind === "map") for (const item of Object.values(value)) dropBelow(item, type.values, branches, rules);
  return false;
}

function isDropped(path: FieldPath, { old, schema, enabled }: Rules): boolean {
  const { gates } = path.at(-1) as Field;
  return gates !== undefined && !gates.some(enabled) && (old === undefined || !uses(old, schema, path));
}

/** Yields a struct itself, or the structs in a list or map (or in a list of lists …). */
function* structsWithin(value: unknown, type: Type): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  if (type.kind === "struct") yield value as Record<string, unknown>;
  else if (type.kind === "list") for (const item of value as unknown[]) yield* structsWithin(item, type.items);
  else if (type.kind === "map") for (const item of Object.values(value)) yield* structsWithin(item, type.values);
}
