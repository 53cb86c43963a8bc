/** Strategic merge patch, driven by the schema's merge keys. */
import { type ApiError, badRequest, plainError, unprocessable } from "../../apimachinery/errors.ts";
import { formatGoValue } from "../../lib/json/go-value.ts";
import { asGoNumbers, asReadAgain } from "../../lib/json/number-literal.ts";
import { goKindOf, JsonSyntaxError } from "../../lib/json/parse.ts";
import { cloneJson } from "../../lib/json/values.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { applyStrategicMergePatch, StrategicMergeError } from "../../lib/strategic-merge/strategic-merge.ts";
import type { Patched, Patcher } from "./contract.ts";
import { converterProblem } from "./converter-problem.ts";
import { readPatchJson } from "./read-patch.ts";

/** The body is parsed when the object exists: 404 comes first. */
export function strategicMergePatcher(body: Buffer): Patcher {
  return {
    createsMissing: false,
    keepsType: true,
    apply({ current, schema }): Patched {
      const { value: patch, duplicates, hasFloats } = readPatch(body);
      const merged = applyPatch(current as object, patch, schema);
      const document = keepType(merged === patch ? { ...patch } : merged, current as object);
      return {
        // Upstream converts a float without a fraction to an integer.
        document: hasFloats ? asReadAgain(cloneJson(document)) : document,
        problems: duplicates,
        describe: () => formatGoValue(patch),
        problem: () => converterProblem(document, schema),
      };
    },
  };
}

/** Upstream patches the fields of a Go type, so that `kind` and `apiVersion` cannot change it. */
function keepType(document: unknown, current: object): unknown {
  if (typeof document !== "object" || document === null) return document;
  for (const field of ["kind", "apiVersion"]) {
    const patched: unknown = Reflect.get(document, field);
    if (patched === undefined || typeof patched === "string") Reflect.set(document, field, Reflect.get(current, field));
  }
  return document;
}

interface StrategicPatch {
  /** With Go's types of numbers. */
  readonly value: Record<string, unknown>;
  readonly duplicates: string[];
  readonly hasFloats: boolean;
}

/** @throws ApiError 400 when it is not an object */
function readPatch(body: Buffer): StrategicPatch {
  try {
    const { value, duplicates, repeated } = readPatchJson(body, (sent) => {
      if (sent === null || goKindOf(sent) === "object") return;
      throw badRequest(`json: cannot unmarshal ${goKindOf(sent)} into Go value of type map[string]interface {}`);
    });
    const hasFloats = repeated !== undefined;
    const typed = hasFloats ? asGoNumbers(value) : value;
    return { value: (typed ?? {}) as Record<string, unknown>, duplicates, hasFloats };
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(error.message);
    throw error;
  }
}

function applyPatch(current: object, patch: Record<string, unknown>, schema: Struct): unknown {
  try {
    return applyStrategicMergePatch(current, patch, schema);
  } catch (error) {
    if (error instanceof StrategicMergeError) throw toApiError(error);
    throw error;
  }
}

function toApiError(error: StrategicMergeError): ApiError {
  switch (error.fault) {
    case "format":
      return badRequest(error.message);
    case "unprocessable":
      return unprocessable();
    case "unforeseen":
      return plainError(error.message);
  }
}
