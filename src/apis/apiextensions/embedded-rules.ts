/**
 * Validates the type and the metadata of embedded resources.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/objectmeta/validation.go
 */
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { type ObjectMeta, parseGroupVersion } from "../../apimachinery/object.ts";
import { validateObjectMeta } from "../../apimachinery/validation/metadata.ts";
import { cloneJson, isObject } from "../../lib/json/values.ts";
import { dns1035LabelProblems, pathSegmentNameProblems } from "../../lib/names/names.ts";
import { conform, DecodeError } from "../../lib/schema/decode.ts";
import { hasEmbedded } from "../../lib/structural-schema/coerce-metadata.ts";
import type { JsonObject } from "../../lib/structural-schema/json-object.ts";
import { sortKeys } from "../../lib/structural-schema/sort-keys.ts";
import { childPath, keyPath, type StructuralSchema } from "../../lib/structural-schema/structural-schema.ts";
import { objectMetaSchema } from "./prune-defaults.ts";

/** @param path empty for the root of a resource */
export function validateEmbedded(value: unknown, schema: StructuralSchema, path: string, errors: FieldErrors): void {
  if (!hasEmbedded(schema)) return;
  const { items, additionalProperties: values } = schema;
  if (Array.isArray(value)) {
    if (items !== undefined)
      for (const [index, item] of value.entries()) validateEmbedded(item, items, `${path}[${index}]`, errors);
    return;
  }
  if (!isObject(value)) return;
  if (schema.embeddedResource) validateResource(value, path, errors);
  for (const name of Object.keys(value)) {
    const property = schema.properties.get(name);
    if (property !== undefined) validateEmbedded(value[name], property, childPath(path, name), errors);
    else if (typeof values === "object") validateEmbedded(value[name], values, keyPath(path, name), errors);
  }
}

function validateResource(object: JsonObject, path: string, errors: FieldErrors): void {
  for (const name of ["apiVersion", "kind"]) if (!Object.hasOwn(object, name)) errors.required(childPath(path, name));
  const { apiVersion, kind, metadata } = object;
  if (Object.hasOwn(object, "apiVersion")) validateApiVersion(apiVersion, childPath(path, "apiVersion"), errors);
  if (Object.hasOwn(object, "kind")) validateKind(kind, childPath(path, "kind"), errors);
  if (Object.hasOwn(object, "metadata")) validateMetadata(metadata, childPath(path, "metadata"), errors);
}

function validateApiVersion(apiVersion: unknown, path: string, errors: FieldErrors): void {
  if (typeof apiVersion !== "string") errors.invalid(path, sortKeys(apiVersion), "must be a string");
  else if (apiVersion === "") errors.invalid(path, apiVersion, "must not be empty");
  else if (parseGroupVersion(apiVersion) === undefined)
    errors.invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
}

function validateKind(kind: unknown, path: string, errors: FieldErrors): void {
  if (typeof kind !== "string") errors.invalid(path, sortKeys(kind), "must be a string");
  else if (kind === "") errors.invalid(path, kind, "must not be empty");
  else {
    const problems = dns1035LabelProblems(kind.toLowerCase());
    if (problems.length > 0)
      errors.invalid(path, kind, `may have mixed case, but should otherwise match: ${problems.join(",")}`);
  }
}

function validateMetadata(metadata: unknown, path: string, errors: FieldErrors): void {
  let meta: ObjectMeta;
  try {
    meta = conform(cloneJson(metadata ?? {}), objectMetaSchema()).object as ObjectMeta;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    errors.invalid(path, sortKeys(metadata), error.message);
    return;
  }
  if ((meta.name ?? "") === "") meta.name = "fakename"; // The name of an embedded resource is optional.
  const found = new FieldErrors();
  const namespaced = (meta.namespace ?? "") !== "";
  validateObjectMeta(meta, { namespaced, validateName: pathSegmentNameProblems, custom: true }, found);
  for (const cause of found.causes)
    errors.causes.push({ ...cause, field: cause.field?.replace(/^metadata/, () => path) ?? path });
}

/** Formats a problem as the text of a field error. */
export function problemText({ path, value, detail }: { path: string; value: unknown; detail: string }): string {
  const errors = new FieldErrors();
  errors.invalid(path, value, detail);
  return errors.text;
}
