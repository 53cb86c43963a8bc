/**
 * Parsing and formatting of doubles and durations, as in Go. Source: https://pkg.go.dev/strconv
 * and https://pkg.go.dev/time#ParseDuration.
 */
import { quoteGo } from "../../json/quote.ts";
import { type CelFailure, fail } from "./failure.ts";

function plain(value: number, mantissa: string, exponent: number): string {
  if (exponent >= 0) return String(value);
  const digits = mantissa.replace(/^-/, "").replace(".", "");
  return `${value < 0 ? "-" : ""}0.${"0".repeat(-exponent - 1)}${digits}`;
}

/** Formats a duration in seconds with the shortest fraction, such as `1.5s`. */
export function formatSeconds(nanoseconds: bigint): string {
  const seconds = Number(nanoseconds) / 1e9;
  const [mantissa, exponent] = seconds.toExponential().split("e") as [string, string];
  return `${seconds === 0 ? "0" : Number(exponent) >= 0 ? String(seconds) : plain(seconds, mantissa, Number(exponent))}s`;
}

const decimal = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const infinite = /^([+-]?)inf(?:inity)?$/i;

const hexadecimal = /^([+-]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?p([+-]?[0-9]+)$/i;
/** An underscore that is not between digits, or behind the base and before a digit. */
const badUnderscore = /_(?![0-9a-f])|(?<![0-9a-f]|0x)_/i;

/** Parses like Go's strconv.ParseFloat; underscores can separate digits. */
export function parseDouble(input: string): number | CelFailure {
  const text = input.includes("_") && !badUnderscore.test(input) ? input.replaceAll("_", "") : input;
  const hex = hexadecimal.exec(text);
  if (hex !== null && `${hex[2]}${hex[3] ?? ""}` !== "") return hexadecimalDouble(hex, input);
  const infinity = infinite.exec(text);
  if (infinity !== null) return infinity[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(text)) return Number.NaN;
  if (!decimal.test(text)) return fail(`strconv.ParseFloat: parsing ${quoteGo(input)}: invalid syntax`);
  return withinRange(Number(text), input);
}

function hexadecimalDouble(
  [, sign, whole = "", fraction = "", exponent]: RegExpExecArray,
  input: string,
): number | CelFailure {
  const magnitude = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(exponent) - 4 * fraction.length);
  return withinRange(sign === "-" ? -magnitude : magnitude, input);
}

function withinRange(value: number, input: string): number | CelFailure {
  return Number.isFinite(value) ? value : fail(`strconv.ParseFloat: parsing ${quoteGo(input)}: value out of range`);
}
