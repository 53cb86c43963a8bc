/** JSON Patch (RFC 6902). Source: resource-api §4.5; apiserver's patch handler. */
import { badRequest, tooLarge, unprocessable } from "../../api/errors.ts";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { goKindOf, JsonSyntaxError, type ParsedJson } from "../../lib/json/parse.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { applyJsonPatch, JsonPatchError, type JsonPatchOperation } from "../../lib/json-patch/json-patch.ts";
import type { FieldValidation } from "../contract.ts";
import type { Patched, Patcher } from "./contract.ts";
import { readPatchJson } from "./read-patch.ts";

const operationsMax = 10_000;

/** The body is read when there is something to patch: 404 comes first. */
export function jsonPatcher(body: Buffer, fieldValidation: FieldValidation): Patcher {
  return {
    createsMissing: false,
    apply({ current }): Patched {
      const { operations, problems } = readOperations(body, fieldValidation);
      const document = applyOperations(current, operations);
      return { document, problems, describe: () => encodeAny(document), explain: (why) => why };
    },
  };
}

function applyOperations(current: unknown, operations: readonly JsonPatchOperation[]): unknown {
  try {
    return applyJsonPatch(current, operations);
  } catch (error) {
    if (error instanceof JsonPatchError) throw unprocessable();
    throw error;
  }
}

interface Operations {
  readonly operations: readonly JsonPatchOperation[];
  readonly problems: readonly string[];
}

/** @throws ApiError 400 when it is no list of operations, 413 when it is too long */
function readOperations(body: Buffer, fieldValidation: FieldValidation): Operations {
  // Upstream reads the body with another type, and says less, when it does not look for mistakes.
  const [listType, itemType, prefix] =
    fieldValidation === "Ignore"
      ? ["jsonpatch.Patch", "jsonpatch.Operation", ""]
      : ["[]handlers.jsonPatchOp", "handlers.jsonPatchOp", "error decoding patch: "];
  const refuse = (value: unknown, type: string): Error =>
    badRequest(`${prefix}json: cannot unmarshal ${goKindOf(value)} into Go value of type ${type}`);
  const { value, duplicates } = parse(body, prefix);
  if (value !== null && !Array.isArray(value)) throw refuse(value, listType);
  const list: readonly unknown[] = value ?? [];
  if (list.length > operationsMax) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${operationsMax}, got ${list.length}`);
  }
  const problems = duplicates.map((problem) => `json patch ${problem}`);
  for (const [index, item] of list.entries()) {
    if (item !== null && (typeof item !== "object" || Array.isArray(item))) throw refuse(item, itemType);
    checkMembers(item ?? {}, prefix);
    problems.push(...unknownMembers(item ?? {}, index));
  }
  return { operations: list.map((item) => (item ?? {}) as JsonPatchOperation), problems };
}

function parse(body: Buffer, prefix: string): ParsedJson {
  try {
    return readPatchJson(body);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(prefix + error.message);
    throw error;
  }
}

const textMembers = ["op", "path", "from"];

function checkMembers(item: object, prefix: string): void {
  for (const name of textMembers) {
    const value: unknown = (item as Record<string, unknown>)[name];
    if (value === undefined || value === null || typeof value === "string") continue;
    throw badRequest(`${prefix}json: cannot unmarshal ${goKindOf(value)} into Go struct field jsonPatchOp.${name} of type string`);
  }
}

function unknownMembers(item: object, index: number): string[] {
  const unknown = Object.keys(item).filter((name) => name !== "value" && !textMembers.includes(name));
  return unknown.map((name) => `json patch unknown field ${quoteGo(`[${index}].${name}`)}`);
}
