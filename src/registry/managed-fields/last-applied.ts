/**
 * The annotation of `kubectl apply` without `--server-side`: what it says was applied is no conflict for kubectl's own server-side apply, which keeps
 * it current so that one can go back. Source: resource-api §4.11 point 12; apimachinery's managedfields.
 */

import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateAnnotations } from "../../apimachinery/validation/metadata.ts";
import { encodeAny, sortedKeys } from "../../lib/json/encode-any.ts";
import { JsonSyntaxError, parseJson } from "../../lib/json/parse.ts";
import { cloneJson, setMember } from "../../lib/json/values.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { compare } from "../../lib/structured-merge/compare.ts";
import { fieldSetOf } from "../../lib/structured-merge/field-set.ts";
import { difference, isEmpty, type PathSet, union } from "../../lib/structured-merge/set.ts";
import { isMap, type PlainMap, TypedError } from "../../lib/structured-merge/typed.ts";
import type { ManagerConflict, Versioned } from "../../lib/structured-merge/updater.ts";
import { validateIntent } from "../../lib/structured-merge/validate.ts";

const annotation = "kubectl.kubernetes.io/last-applied-configuration";

/** The one manager that is known to have written the annotation. */
export const annotatingManager = "kubectl";

/** @returns the conflicts that the annotation does not explain */
export function unexplained(
  conflicts: readonly ManagerConflict[],
  live: Versioned,
  schema: Struct,
): readonly ManagerConflict[] {
  const applied = lastApplied(live, schema);
  if (applied === undefined) return conflicts;
  return conflicts
    .map(({ manager, set }) => ({ manager, set: difference(set, applied) }))
    .filter(({ set }) => !isEmpty(set));
}

/** What was applied by the annotation and is still as it was; undefined when the annotation is not there or cannot be read. */
function lastApplied({ object, version }: Versioned, schema: Struct): PathSet | undefined {
  const text = (object as KubeObject).metadata?.annotations?.[annotation] ?? "";
  const intent = text === "" ? undefined : readIntent(text);
  if (intent === undefined || intent.apiVersion !== version) return undefined;
  try {
    validateIntent(intent, schema);
    validateIntent(object, schema); // Upstream tolerates no duplicates of the live object's here.
    const { modified, added, removed } = compare(intent, object, schema, "left");
    return difference(fieldSetOf(intent, schema), union(union(modified, added), removed));
  } catch (error) {
    if (error instanceof TypedError) return undefined;
    throw error;
  }
}

function readIntent(text: string): PlainMap | undefined {
  try {
    const { value } = parseJson(Buffer.from(text));
    return isMap(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/** Writes the intent into the annotation if the object has one that is not empty; takes it away when the annotations would become too long. */
export function renewLastApplied(object: KubeObject, intent: PlainMap): void {
  if ((object.metadata.annotations?.[annotation] ?? "") === "") return;
  const annotations = { ...object.metadata.annotations }; // The live object may have the same ones.
  object.metadata.annotations = annotations;
  const copy = cloneJson(intent);
  const { metadata } = copy;
  if (isMap(metadata)) {
    if (isMap(metadata.annotations)) delete metadata.annotations[annotation];
    else delete metadata.annotations;
  }
  annotations[annotation] = `${encodeAny(sorted(copy))}\n`;
  const errors = new FieldErrors();
  validateAnnotations(annotations, "metadata.annotations", errors);
  if (!errors.empty) delete annotations[annotation];
}

/** With all members in order, as Go writes maps. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  const result: PlainMap = {};
  for (const key of sortedKeys(value)) setMember(result, key, sorted(value[key]));
  return result;
}
