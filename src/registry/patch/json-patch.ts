/** JSON Patch (RFC 6902). */
import { badRequest, tooLarge, unprocessable } from "../../apimachinery/errors.ts";
import type { Member } from "../../lib/json/exact.ts";
import { keepSpellings } from "../../lib/json/number-literal.ts";
import { goKindOf, JsonSyntaxError, type ParsedJson } from "../../lib/json/parse.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { encodePatched, openAll, type PatchNotes, patchNotes } from "../../lib/json-patch/encode-patched.ts";
import { applyJsonPatch, JsonPatchError, type JsonPatchOperation } from "../../lib/json-patch/json-patch.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import type { FieldValidation } from "../contract.ts";
import { asWritten } from "./as-written.ts";
import type { Patched, Patcher } from "./contract.ts";
import { readPatchJson } from "./read-patch.ts";

const operationsMax = 10_000;

/** The body is parsed when the object exists: 404 comes first. */
export function jsonPatcher(body: Buffer, fieldValidation: FieldValidation): Patcher {
  let read: Operations | undefined;
  const operationsOfBody = (): Operations => {
    read ??= readOperations(body, fieldValidation);
    return read;
  };
  return {
    createsMissing: false,
    keepsType: false,
    read: () => void operationsOfBody(),
    apply(target): Patched {
      const sent = operationsOfBody();
      const { operations, problems } = sent;
      const current = asWritten(target);
      const document = applyOperations(current, operations);
      const hasRepeats = sent.repeated.size > 0;
      return { document, problems, hasRepeats, describe: () => describe(current, target.schema, sent) };
    },
  };
}

function applyOperations(current: unknown, operations: readonly JsonPatchOperation[], notes?: PatchNotes): unknown {
  try {
    return applyJsonPatch(current, operations, notes);
  } catch (error) {
    if (error instanceof JsonPatchError) throw unprocessable();
    throw error;
  }
}

/**
 * The patched document for an error. Custom resources are encoded with sorted keys, also before the
 * patch.
 */
function describe(current: unknown, schema: Struct, { operations, repeated }: Operations): string {
  const notes = patchNotes(repeated);
  if (schema.custom !== undefined) openAll(current, notes);
  return encodePatched(applyOperations(current, operations, notes), notes);
}

interface Operations {
  readonly operations: readonly JsonPatchOperation[];
  readonly problems: readonly string[];
  /** For each object with repeated keys, all members in order. */
  readonly repeated: ReadonlyMap<object, readonly Member[]>;
}

/** @throws ApiError 400 when it is not a list of operations, 413 when it is too long */
function readOperations(body: Buffer, fieldValidation: FieldValidation): Operations {
  // Without field validation, upstream decodes the body into another type, which finds fewer
  // errors.
  const isChecked = fieldValidation !== "Ignore";
  const [listType, itemType, prefix] = isChecked
    ? ["[]handlers.jsonPatchOp", "handlers.jsonPatchOp", "error decoding patch: "]
    : ["jsonpatch.Patch", "jsonpatch.Operation", ""];
  const typeError = (value: unknown, type: string): Error =>
    badRequest(`${prefix}json: cannot unmarshal ${goKindOf(value)} into Go value of type ${type}`);
  const parsed = parse(body, prefix, (value) => {
    if (value !== null && !Array.isArray(value)) throw typeError(value, listType);
  });
  const list = (parsed.value ?? []) as readonly unknown[];
  const wrong = list.find((item) => item !== null && (typeof item !== "object" || Array.isArray(item)));
  if (wrong !== undefined) throw typeError(wrong, itemType);
  const problems = isChecked ? checkOperations(list, parsed) : [];
  keepNumbers(list, isChecked);
  if (list.length > operationsMax) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${operationsMax}, got ${list.length}`);
  }
  const operations = list.map((item) => (item ?? {}) as JsonPatchOperation);
  return { operations, problems, repeated: parsed.repeated ?? new Map() };
}

/** @throws ApiError 400 when a number is checked, and has no double */
function keepNumbers(list: readonly unknown[], isChecked: boolean): void {
  try {
    keepSpellings(list, { isBounded: isChecked });
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(`error decoding patch: ${error.message.replace("Go value", "Go struct field jsonPatchOp.value")}`);
  }
}

function parse(body: Buffer, prefix: string, checkShape: (value: unknown) => void): ParsedJson {
  try {
    return readPatchJson(body, checkShape);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(prefix + error.message);
    throw error;
  }
}

const textMembers = ["op", "path", "from"];

/**
 * @returns unknown and repeated fields, in the order of the text
 * @throws ApiError 400
 */
function checkOperations(list: readonly unknown[], { repeated, duplicates }: ParsedJson): string[] {
  const problems = new Set<string>();
  for (const [index, item] of list.entries()) {
    if (item === null) continue;
    const within = duplicates.filter((problem) => problem.startsWith(`duplicate field "[${index}].value`));
    const seen = new Set<string>();
    for (const [name, value] of repeated?.get(item as object) ?? Object.entries(item as object)) {
      const place = (): string => quoteGo(`[${index}].${name}`);
      if (name !== "value" && !textMembers.includes(name)) {
        problems.add(`json patch unknown field ${place()}`);
        continue;
      }
      if (seen.has(name)) problems.add(`json patch duplicate field ${place()}`);
      seen.add(name);
      if (name !== "value") checkText(name, value);
      else
        for (const problem of within)
          if (problem !== `duplicate field ${place()}`) problems.add(`json patch ${problem}`);
    }
  }
  return [...problems].slice(0, problemsMax);
}

/** Upstream's decoder reports no more. */
const problemsMax = 100;

function checkText(name: string, value: unknown): void {
  if (value === null || typeof value === "string") return;
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${goKindOf(value)} into Go struct field jsonPatchOp.${name} of type string`,
  );
}
