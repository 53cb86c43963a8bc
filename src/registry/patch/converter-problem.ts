/**
 * Why a merged document does not fit its type, with the messages of the converter that upstream
 * uses for such documents. It visits the fields of the type, not of the document, and stops at the
 * first error. Source: k8s.io/apimachinery@v0.36.0/pkg/runtime/converter.go.
 */
import { DurationError, parseDuration } from "../../lib/duration/duration.ts";
import { goTypeOf } from "../../lib/json/go-value.ts";
import { type JsonNumber, toFloat } from "../../lib/json/number-literal.ts";
import { goKindOf } from "../../lib/json/parse.ts";
import { cloneJson, isObject } from "../../lib/json/values.ts";
import { canonicalQuantity, QuantityError } from "../../lib/quantity/quantity.ts";
import { Base64Error, canonicalizeBase64 } from "../../lib/schema/base64.ts";
import { conform, DecodeError } from "../../lib/schema/decode.ts";
import { type DecodeNode, goTypeName, type StructPlan, structPlan } from "../../lib/schema/decode-plan.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { canonicalizeMicroTime, canonicalizeTime, TimeError } from "../../lib/schema/time.ts";

/**
 * @param document the patched document
 * @returns undefined when the converter finds no error
 */
export function converterProblem(document: unknown, schema: Struct): string | undefined {
  return isObject(document) ? structProblem(document, structPlan(schema)) : undefined;
}

function structProblem(object: Record<string, unknown>, plan: StructPlan): string | undefined {
  for (const [name, { node }] of plan.fields) {
    const problem = Object.hasOwn(object, name) ? problemOf(object[name], node) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOf(value: unknown, node: DecodeNode): string | undefined {
  if (value === null || value === undefined) return undefined;
  switch (node.kind) {
    case "struct":
      return isObject(value) ? structProblem(value, node.struct) : `cannot restore struct from: ${kindOf(value)}`;
    case "map":
      return isObject(value)
        ? firstProblem(Object.values(value), node.element)
        : `cannot restore map from ${kindOf(value)}`;
    case "list":
      return Array.isArray(value) ? firstProblem(value, node.element) : `cannot restore slice from ${kindOf(value)}`;
    case "bytes":
      return bytesProblem(value);
    case "any":
      return formProblem(value, node);
    case "string":
    case "bool":
    case "int32":
    case "int64":
    case "double":
      return scalarProblem(value, node);
    default:
      return selfDecodingProblem(value, node.kind);
  }
}

function firstProblem(values: readonly unknown[], node: DecodeNode): string | undefined {
  for (const value of values) {
    const problem = problemOf(value, node);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Go's kind of a value in the document. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "slice";
  return isObject(value) ? "map" : goTypeOf(value);
}

/** The converter converts numbers without a fraction to integers, of which it keeps the lower bits. */
function scalarProblem(value: unknown, node: DecodeNode): string | undefined {
  const from = kindOf(value);
  const isNumber = from === "int64" || from === "float64";
  const toNumber = node.kind !== "string" && node.kind !== "bool";
  const isInteger = isNumber && (from === "int64" || Number.isInteger(toFloat(value as JsonNumber)));
  if (from === node.kind || (toNumber && (isInteger || (isNumber && node.kind === "double")))) return undefined;
  const convertible = (node.kind === "string" && from === "int64") || (toNumber && isNumber);
  return convertible
    ? `cannot convert ${from} to ${goTypeName(node)}`
    : `unrecognized type: ${node.kind === "double" ? "float64" : node.kind}`;
}

function bytesProblem(value: unknown): string | undefined {
  if (Array.isArray(value))
    return value.every((item) => kindOf(item) === "int64") ? undefined : "unrecognized type: uint8";
  if (typeof value !== "string") return `cannot restore slice from ${kindOf(value)}`;
  try {
    canonicalizeBase64(value);
    return undefined;
  } catch (error) {
    if (error instanceof Base64Error) return `error decoding from json: ${error.message}`;
    throw error;
  }
}

/**
 * A type with several forms, such as JSONSchemaPropsOrBool, decodes its JSON itself, without a path
 * in its errors.
 */
function formProblem(value: unknown, node: DecodeNode): string | undefined {
  const form = node.forms.find(({ kind }) => kind === "struct");
  if (form === undefined || !isObject(value)) return undefined;
  try {
    conform(cloneJson(value), form.type as Struct);
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
}

/** Types that decode their JSON themselves. */
function selfDecodingProblem(value: unknown, kind: DecodeNode["kind"]): string | undefined {
  if (kind === "intOrString") {
    if (typeof value === "string" || (typeof value === "number" && (value | 0) === value)) return undefined;
    const what = typeof value === "number" || typeof value === "bigint" ? `number ${value}` : goKindOf(value);
    return `json: cannot unmarshal ${what} into Go value of type int32`;
  }
  if (kind !== "quantity" && typeof value !== "string")
    return `json: cannot unmarshal ${goKindOf(value)} into Go value of type string`;
  try {
    decodeOwn(value, kind);
    return undefined;
  } catch (error) {
    if (error instanceof QuantityError || error instanceof TimeError || error instanceof DurationError)
      return error.message;
    throw error;
  }
}

function decodeOwn(value: unknown, kind: DecodeNode["kind"]): void {
  if (kind === "time") canonicalizeTime(value as string);
  else if (kind === "microtime") canonicalizeMicroTime(value as string);
  else if (kind === "duration") parseDuration(value as string);
  else
    canonicalQuantity(
      typeof value === "object" || typeof value === "boolean" ? "not a quantity" : (value as string | number | bigint),
    );
}
