/** The body of a server-side apply: YAML, which JSON is. Source: resource-api §4.10, §4.11; apiserver's patch handler. */
import { badRequest } from "../../apimachinery/errors.ts";
import { decodeAnyCbor } from "../../lib/cbor/decode.ts";
import { CborError } from "../../lib/cbor/wire.ts";
import { goKindOf, resolveLiterals } from "../../lib/json/parse.ts";
import { JsonSyntaxError } from "../../lib/json/syntax-error.ts";
import { decodeYaml, strictYamlError, YamlError } from "../../lib/yaml/decode.ts";
import type { FieldValidation } from "../contract.ts";
import { readPatchJson } from "./read-patch.ts";

export interface ApplyBody {
  /** Integers are a number while safe, a bigint beyond; a body of `null` is empty. Owned by the caller. */
  readonly value: Record<string, unknown>;
  /** Keys that are set twice: `line 4: key "a" already set in map`. */
  readonly strictErrors: readonly string[];
}

/** @throws ApiError 400 with upstream's text when it is no YAML, or no mapping */
export function readApplyBody(bytes: Buffer): ApplyBody {
  const value = readJson(bytes);
  return value === undefined ? readYaml(bytes) : { value, strictErrors: [] };
}

/** Keys that are set twice are refused whatever field validation says. @throws ApiError 400 with upstream's text, which speaks of YAML here too */
export function readCborApplyBody(bytes: Buffer): ApplyBody {
  try {
    return { value: decodeAnyCbor(bytes), strictErrors: [] };
  } catch (error) {
    if (error instanceof CborError) throw badRequest(`error decoding YAML: ${error.message}`);
    throw error;
  }
}

const openingBrace = 0x7b;

/** JSON is YAML, and ten times faster to read. @returns undefined for what YAML must read: anything odd, keys set twice among it */
function readJson(bytes: Buffer): Record<string, unknown> | undefined {
  if (bytes[0] !== openingBrace) return undefined;
  try {
    const { value, duplicates } = readPatchJson(bytes);
    return duplicates.length === 0 ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

function readYaml(bytes: Buffer): ApplyBody {
  try {
    const { value, strictErrors } = decodeYaml(bytes);
    if (value === null) return { value: {}, strictErrors };
    if (goKindOf(value) !== "object") {
      const why = `json: cannot unmarshal ${goKindOf(value)} into Go value of type map[string]interface {}`;
      throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`);
    }
    return { value: resolveLiterals(value) as Record<string, unknown>, strictErrors };
  } catch (error) {
    if (!(error instanceof YamlError) && !(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
}

/**
 * What field validation makes of keys that are set twice; upstream looks at them once the patch has been applied.
 * @param warnings receives them at level Warn
 * @throws ApiError 400 at level Strict
 */
export function checkStrictErrors(
  { strictErrors }: ApplyBody,
  fieldValidation: FieldValidation,
  warnings: string[],
): void {
  if (strictErrors.length === 0 || fieldValidation === "Ignore") return;
  if (fieldValidation === "Strict") {
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${strictYamlError(strictErrors)}`);
  }
  warnings.push(...strictErrors);
}
