/** The query parameters of a write. */
import { dryRunOfQuery } from "../apimachinery/dry-run.ts";
import { invalid } from "../apimachinery/errors.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { validateFieldManager } from "../apimachinery/validation/metadata.ts";
import type { FieldValidation } from "./contract.ts";

/** The options of a create, update or patch, validated. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** Empty when absent. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** Only for apply. */
  readonly force: boolean;
}

const plainWrite: WriteOptions = { dryRun: false, fieldManager: "", fieldValidation: "Warn", force: false };

/** @throws ApiError 422 */
export function readWriteOptions(kind: "CreateOptions" | "UpdateOptions", query: URLSearchParams): WriteOptions {
  if (query.size === 0) return plainWrite;
  const errors = new FieldErrors();
  const options = readCommon(query, errors);
  throwInvalidOptions(kind, errors);
  return options;
}

/** @throws ApiError 422 */
export function readPatchOptions(query: URLSearchParams, { apply }: { readonly apply: boolean }): WriteOptions {
  const errors = new FieldErrors();
  if (apply && (query.get("fieldManager") ?? "") === "") errors.required("fieldManager", "is required for apply patch");
  if (!apply && query.has("force")) errors.forbidden("force", "may not be specified for non-apply patch");
  const options = readCommon(query, errors);
  throwInvalidOptions("PatchOptions", errors);
  return { ...options, force: readBoolean(query, "force") === true };
}

const levels = ["", "Ignore", "Strict", "Warn"];

function readCommon(query: URLSearchParams, errors: FieldErrors): WriteOptions {
  const fieldManager = query.get("fieldManager") ?? "";
  validateFieldManager(fieldManager, "fieldManager", errors);
  const dryRun = dryRunOfQuery(query);
  validateDryRun(dryRun, errors);
  const level = query.get("fieldValidation") ?? "";
  if (!levels.includes(level)) errors.notSupported("fieldValidation", level, levels);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: (level || "Warn") as FieldValidation,
    force: false,
  };
}

export function validateDryRun(values: readonly string[], errors: FieldErrors): void {
  if (values.some((value) => value !== "All")) errors.notSupported("dryRun", values, ["All"]);
}

/** @throws ApiError 422 when there is any error */
export function throwInvalidOptions(kind: string, errors: FieldErrors): void {
  if (!errors.empty) throw invalid("meta.k8s.io", kind, "", errors.causes);
}

/** Parses a boolean as upstream: present means true, except for `false` or `0`. */
export function readBoolean(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  return value === null ? undefined : value !== "0" && value.toLowerCase() !== "false";
}
