/** Formats values like Go, for messages of kube-apiserver. Source: https://pkg.go.dev/fmt. */
import { isInt64, NumberLiteral } from "./number-literal.ts";

/** Formats a value like `%v`: `map[data:map[s:2] extra:[1 2]]`. */
export function formatGoValue(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number") return formatGoNumber(value);
  if (typeof value === "bigint" && !isInt64(value)) return formatGoFloat(Number(value));
  if (typeof value !== "object") return String(value);
  if (value instanceof NumberLiteral) return formatGoFloat(value.value);
  if (Array.isArray(value)) return `[${value.map(formatGoValue).join(" ")}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${key}:${formatGoValue((value as Record<string, unknown>)[key])}`);
  return `map[${members.join(" ")}]`;
}

/** Formats a value like `%s`, which marks values that are not text: `%!s(int64=1)`. */
export function formatGoText(value: unknown): string {
  if (typeof value === "string") return value;
  const formatPart = (part: unknown): string => (part === null ? "<nil>" : formatGoText(part));
  if (Array.isArray(value)) return `[${value.map(formatPart).join(" ")}]`;
  if (typeof value === "object" && value !== null && !(value instanceof NumberLiteral)) {
    const keys = Object.keys(value).sort();
    return `map[${keys.map((key) => `${key}:${formatPart((value as Record<string, unknown>)[key])}`).join(" ")}]`;
  }
  const type = goTypeOf(value);
  return value === null || value === undefined ? type : `%!s(${type}=${formatGoValue(value)})`;
}

/** Formats a number from JSON: as an int64 if it is a safe integer, otherwise as a float64. */
export function formatGoNumber(value: number): string {
  return Number.isSafeInteger(value) ? String(value + 0) : formatGoFloat(value);
}

/** Formats a float64 like `%v` and `%g`: the shortest exact digits, such as `1.5`, `3e+09`, `+Inf`. */
export function formatGoFloat(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  if (Number.isInteger(value) && Math.abs(value) < plainBelow) return String(value);
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const [mantissa, exponent] = value.toExponential().split("e") as [string, string];
  const power = Number(exponent);
  if (power >= -4 && Math.abs(value) < plainBelow) return String(value);
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** Go's fmt writes an exponent for numbers from here on, and below 10^-4. */
const plainBelow = 1e6;

/**
 * A value that is already formatted, for Go types that JSON does not distinguish: floats without a
 * fraction, pointers to strings.
 */
export class GoPrinted {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Returns the Go type of JSON decoded without a schema; for nil, the text of `%s`. */
export function goTypeOf(value: unknown): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "bigint":
    case "number":
      return isInt64(value) ? "int64" : "float64";
    default:
      if (value instanceof NumberLiteral) return "float64";
      if (value === null || value === undefined) return "%!s(<nil>)";
      return Array.isArray(value) ? goListType : goMapType;
  }
}

/** The Go type of a JSON object. */
export const goMapType = "map[string]interface {}";
/** The Go type of a JSON array. */
export const goListType = "[]interface {}";
