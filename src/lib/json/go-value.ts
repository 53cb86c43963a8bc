/** Values as Go prints them, for upstream's messages. */

/** With `%v`: `map[data:map[s:2] extra:[1 2]]`. */
export function formatGoValue(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number") return formatGoNumber(value);
  if (typeof value === "bigint" && !isInt64(value)) return formatGoFloat(Number(value));
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map(formatGoValue).join(" ")}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${key}:${formatGoValue((value as Record<string, unknown>)[key])}`);
  return `map[${members.join(" ")}]`;
}

const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

/** With `%s`, which says what is no text: `%!s(int64=1)`. */
export function formatGoText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${value.map(formatGoText).join(" ")}]`;
  if (typeof value === "object" && value !== null) {
    const keys = Object.keys(value).sort();
    return `map[${keys.map((key) => `${key}:${formatGoText((value as Record<string, unknown>)[key])}`).join(" ")}]`;
  }
  const type = goTypeOf(value);
  return value === null || value === undefined ? type : `%!s(${type}=${formatGoValue(value)})`;
}

/** A number as it was read from JSON: an int64 where there is no fraction and none is lost, else a float64. */
export function formatGoNumber(value: number): string {
  return Number.isSafeInteger(value) ? String(value + 0) : formatGoFloat(value);
}

/** A float64: `1.5`, `3e+09`. */
export function formatGoFloat(value: number): string {
  const [mantissa, exponent] = value.toExponential().split("e") as [string, string | undefined];
  const power = Number(exponent);
  if (exponent === undefined || (power >= -4 && power < exponentFrom)) return String(value + 0);
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** Go's fmt writes exponents from here on. */
const exponentFrom = 6;

/** What is printed already, in the place of a value: Go tells apart what JSON does not (floats without a fraction, text behind a pointer). */
export class GoPrinted {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The type JSON has in Go when it is decoded without a schema; nil's as `%s` prints it. */
export function goTypeOf(value: unknown): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "bigint":
      return isInt64(value) ? "int64" : "float64";
    case "number":
      return Number.isInteger(value) ? "int64" : "float64";
    default:
      if (value === null || value === undefined) return "%!s(<nil>)";
      return Array.isArray(value) ? goListType : goMapType;
  }
}

export const goMapType = "map[string]interface {}";
export const goListType = "[]interface {}";
