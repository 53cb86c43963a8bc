/** JSON Merge Patch (RFC 7386). */
import { badRequest } from "../../apimachinery/errors.ts";
import { encodeAny, encodeSorted } from "../../lib/json/encode-any.ts";
import { keepSpellings } from "../../lib/json/number-literal.ts";
import { goKindOf, JsonSyntaxError, type ParsedJson } from "../../lib/json/parse.ts";
import { encodeMerged } from "../../lib/json-patch/encode-patched.ts";
import { applyMergePatch } from "../../lib/json-patch/merge-patch.ts";
import type { FieldValidation } from "../contract.ts";
import { asWritten } from "./as-written.ts";
import type { Patched, Patcher } from "./contract.ts";
import { readPatchJson } from "./read-patch.ts";

/** The body is parsed when the object exists: 404 comes first. */
export function mergePatcher(body: Buffer, fieldValidation: FieldValidation): Patcher {
  return {
    createsMissing: false,
    keepsType: false,
    apply({ current, schema }): Patched {
      const { value, duplicates } = readPatch(body, fieldValidation);
      const isWhole = Array.isArray(value); // A patch that is not an object replaces the document.
      const document = applyMergePatch(isWhole ? undefined : current, value);
      const encode = schema.custom === undefined ? encodeAny : encodeSorted;
      const describe = (): string => encodeMerged(isWhole ? undefined : asWritten({ current, schema }), value, encode);
      return { document, problems: duplicates, describe };
    },
  };
}

/**
 * @throws ApiError 400 when it is not an object; without field validation, a list is accepted, too
 */
function readPatch(body: Buffer, fieldValidation: FieldValidation): ParsedJson {
  const isChecked = fieldValidation !== "Ignore";
  const checkShape = (value: unknown): void => {
    if (goKindOf(value) === "object" || (!isChecked && Array.isArray(value))) return;
    if (value === null || !isChecked) throw badRequest("Invalid JSON Patch");
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goKindOf(value)} into Go value of type map[string]interface {}`,
    );
  };
  try {
    const { value, duplicates } = readPatchJson(body, checkShape);
    return { value: keepSpellings(value, { isBounded: isChecked }), duplicates };
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw badRequest(isChecked ? `error decoding patch: ${error.message}` : "Invalid JSON Patch");
    throw error;
  }
}
