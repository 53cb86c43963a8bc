/**
 * Brings the metadata of embedded resources into the form of ObjectMeta, and removes or refuses what does not fit it.
 * Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/objectmeta
 */
import { cloneJson, setMember } from "../json/values.ts";
import { conform, DecodeError } from "../schema/decode.ts";
import { isOmitted } from "../schema/encode.ts";
import type { Struct } from "../schema/schema.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { sortKeys } from "./sort-keys.ts";
import { childPath, keyPath, type StructuralSchema } from "./structural-schema.ts";

export interface CoerceOptions {
  /** ObjectMeta's schema. */
  readonly objectMeta: Struct;
  /** Leaves out what does not fit, where it would be refused otherwise. */
  readonly dropInvalidFields: boolean;
  /** Leaves an `apiVersion` or `kind` that is null to validation. */
  readonly leavesNulls?: boolean;
  /** Takes the paths of unknown fields of metadata; they are removed either way. */
  readonly noteUnknown?: (path: string) => void;
}

export interface CoerceProblem {
  readonly path: string;
  readonly value: unknown;
  readonly detail: string;
}

/** @param value plain JSON, changed in place @param path empty at the root of a resource @returns the first value that is refused */
export function coerceMetadata(
  value: unknown,
  schema: StructuralSchema,
  path: string,
  options: CoerceOptions,
): CoerceProblem | undefined {
  if (!hasEmbedded(schema)) return undefined;
  if (Array.isArray(value))
    return firstProblem(value.entries(), ([index, item]) =>
      coerceWithin(item, schema.items, `${path}[${index}]`, options),
    );
  return isJsonObject(value) ? coerceFields(value, schema, path, options) : undefined;
}

function coerceWithin(
  value: unknown,
  schema: StructuralSchema | undefined,
  path: string,
  options: CoerceOptions,
): CoerceProblem | undefined {
  return schema === undefined ? undefined : coerceMetadata(value, schema, path, options);
}

function firstProblem<T>(
  values: Iterable<T>,
  check: (value: T) => CoerceProblem | undefined,
): CoerceProblem | undefined {
  for (const value of values) {
    const problem = check(value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function coerceFields(
  object: JsonObject,
  schema: StructuralSchema,
  path: string,
  options: CoerceOptions,
): CoerceProblem | undefined {
  return firstProblem(Object.keys(object), (name) => {
    const problem = schema.embeddedResource ? coerceMetaField(object, name, path, options) : undefined;
    if (problem !== undefined) return problem;
    const property = schema.properties.get(name);
    if (property !== undefined) return coerceMetadata(object[name], property, childPath(path, name), options);
    const values = schema.additionalProperties;
    return typeof values === "object" ? coerceMetadata(object[name], values, keyPath(path, name), options) : undefined;
  });
}

function coerceMetaField(
  object: JsonObject,
  name: string,
  path: string,
  options: CoerceOptions,
): CoerceProblem | undefined {
  if (name === "metadata") return coerceEmbeddedMeta(object, childPath(path, name), options);
  if ((name !== "apiVersion" && name !== "kind") || typeof object[name] === "string") return undefined;
  if (options.leavesNulls === true && object[name] === null) return undefined;
  if (!options.dropInvalidFields)
    return { path: childPath(path, name), value: sortKeys(object[name]), detail: "must be a string" };
  delete object[name];
  return undefined;
}

/** What is no metadata at all can go, too: upstream cannot read such objects any more, nor the list that they are in. */
function coerceEmbeddedMeta(object: JsonObject, path: string, options: CoerceOptions): CoerceProblem | undefined {
  const problem = coerceObjectMeta(object, path, options);
  if (options.dropInvalidFields && !isJsonObject(object.metadata)) delete object.metadata;
  return problem;
}

/** @param object whose `metadata` is brought into form */
export function coerceObjectMeta(object: JsonObject, path: string, options: CoerceOptions): CoerceProblem | undefined {
  const { metadata } = object;
  const whole = decodeMeta(metadata, path, options);
  if (typeof whole !== "string") setMember(object, "metadata", whole);
  else if (!options.dropInvalidFields) return { path, value: sortKeys(metadata), detail: whole };
  else if (isJsonObject(metadata)) setMember(object, "metadata", fieldByField(metadata, path, options));
  return undefined;
}

/** @returns Go's message where it does not fit */
function decodeMeta(metadata: unknown, path: string, { objectMeta, noteUnknown }: CoerceOptions): JsonObject | string {
  try {
    const { object, problems } = conform(cloneJson(metadata ?? {}), objectMeta);
    omitEmpty(object, objectMeta);
    for (const problem of problems) noteUnknown?.(`${path}.${/"(.*)"/s.exec(problem)?.[1] ?? ""}`);
    return object;
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
}

/** Upstream writes metadata as ObjectMeta, without `labels` that are none, whatever the rest of the object keeps. */
function omitEmpty(metadata: JsonObject, { byName }: Struct): void {
  for (const name of Object.keys(metadata)) {
    const field = byName.get(name);
    if (field !== undefined && isOmitted(field, metadata[name])) delete metadata[name];
  }
}

/** Whatever fits on its own. */
function fieldByField(metadata: JsonObject, path: string, options: CoerceOptions): JsonObject {
  const kept: JsonObject = {};
  for (const name of Object.keys(metadata)) {
    const single: JsonObject = {};
    setMember(single, name, metadata[name]);
    const decoded = decodeMeta(single, path, options);
    if (typeof decoded !== "string" && Object.hasOwn(decoded, name)) setMember(kept, name, decoded[name]);
  }
  return kept;
}

const embedded = new WeakMap<StructuralSchema, boolean>();

/** Whether there is an embedded resource at or below. Found out once. */
export function hasEmbedded(schema: StructuralSchema): boolean {
  const known = embedded.get(schema);
  if (known !== undefined) return known;
  const { items, additionalProperties: values } = schema;
  const has =
    schema.embeddedResource ||
    (items !== undefined && hasEmbedded(items)) ||
    (typeof values === "object" && hasEmbedded(values)) ||
    [...schema.properties.values()].some(hasEmbedded);
  embedded.set(schema, has);
  return has;
}
