/**
 * Table columns of custom resources.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/registry/customresource/tableconvertor/tableconvertor.go
 */

import { creationDescription, nameColumn, since } from "../../catalog/common-columns.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { encodeSorted } from "../../lib/json/encode-any.ts";
import { formatGoFloat, formatGoValue } from "../../lib/json/go-value.ts";
import { isNumber, toFloat } from "../../lib/json/number-literal.ts";
import { NumberLiteral, TextByte } from "../../lib/jsonpath/index.ts";
import { columnFinder } from "./column-finder.ts";
import type { PrinterColumn } from "./definition.ts";

const defaultColumns: readonly PrinterColumn[] = [
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", description: creationDescription },
];

/**
 * @param columns the printer columns of a version; if empty, the table shows the age
 * @returns the name column and the columns before the first one with an invalid path
 */
export function customColumns(columns: readonly PrinterColumn[]): readonly Column[] {
  const converted: Column[] = [nameColumn];
  for (const column of columns.length === 0 ? defaultColumns : columns) {
    const find = columnFinder(column.jsonPath ?? "");
    if (find === undefined) break;
    converted.push(columnOf(column, find));
  }
  return converted;
}

function columnOf(
  { name = "", type = "", format = "", description = "", priority = 0, jsonPath = "" }: PrinterColumn,
  find: (object: unknown) => unknown,
): Column {
  return {
    name,
    type: type as Column["type"], // Validation rejects other types.
    format,
    description:
      description === "" ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : description,
    priority,
    value: (object) => cellOf(type, find(object)),
  };
}

/** @returns undefined for a missing value, and for one whose type differs from its column's */
function cellOf(type: string, value: unknown): unknown {
  if (value === undefined) return undefined;
  switch (type) {
    case "string":
      return printed(value);
    case "integer":
      return isNumber(value) ? (typeof value === "bigint" ? value : Math.trunc(toFloat(value))) : undefined;
    case "number":
      return isNumber(value) ? toFloat(value) : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    default:
      return typeof value === "string" ? ageOf(value) : undefined;
  }
}

function printed(value: unknown): string {
  if (value === null) return "<no value>";
  if (value instanceof TextByte) return String(value.value);
  if (value instanceof NumberLiteral) return value.isFloat ? formatGoFloat(value.value) : String(value.value);
  return typeof value === "object" ? encodeSorted(value) : formatGoValue(value);
}

function ageOf(text: string): unknown {
  if (text === "" || text === "null") return "<unknown>";
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
    ? since(text)
    : "<invalid>";
}
