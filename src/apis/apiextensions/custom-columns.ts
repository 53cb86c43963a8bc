/** What tables show of custom resources. Source: k8s.io/apiextensions-apiserver pkg/registry/customresource/tableconvertor */

import { nameColumn, since } from "../../catalog/common-columns.ts";
import type { Column } from "../../catalog/contract.ts";
import { encodeSorted } from "../../lib/json/encode-any.ts";
import { formatGoFloat, formatGoValue } from "../../lib/json/go-value.ts";
import { NumberLiteral, TextByte } from "../../lib/jsonpath/index.ts";
import { isNumber } from "../../lib/structural-schema/validate/go-numbers.ts";
import { columnFinder } from "./column-path.ts";
import type { PrinterColumn } from "./definition.ts";

const creationDescription =
  "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

const defaultColumns: readonly PrinterColumn[] = [
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", description: creationDescription },
];

/** @param columns of a version; empty for the ages alone @returns those before the first whose path cannot be read */
export function customColumns(columns: readonly PrinterColumn[]): readonly Column[] {
  const made: Column[] = [nameColumn];
  for (const column of columns.length === 0 ? defaultColumns : columns) {
    const find = columnFinder(column.jsonPath ?? "");
    if (find === undefined) break;
    made.push(columnOf(column, find));
  }
  return made;
}

function columnOf(
  { name = "", type = "", format = "", description = "", priority = 0, jsonPath = "" }: PrinterColumn,
  find: (object: unknown) => unknown,
): Column {
  return {
    name,
    type: type as Column["type"], // Validation has refused others.
    format,
    description:
      description === "" ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : description,
    priority,
    value: (object) => cellOf(type, find(object)),
  };
}

/** Null where the value has another type than its column. @param value undefined where there is none */
function cellOf(type: string, value: unknown): unknown {
  if (value === undefined) return undefined;
  switch (type) {
    case "string":
      return printed(value);
    case "integer":
      return isNumber(value) ? (typeof value === "number" ? Math.trunc(value) : value) : undefined;
    case "number":
      return isNumber(value) ? Number(value) : undefined;
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
