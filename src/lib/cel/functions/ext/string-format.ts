/** `text.format(list)`. Source: cel-go, ext/formatting.go, with the locale en_US */
import { formatGoFloat } from "../../../json/go-value.ts";
import { quoteGo } from "../../../json/quote.ts";
import { sizeOrUnknown } from "../../cost/estimate.ts";
import { timesFactor } from "../../cost/range.ts";
import type { FunctionDeclaration } from "../../declarations.ts";
import { dynType, listType, stringType } from "../../types.ts";
import { sizeOf } from "../../values/containers.ts";
import { CelFailure, fail } from "../../values/failure.ts";
import { isInt } from "../../values/int.ts";
import { formatSeconds } from "../../values/numbers.ts";
import { formatTimestamp } from "../../values/time.ts";
import { typeNameOf } from "../../values/type-names.ts";
import {
  CelDouble,
  CelDuration,
  type CelInt,
  CelList,
  CelMap,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  type Result,
} from "../../values/value.ts";
import { traversalFactor } from "../costs.ts";
import { declare, member } from "../declare.ts";
import { fixedDigits, placesOf, scientificDigits } from "./exact-decimals.ts";
import { type Clause, notFormattable, piecesOf, type Verb } from "./format-clauses.ts";

/** Limits the result, because the cost does not depend on its length. */
const lengthMax = 10_000_000;

function format(text: string, args: CelList): Result {
  const written: string[] = [];
  let [used, length] = [0, 0];
  for (const piece of piecesOf(text)) {
    if (typeof piece !== "string" && used >= args.size) return fail(`index ${used} out of range`);
    const part =
      typeof piece === "string"
        ? piece
        : "clause" in piece
          ? formatArgument(piece.clause, args.at(used++))
          : pieceFailure(piece);
    if (part instanceof CelFailure) return part;
    length += part.length;
    if (length > lengthMax) return fail(`format() gives more than ${lengthMax} characters`);
    written.push(part);
  }
  return written.join("");
}

function pieceFailure(piece: { readonly error: string } | { readonly ends: true }): CelFailure {
  return fail("error" in piece ? piece.error : "unexpected end of string");
}

type Formatted = string | CelFailure;

function formatArgument({ verb, precision }: Clause, value: CelValue): Formatted {
  const text = formatters[verb](value, precision);
  const failure = text ?? fail(notFormattable[verb](typeNameOf(value)));
  return failure instanceof CelFailure ? fail(`error during formatting: ${failure.message}`) : failure;
}

/** Returns undefined for a value of a type that the clause cannot format. */
type Formatter = (value: CelValue, precision: number) => Formatted | undefined;

const formatters: Readonly<Record<Verb, Formatter>> = {
  s: formatText,
  d: (value) => integerOf(value)?.toString(),
  f: formatFixed,
  e: formatScientific,
  b: (value) => (typeof value === "boolean" ? String(Number(value)) : integerOf(value)?.toString(2)),
  x: formatHex,
  X: (value) => formatHex(value)?.toUpperCase(),
  o: (value) => integerOf(value)?.toString(8),
};

function integerOf(value: CelValue): CelInt | undefined {
  if (value instanceof CelUint) return value.value;
  return isInt(value) ? value : undefined;
}

function formatHex(value: CelValue): string | undefined {
  if (typeof value === "string") return Buffer.from(value).toString("hex");
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : integerOf(value)?.toString(16);
}

const namedDoubles = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);

function doubleOf(value: CelValue): number | undefined {
  return typeof value === "string" ? namedDoubles.get(value) : value instanceof CelDouble ? value.value + 0 : undefined; // Adding 0 removes the sign of -0.
}

function infinite(value: number): string | undefined {
  return Number.isFinite(value) ? undefined : Number.isNaN(value) ? "NaN" : value < 0 ? "-∞" : "∞";
}

/**
 * Groups thousands. The number printer of cel-go uses the low eight bits of the precision; if they
 * are zero and the precision is not, it prints all places.
 */
function formatFixed(value: CelValue, precision: number): string | undefined {
  const number = doubleOf(value);
  if (number === undefined) return undefined;
  const places = precision > 0 && precision % 256 === 0 ? placesOf(number) : precision % 256;
  return infinite(number) ?? withThousands(fixedDigits(number, places));
}

/** Separates each three digits before the point by a comma. */
function withThousands(number: string): string {
  const sign = number.startsWith("-") ? "-" : "";
  const [whole = "", fraction] = number.slice(sign.length).split(".");
  const groups: string[] = [];
  for (let end = whole.length; end > 0; end -= 3) groups.unshift(whole.slice(Math.max(0, end - 3), end));
  return `${sign}${groups.join(",")}${fraction === undefined ? "" : `.${fraction}`}`;
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/**
 * As in cel-go, the low 16 bits of the precision are the minimum width, and there are six places.
 */
function formatScientific(value: CelValue, precision: number): string | undefined {
  const number = doubleOf(value);
  if (number === undefined) return undefined;
  return (infinite(number) ?? scientific(number)).padStart(precision % 65_536);
}

function scientific(value: number): string {
  const { mantissa, exponent } = scientificDigits(value, 6);
  const digits = String(Math.abs(exponent)).padStart(2, "0");
  return `${mantissa}×10${exponent < 0 ? "⁻" : ""}${digits.replace(/[0-9]/g, (digit) => superscripts[Number(digit)] as string)}`;
}

function formatText(value: CelValue): Formatted | undefined {
  if (typeof value === "string") return value;
  if (value instanceof CelList) return formatList(value);
  if (value instanceof CelMap) return formatMap(value);
  if (value instanceof CelDouble) return formatGoFloat(value.value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatSeconds(value.nanoseconds);
  if (value instanceof CelTypeValue) return value.name;
  if (value instanceof Uint8Array) return formatBytes(value);
  return value === null || typeof value === "boolean" ? String(value) : integerOf(value)?.toString();
}

function formatBytes(bytes: Uint8Array): Formatted {
  const text = Buffer.from(bytes).toString();
  if (Buffer.from(text).equals(bytes)) return text;
  return fail('could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string');
}

/** The limits on nesting of expressions and data bound the recursion. */
function formatList(list: CelList): Formatted {
  const items: string[] = [];
  for (let at = 0; at < list.size; at++) {
    const item = formatWithin(list.at(at));
    if (item instanceof CelFailure) return item;
    items.push(item);
  }
  return `[${items.join(", ")}]`;
}

/** Entries are sorted by the text of their keys. */
function formatMap(map: CelMap): Formatted {
  const entries: { /** UTF-8, with one character per byte. */ readonly order: string; readonly text: string }[] = [];
  for (const key of map.keys()) {
    const value = formatWithin(map.find(key) as CelValue);
    if (value instanceof CelFailure) return value;
    const keyText = typeof key === "string" ? quoteGo(key) : (formatText(key) as string);
    entries.push({ order: Buffer.from(keyText).toString("latin1"), text: `${keyText}:${value}` });
  }
  entries.sort((left, right) => (left.order < right.order ? -1 : Number(left.order > right.order)));
  return `{${entries.map(({ text }) => text).join(", ")}}`;
}

/** Formats an element of a list or map, similar to a literal. */
function formatWithin(value: CelValue): Formatted {
  if (value instanceof CelDouble)
    return Number.isFinite(value.value) ? fixedDigits(value.value, 6) : quoteGo(formatGoFloat(value.value));
  const text = formatText(value);
  if (text === undefined) return fail(`no formatting function for ${typeNameOf(value)}`);
  if (text instanceof CelFailure) return text;
  if (typeof value === "string") return quoteGo(text);
  if (value instanceof Uint8Array) return `b${quoteGo(text)}`;
  if (value instanceof CelTimestamp) return `timestamp(${quoteGo(text)})`;
  return value instanceof CelDuration ? `duration(${quoteGo(text)})` : text;
}

/** `text.format(list)`. */
export const stringFormat: FunctionDeclaration = declare(
  "format",
  member("string_format", [stringType, listType(dynType)], stringType, {
    evaluate: format,
    cost: (args) => Math.ceil(sizeOf(args[0]) * traversalFactor),
    estimate: ({ target }) => ({ cost: timesFactor(sizeOrUnknown(target), traversalFactor) }),
  }),
);
