/**
 * Applies the result of a mutation to an object. Source: smd.go and json_patch.go in
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/mutating/patch.
 */
import { internalError, plainError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ObjectValue, typeNameErrors } from "../../cel-environment/mutation-types.ts";
import { CelList, type CelObject, type CelValue } from "../../lib/cel/index.ts";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { applyJsonPatch, JsonPatchError, type JsonPatchOperation } from "../../lib/json-patch/json-patch.ts";
import { DecodeError, decodeJson } from "../../lib/schema/decode.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { ForeignValue, merge, type PlainMap, TypedError, validateIntent } from "../../lib/structured-merge/index.ts";
import { atomicPaths } from "./atomic-paths.ts";
import { FieldError, goObjectOf } from "./go-values.ts";
import { JsonValueError, jsonOf } from "./json-values.ts";

/** A mutation that cannot be applied; the message is upstream's. */
export class MutationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MutationError";
  }
}

/**
 * Merges an apply configuration into an object.
 *
 * @param value the value of the expression
 * @param object is not changed
 * @returns a new object, without defaults, which may share parts with `object`
 * @throws MutationError, ApiError 500 for NaN and infinite numbers
 */
export function applyConfiguration(value: CelValue, object: KubeObject, schema: Struct): KubeObject {
  checkTypeNames(value);
  const { apiVersion, kind } = object;
  const intent = { ...intentOf(value), apiVersion, kind };
  attempt(conversionFailed, () => validateIntent(intent, schema));
  checkData(intent);
  const atomics = atomicPaths(intent, schema);
  if (atomics.length > 0)
    throw new MutationError(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(", ")}`,
    );
  return attempt("error applying patch: failed to merge patch", () => merge(object, intent, schema)) as KubeObject;
}

const conversionFailed = "error applying patch: failed to convert patch object to typed object";

function intentOf(value: CelValue): PlainMap {
  try {
    return value instanceof ObjectValue ? (goObjectOf(value) as PlainMap) : {};
  } catch (error) {
    if (error instanceof FieldError) throw new MutationError("invalid return type: *dynamic.ObjectVal");
    throw error;
  }
}

/** Checks data of any type, which the schema does not check. */
function checkData(value: unknown, path = ""): void {
  if (value instanceof ForeignValue)
    throw new MutationError(`${conversionFailed}: ${path}: expected map, got &{${value.plain}}`);
  if (typeof value === "number" && !Number.isFinite(value))
    throw plainError(`json: unsupported value: ${Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"}`);
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value))
    checkData(part, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`);
}

function attempt<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof TypedError) throw new MutationError(`${what}: ${error.message}`);
    throw error;
  }
}

/** @throws MutationError if a type of `Object{…}` does not match its position */
function checkTypeNames(value: CelValue, root?: string): void {
  const errors = typeNameErrors(value, root);
  if (errors.length > 0) throw new MutationError(`type mismatch: ${errors.join("\n")}`);
}

/**
 * Applies a JSON patch to an object.
 *
 * @param value the value of the expression
 * @param object is not changed
 * @returns a new object, or `object` if an operation `test` fails
 * @throws MutationError, ApiError 500 if the result is not an object of the kind
 */
export function applyPatch(value: CelValue, object: KubeObject, schema: Struct): KubeObject {
  const operations = value instanceof CelList ? operationsOf(value) : [];
  try {
    const patched = applyJsonPatch(object, operations) as KubeObject;
    if (schema.custom === undefined) checkStrictly(patched, schema);
    return patched;
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
    if (/\btest failed\b/.test(error.message)) return object;
    throw new MutationError(`JSON Patch: ${error.message}`);
  }
}

function operationsOf(list: CelList): JsonPatchOperation[] {
  return Array.from({ length: list.size }, (_, at) => {
    const operation = list.at(at) as CelObject;
    const text = (name: string): string => String(operation.field(name) ?? "");
    const [from, value] = [text("from"), operation.field("value")];
    if (value instanceof ObjectValue) checkTypeNames(value, value.typeName);
    return {
      op: text("op"),
      path: text("path"),
      ...(from !== "" && { from }),
      ...(value !== undefined && { value: patchValueOf(value) }),
    };
  });
}

/** @throws MutationError */
function patchValueOf(value: CelValue): unknown {
  try {
    return jsonOf(value);
  } catch (error) {
    if (!(error instanceof JsonValueError || error instanceof FieldError)) throw error;
    const message = "JSONPath valueExpression evaluated to a type that could not marshal to JSON";
    throw new MutationError(`${message}: ${error.message}`);
  }
}

/** @throws ApiError 500 */
function checkStrictly(object: KubeObject, schema: Struct): void {
  const problems = problemsOf(object, schema);
  if (problems.length > 0) throw internalError(`strict decoding error: ${problems.join(", ")}`);
}

function problemsOf(object: KubeObject, schema: Struct): readonly string[] {
  try {
    return decodeJson(Buffer.from(encodeAny(object)), schema).problems;
  } catch (error) {
    if (error instanceof DecodeError) throw internalError(error.message);
    throw error;
  }
}
