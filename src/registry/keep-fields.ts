/** Restores fields of the existing object that an update must not change, and compares the others. */
import type { KubeObject, ObjectMeta } from "../apimachinery/object.ts";
import { addIntegers, identical, setMember } from "../lib/json/values.ts";
import { equalValues } from "../lib/schema/equal.ts";
import type { Struct } from "../lib/schema/schema.ts";

/**
 * Restores fields that an update must not change, and fills in those that it omits. Validation
 * rejects other changes.
 */
export function keepSystemFields(next: ObjectMeta, old: ObjectMeta): void {
  keep(next, old, "creationTimestamp");
  keep(next, old, "generation");
  if ((next.uid ?? "") === "") keep(next, old, "uid");
  if (old.deletionTimestamp !== undefined) next.deletionTimestamp = old.deletionTimestamp;
  if (next.deletionGracePeriodSeconds === undefined) keep(next, old, "deletionGracePeriodSeconds");
}

function keep<K extends keyof ObjectMeta>(next: ObjectMeta, old: ObjectMeta, field: K): void {
  if (old[field] === undefined) delete next[field];
  else next[field] = old[field];
}

/** Increments `metadata.generation`. */
export function raiseGeneration(meta: ObjectMeta): void {
  meta.generation = addIntegers(meta.generation ?? 0, 1);
}

/** Fields of every kind, which are not part of its content. */
const sharedFields: ReadonlySet<string> = new Set(["kind", "apiVersion", "metadata"]);

/** Whether anything except the metadata and the named field differs. */
export function contentDiffers(next: KubeObject, old: KubeObject, schema: Struct, except: string): boolean {
  const isContent = (field: string): boolean => !sharedFields.has(field) && field !== except;
  if (schema.custom !== undefined) {
    return [...Object.keys(next), ...Object.keys(old)].some(
      (field) => isContent(field) && !identical(own(next, field), own(old, field)),
    );
  }
  if (schema.fields.some(({ name, type }) => isContent(name) && !equalValues(own(next, name), own(old, name), type)))
    return true;
  if (!schema.preserveUnknown) return false;
  const isUnknown = (field: string): boolean => isContent(field) && !schema.byName.has(field);
  return [...Object.keys(next), ...Object.keys(old)].some(
    (field) => isUnknown(field) && !identical(own(next, field), own(old, field)),
  );
}

/**
 * Restores everything except the metadata and one field; the two objects share the restored parts.
 */
export function keepAllExcept(next: KubeObject, old: KubeObject, field: string): void {
  for (const name of Object.keys(next))
    if (!sharedFields.has(name) && name !== field && !Object.hasOwn(old, name)) delete next[name];
  for (const name of Object.keys(old)) if (!sharedFields.has(name) && name !== field) setMember(next, name, old[name]);
}

/** Restores one field. */
export function keepField(next: KubeObject, old: KubeObject, field: string): void {
  if (old[field] === undefined) delete next[field];
  else next[field] = old[field];
}

const own = (object: KubeObject, field: string): unknown => (Object.hasOwn(object, field) ? object[field] : undefined);
