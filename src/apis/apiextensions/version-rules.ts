/**
 * Validates the columns, subresources, selectable fields and deprecation warnings of versions.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apis/apiextensions/validation/validation.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { isPrintable } from "../../lib/json/quote.ts";
import { findField } from "../../lib/structural-schema/field-path.ts";
import type { StructuralSchema } from "../../lib/structural-schema/structural-schema.ts";
import type { PrinterColumn, ScaleSubresource, SelectableField, Subresources } from "./definition.ts";
import { goPointer } from "./go-form.ts";
import { selectableFieldsMax } from "./requirements.ts";

/** Sorted, as messages list them. */
const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

export function checkColumn(
  { name = "", type = "", format = "", jsonPath = "" }: PrinterColumn,
  path: string,
  errors: FieldErrors,
): void {
  if (name === "") errors.required(`${path}.name`);
  const types = `must be one of ${columnTypes.join(",")}`;
  if (type === "") errors.required(`${path}.type`, types);
  else if (!columnTypes.includes(type)) errors.invalid(`${path}.type`, type, types);
  if (format !== "" && !columnFormats.includes(format))
    errors.invalid(`${path}.format`, format, `must be one of ${columnFormats.join(",")}`);
  if (jsonPath === "") errors.required(`${path}.JSONPath`);
  else checkSimplePath(jsonPath, `${path}.JSONPath`, errors);
}

/** @returns whether the path starts with a dot */
function checkSimplePath(text: string, path: string, errors: FieldErrors): boolean {
  if (text.startsWith(".")) return true;
  errors.invalid(path, text, "must be a simple json path starting with .");
  return false;
}

export function checkSubresources({ scale }: Subresources, path: string, errors: FieldErrors): void {
  if (scale === undefined) return;
  checkScalePath(scale, "specReplicasPath", { within: [".spec."], path }, errors);
  checkScalePath(scale, "statusReplicasPath", { within: [".status."], path }, errors);
  if (scale.labelSelectorPath)
    checkScalePath(scale, "labelSelectorPath", { within: [".spec.", ".status."], path }, errors);
}

function checkScalePath(
  scale: ScaleSubresource,
  field: keyof ScaleSubresource,
  { within, path }: { within: readonly string[]; path: string },
  errors: FieldErrors,
): void {
  const text = scale[field] ?? "";
  const fieldPath = `${path}.scale.${field}`;
  if (text === "") errors.required(fieldPath);
  else if (checkSimplePath(text, fieldPath, errors) && !within.some((start) => text.startsWith(start))) {
    const places = within.map((start) => start.slice(0, -1));
    const shown = field === "labelSelectorPath" ? goPointer(text) : text;
    errors.invalid(
      fieldPath,
      shown,
      `should be a json path under ${places.length === 1 ? places[0] : `either ${places.join(" or ")}`}`,
    );
  }
}

const selectableTypes = ["string", "boolean", "integer"];

/** @param mayBeMany whether the stored version exceeds the limit already */
export function checkSelectableFields(
  fields: readonly SelectableField[],
  schema: StructuralSchema,
  { path, mayBeMany }: { path: string; mayBeMany: boolean },
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [index, { jsonPath = "" }] of fields.entries()) {
    const fieldPath = `${path}[${index}].jsonPath`;
    if (jsonPath === "") {
      errors.required(fieldPath);
      continue;
    }
    const found = findField(jsonPath, schema, { arrayNotation: false });
    if (found.error !== undefined) {
      errors.invalid(fieldPath, jsonPath, `is an invalid path: ${found.error}`);
      continue;
    }
    if (found.root === "metadata") errors.invalid(fieldPath, jsonPath, "must not point to fields in metadata");
    if (!selectableTypes.includes(found.schema?.type ?? "")) {
      const why =
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
      errors.invalid(fieldPath, jsonPath, why);
    }
    if (seen.has(found.path)) errors.duplicate(fieldPath, jsonPath);
    seen.add(found.path);
  }
  if (seen.size > selectableFieldsMax && !mayBeMany) errors.tooMany(path, seen.size, selectableFieldsMax);
}

const warningBytesMax = 256;

/** @returns the messages of all problems */
export function deprecationWarningProblems(deprecated: boolean, warning: string | undefined): string[] {
  if (warning === undefined) return [];
  if (!deprecated) return ["can only be set for deprecated versions"];
  const problems: string[] = [];
  if (Buffer.byteLength(warning) > warningBytesMax) problems.push("must be <= 256 characters long");
  if (warning === "") problems.push("must not be an empty string");
  let offset = 0;
  for (const character of warning) {
    if (!isPrintable(character)) {
      problems.push(`must only contain printable UTF-8 characters; non-printable character found at index ${offset}`);
      break;
    }
    offset += Buffer.byteLength(character);
  }
  return problems;
}
