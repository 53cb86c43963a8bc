/** Formats CEL values as CEL expressions and as JSON. */

import {
  CelDouble,
  CelDuration,
  CelList,
  CelMap,
  CelObject,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  formatSeconds,
  formatTimestamp,
} from "../../lib/cel/index.ts";
import { formatGoFloat } from "../../lib/json/go-value.ts";
import { InputError } from "./documents.ts";

/**
 * Limit of the elements of a printed list; concatenation creates lists of any length at low cost.
 */
const shownMax = 1_000_000;

function elementsOf(list: CelList): CelValue[] {
  if (list.size > shownMax)
    throw new InputError(`the value has a list of ${list.size} elements, which is too long to print`);
  return Array.from({ length: list.size }, (_, at) => list.at(at));
}

/** Formats a value as an expression: `{"a": [1, 2u, 1.5]}`, `duration("1s")`, `optional.of(1)`. */
export function formatValue(value: CelValue): string {
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "boolean" || typeof value === "number" || typeof value === "bigint") return String(value);
  if (value instanceof CelUint) return `${value.value}u`;
  if (value instanceof CelDouble)
    return Number.isInteger(value.value) && Math.abs(value.value) < 1e6
      ? `${value.value}.0`
      : formatGoFloat(value.value);
  if (value instanceof Uint8Array) return `b"${[...value].map(formatByte).join("")}"`;
  if (value instanceof CelList) return `[${elementsOf(value).map(formatValue).join(", ")}]`;
  if (value instanceof CelMap)
    return `{${entriesOf(value)
      .map(([key, member]) => `${formatValue(key)}: ${formatValue(member)}`)
      .join(", ")}}`;
  if (value instanceof CelTimestamp) return `timestamp(${JSON.stringify(formatTimestamp(value))})`;
  if (value instanceof CelDuration) return `duration(${JSON.stringify(formatSeconds(value.nanoseconds))})`;
  if (value instanceof CelTypeValue) return value.name;
  if (value instanceof CelOptional)
    return value.value === undefined ? "optional.none()" : `optional.of(${formatValue(value.value)})`;
  if (value instanceof CelObject) return `${value.typeName}{}`;
  return `${value.type.name}(${JSON.stringify(String(value))})`;
}

function formatByte(byte: number): string {
  return byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
    ? String.fromCharCode(byte)
    : `\\x${byte.toString(16).padStart(2, "0")}`;
}

function entriesOf(map: CelMap): [CelValue, CelValue][] {
  return map.keys().map((key) => [key, map.find(key) as CelValue]);
}

/**
 * Formats a value as JSON: bytes as base64; times, durations, infinities, NaN and keys as strings;
 * `optional.none()` as null. Integers keep all digits.
 */
export function jsonOf(value: CelValue): string {
  if (value instanceof CelUint) return String(value.value);
  if (typeof value === "bigint") return String(value);
  if (value instanceof CelDouble)
    return Number.isFinite(value.value) ? JSON.stringify(value.value) : JSON.stringify(formatGoFloat(value.value));
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString("base64"));
  if (value instanceof CelList) return `[${elementsOf(value).map(jsonOf).join(",")}]`;
  if (value instanceof CelMap)
    return `{${entriesOf(value)
      .map(([key, member]) => `${JSON.stringify(keyText(key))}:${jsonOf(member)}`)
      .join(",")}}`;
  if (value instanceof CelTimestamp) return JSON.stringify(formatTimestamp(value));
  if (value instanceof CelDuration) return JSON.stringify(formatSeconds(value.nanoseconds));
  if (value instanceof CelOptional) return value.value === undefined ? "null" : jsonOf(value.value);
  if (value instanceof CelTypeValue) return JSON.stringify(value.name);
  return typeof value === "object" && value !== null ? JSON.stringify(String(value)) : JSON.stringify(value);
}

function keyText(key: CelValue): string {
  return typeof key === "string" ? key : formatValue(key).replace(/u$/, "");
}
