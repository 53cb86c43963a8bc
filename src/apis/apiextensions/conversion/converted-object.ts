/**
 * Checks objects that a webhook has converted: it may not change their identity and most of their
 * metadata.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/conversion/webhook_converter.go
 */
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { validateAnnotations, validateLabels } from "../../../apimachinery/validation/metadata.ts";
import { goTypeOf } from "../../../lib/json/go-value.ts";
import { isObject } from "../../../lib/json/values.ts";

/** @returns upstream's message if the name, the namespace or the uid differs */
export function identityProblem(original: KubeObject, converted: Record<string, unknown>): string | undefined {
  const before = original.metadata;
  const after = isObject(converted.metadata) ? converted.metadata : {};
  const rows = [
    ["name", before.name, after.name],
    ["namespace", before.namespace, after.namespace],
    ["UID", before.uid, after.uid],
  ] as const;
  for (const [what, expected, received] of rows) {
    if (textOf(expected) !== textOf(received))
      return `must have the same ${what}: ${textOf(expected)} != ${textOf(received)}`;
  }
  return undefined;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * Restores the metadata except labels and annotations, which the webhook may change.
 *
 * @param original is not changed, but shares parts with the converted object afterwards
 * @returns upstream's message if the metadata is invalid
 */
export function restoreMetadata(original: KubeObject, converted: Record<string, unknown>): string | undefined {
  const { metadata: sent } = converted;
  if (sent === undefined) return "missing metadata in converted object";
  if (!isObject(sent)) return `invalid metadata of type ${goTypeOf(sent)} in converted object`;
  const metadata: Record<string, unknown> = { ...original.metadata };
  for (const field of ["labels", "annotations"] as const) {
    const { [field]: texts } = sent;
    if (texts === undefined || texts === null) {
      delete metadata[field];
      continue;
    }
    const problem = textsProblem(field, texts, original.metadata[field]);
    if (problem !== undefined) return problem;
    metadata[field] = texts;
  }
  converted.metadata = metadata;
  return undefined;
}

function textsProblem(
  field: "labels" | "annotations",
  texts: unknown,
  before: Readonly<Record<string, string>> = {},
): string | undefined {
  if (!isObject(texts)) return `invalid metadata.${field} of type ${goTypeOf(texts)} in converted object`;
  const entries = Object.entries(texts);
  const other = entries.find(([, value]) => typeof value !== "string");
  if (other !== undefined)
    return `metadata.${field}[${other[0]}] must be a string, but is ${other[1] === null ? "<nil>" : goTypeOf(other[1])} in converted object`;
  const isSame =
    Object.keys(before).length === entries.length &&
    entries.every(([key, value]) => Object.hasOwn(before, key) && before[key] === value);
  return isSame ? undefined : invalidTexts(field, texts as Record<string, string>);
}

function invalidTexts(field: "labels" | "annotations", texts: Record<string, string>): string | undefined {
  const errors = new FieldErrors();
  if (field === "labels") validateLabels(texts, "metadata.labels", errors);
  else validateAnnotations(texts, "metadata.annotation", errors); // The path is upstream's.
  return errors.empty ? undefined : errors.text;
}
