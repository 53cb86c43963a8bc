/**
 * The last-applied annotation of client-side `kubectl apply`: fields that it contains are no
 * conflict for kubectl's server-side apply, which updates the annotation so that users can switch
 * back. See Kubernetes docs, Server-Side Apply, Upgrading from client-side apply.
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

/** The manager whose applies update the annotation. */
export const annotatingManager = "kubectl";

/** @returns the conflicts that the annotation does not resolve */
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

/**
 * The fields of the annotation that are unchanged; undefined when it is absent or cannot be parsed.
 */
function lastApplied({ object, version }: Versioned, schema: Struct): PathSet | undefined {
  const text = (object as KubeObject).metadata?.annotations?.[annotation] ?? "";
  const intent = text === "" ? undefined : readIntent(text);
  if (intent === undefined || intent.apiVersion !== version) return undefined;
  try {
    validateIntent(intent, schema);
    validateIntent(object, schema); // Upstream rejects duplicates of the live object here.
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

/**
 * Writes the intent into the annotation if it is not empty; removes it if the annotations would
 * become too long.
 */
export function renewLastApplied(object: KubeObject, intent: PlainMap): void {
  if ((object.metadata.annotations?.[annotation] ?? "") === "") return;
  const annotations = { ...object.metadata.annotations }; // The live object may share them.
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

/** The value with sorted keys, as Go writes maps. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  const result: PlainMap = {};
  for (const key of sortedKeys(value)) setMember(result, key, sorted(value[key]));
  return result;
}
