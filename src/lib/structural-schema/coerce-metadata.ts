/**
 * Decodes the metadata of embedded resources as ObjectMeta, and removes or rejects values that do
 * not fit.
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/objectmeta/coerce.go
 */
import { asReadAgain } from "../json/number-literal.ts";
import { cloneJson, isObject, setMember } from "../json/values.ts";
import { conform, DecodeError } from "../schema/decode.ts";
import { isOmitted } from "../schema/encode.ts";
import type { Struct } from "../schema/schema.ts";
import type { JsonObject } from "./json-object.ts";
import { sortKeys } from "./sort-keys.ts";
import { childPath, keyPath, type StructuralSchema } from "./structural-schema.ts";

/** What happens to values that do not fit: `keep` leaves them to validation, which reports them. */
export type InvalidFields = "reject" | "drop" | "keep";

/** How metadata is coerced. */
export interface CoerceOptions {
  /** ObjectMeta's schema. */
  readonly objectMeta: Struct;
  readonly invalid: InvalidFields;
  /** Receives the paths of unknown fields of metadata, which are removed in any case. */
  readonly noteUnknown?: (path: string) => void;
}

interface CoerceProblem {
  readonly path: string;
  readonly value: unknown;
  readonly detail: string;
}

/**
 * Coerces the metadata of every embedded resource.
 * @param value plain JSON, changed in place
 * @param path empty at the root of a resource
 * @returns the first rejected value, if any
 */
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
  return isObject(value) ? coerceFields(value, schema, path, options) : undefined;
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
  if (options.invalid === "keep") return undefined;
  if (options.invalid === "reject")
    return { path: childPath(path, name), value: sortKeys(object[name]), detail: "must be a string" };
  delete object[name];
  return undefined;
}

/**
 * Also removes metadata that is not an object. Upstream cannot read such objects, nor lists of
 * them.
 */
function coerceEmbeddedMeta(object: JsonObject, path: string, options: CoerceOptions): CoerceProblem | undefined {
  const problem = coerceObjectMeta(object, path, options);
  if (options.invalid === "drop" && !isObject(object.metadata)) delete object.metadata;
  return problem;
}

/**
 * Coerces the metadata of one object.
 * @param object plain JSON, whose `metadata` is replaced
 * @returns the rejected value, if any
 */
export function coerceObjectMeta(object: JsonObject, path: string, options: CoerceOptions): CoerceProblem | undefined {
  const { metadata } = object;
  const whole = decodeMeta(metadata, path, options);
  if (typeof whole !== "string") setMember(object, "metadata", whole);
  else if (options.invalid === "reject") return { path, value: sortKeys(metadata), detail: whole };
  else if (options.invalid === "drop" && isObject(metadata))
    setMember(object, "metadata", fieldByField(metadata, path, options));
  return undefined;
}

/** Decodes metadata as upstream, which encodes it first. Returns Go's message when it does not fit. */
function decodeMeta(metadata: unknown, path: string, { objectMeta, noteUnknown }: CoerceOptions): JsonObject | string {
  try {
    const { object, problems } = conform(asReadAgain(cloneJson(metadata ?? {})), objectMeta);
    omitEmpty(object, objectMeta);
    for (const problem of problems) noteUnknown?.(`${path}.${/"(.*)"/s.exec(problem)?.[1] ?? ""}`);
    return object;
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
}

/**
 * Removes empty fields, because upstream encodes metadata as ObjectMeta, with its `omitempty` tags.
 */
function omitEmpty(metadata: JsonObject, { byName }: Struct): void {
  for (const name of Object.keys(metadata)) {
    const field = byName.get(name);
    if (field !== undefined && isOmitted(field, metadata[name])) delete metadata[name];
  }
}

/** Decodes each field separately and keeps those that fit. */
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

/** Whether the schema or a nested one is an embedded resource; computed once. */
export function hasEmbedded(schema: StructuralSchema): boolean {
  const cached = embedded.get(schema);
  if (cached !== undefined) return cached;
  const { items, additionalProperties: values } = schema;
  const has =
    schema.embeddedResource ||
    (items !== undefined && hasEmbedded(items)) ||
    (typeof values === "object" && hasEmbedded(values)) ||
    [...schema.properties.values()].some(hasEmbedded);
  embedded.set(schema, has);
  return has;
}
