/**
 * Types of values, and membership in an enumeration.
 * Source: k8s.io/kube-openapi pkg/validation/validate, type.go and validator.go
 */
import { encodeSorted } from "../../json/encode-any.ts";
import { isNumber, type JsonNumber, NumberLiteral, toFloat } from "../../json/number-literal.ts";
import { identical } from "../../json/values.ts";
import { isInteger, isJsonInteger, toInt64 } from "./go-numbers.ts";
import type { ValueSchema } from "./value-schema.ts";

/** The type of a value, as schemas name it. */
export function typeOf(value: unknown): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "boolean";
    case "bigint":
    case "number":
      return isInteger(value) ? "integer" : "number";
    default:
      if (value instanceof NumberLiteral) return "number";
      if (value === null || value === undefined) return "null";
      return Array.isArray(value) ? "array" : "object";
  }
}

interface TypeProblem {
  readonly expected: string;
  /** The actual type of the value, or its format. */
  readonly found: string;
}

/** Returns undefined when the schema allows the type of the value. */
export function typeProblem(value: unknown, { types, format, nullable }: ValueSchema): TypeProblem | undefined {
  const found = typeOf(value);
  if (found === "null")
    return types.length > 0 && !nullable && !types.includes("null") ? { expected: types.join(","), found } : undefined;
  if (types.length === 0 && format === "") return undefined;
  const isWholeFloat = found === "number" && isJsonInteger(toFloat(value as JsonNumber)) && types.includes("integer");
  const isAllowed = types.includes(found) || isWholeFloat || (found === "integer" && types.includes("number"));
  const isText = found === "string" || found === "array";
  if (format !== "") {
    const foundFormat = found === "integer" ? "int64" : found === "number" ? "float64" : "";
    if (!isText && !isAllowed && foundFormat !== format) return { expected: format, found: foundFormat };
    // The format check decides.
    if (isText && !types.includes("number") && !types.includes("integer")) return undefined;
  }
  return isAllowed ? undefined : { expected: types.join(","), found };
}

/**
 * Whether a value is in an enumeration. Null never is. Numbers are compared after Go's conversions.
 */
export function isOneOf(value: unknown, allowed: readonly unknown[]): boolean {
  if (value === null || value === undefined) return false;
  const { scalars, floats, containers } = enumerationOf(allowed);
  if (isNumber(value)) {
    if (scalars.has(toInt64(value)) || floats.has(toFloat(value))) return true;
    // Go converts an integer to the character with that code.
    return isInteger(value) && scalars.has(characterOf(value));
  }
  if (typeof value === "object") return containers.some((candidate) => identical(value, candidate));
  return scalars.has(value);
}

/** The values of an enumeration as messages show them. */
export function textOfEnumeration(allowed: readonly unknown[]): string {
  const enumeration = enumerationOf(allowed);
  enumeration.text ??= encodeSorted(allowed);
  return enumeration.text;
}

/** The values of an enumeration, so that a list of many values needs no search for each of them. */
interface Enumeration {
  /** Texts, booleans and int64. */
  readonly scalars: ReadonlySet<unknown>;
  readonly floats: ReadonlySet<number>;
  readonly containers: readonly object[];
  /** Set when a message shows it. */
  text: string | undefined;
}

const enumerations = new WeakMap<readonly unknown[], Enumeration>();

function enumerationOf(allowed: readonly unknown[]): Enumeration {
  const existing = enumerations.get(allowed);
  if (existing !== undefined) return existing;
  const scalars = new Set<unknown>();
  const floats = new Set<number>();
  const containers: object[] = [];
  for (const candidate of allowed) {
    if (candidate === null) continue;
    if (isNumber(candidate) && !isInteger(candidate)) floats.add(toFloat(candidate));
    else if (typeof candidate === "object") containers.push(candidate);
    else scalars.add(candidate);
  }
  const made = { scalars, floats, containers, text: undefined };
  enumerations.set(allowed, made);
  return made;
}

function characterOf(code: number | bigint): string {
  const number = Number(code);
  const isCharacter = number >= 0 && number <= 0x10ffff && !(number >= 0xd800 && number <= 0xdfff);
  return isCharacter ? String.fromCodePoint(number) : "\ufffd";
}

/** The number of characters of a text, not of its UTF-16 units. */
export function lengthOf(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(index + 1);
    if (next < 0xdc00 || next > 0xdfff) continue;
    length--;
    index++;
  }
  return length;
}

/** Whether no two items are equal. Takes quadratic time; definitions may not use `uniqueItems`. */
export function areUnique(items: readonly unknown[]): boolean {
  return items.every((item, index) => !items.slice(0, index).some((before) => identical(before, item)));
}
