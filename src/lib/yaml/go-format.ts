/** Formats values as Go does. Source: https://pkg.go.dev/fmt. */
import { NumberLiteral } from "../json/number-literal.ts";
import { quoteGo } from "../json/quote.ts";

/**
 * Formats a float as go-yaml does: with the shortest exact digits, and an exponent below 1e-4 and
 * from 1e6 on.
 */
export function formatFloat(value: number, bits: 32 | 64): string {
  if (Number.isNaN(value)) return ".nan";
  if (!Number.isFinite(value)) return value > 0 ? ".inf" : "-.inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const shortest = bits === 32 ? shortest32(value) : value.toExponential();
  if (!shortest.includes("e")) return formatFloat(Number(shortest), 64); // Beyond 32 bits.
  const [mantissa = "", exponent = ""] = shortest.split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 6)
    return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  return plain(mantissa, power);
}

/** The shortest digits that have the same value as a float32. */
function shortest32(value: number): string {
  const narrow = Math.fround(value);
  if (!Number.isFinite(narrow)) return String(narrow);
  for (let digits = 0; digits < 9; digits++) {
    const text = narrow.toExponential(digits);
    if (Math.fround(Number(text)) === narrow) return text;
  }
  return narrow.toExponential();
}

/** @param power from -4 to 5 */
function plain(mantissa: string, power: number): string {
  const sign = mantissa.startsWith("-") ? "-" : "";
  const digits = mantissa.replace(/[-.]/g, "");
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
  const whole = digits.slice(0, power + 1).padEnd(power + 1, "0");
  const fraction = digits.slice(power + 1);
  return sign + whole + (fraction === "" ? "" : `.${fraction}`);
}

/** Longer texts are cut: they only show in messages which value cannot be a key. */
const syntaxLengthMax = 1000;

/** Formats a value as Go's `%#v` prints the value that go-yaml decoded. */
export function goSyntax(value: unknown): string {
  const text = syntaxOf(value, 0);
  return text.length > syntaxLengthMax ? text.slice(0, syntaxLengthMax) : text;
}

const nestingMax = 8;

function syntaxOf(value: unknown, nesting: number): string {
  if (value === null || value === undefined) return nesting === 0 ? "<nil>" : "interface {}(nil)";
  if (typeof value === "string") return quoteGo(value);
  if (value instanceof NumberLiteral) return value.text;
  if (typeof value !== "object") return String(value);
  const inner = (member: unknown): string => (nesting < nestingMax ? syntaxOf(member, nesting + 1) : "…");
  if (Array.isArray(value)) return `[]interface {}{${value.map(inner).join(", ")}}`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${quoteGo(key)}:${inner((value as Record<string, unknown>)[key])}`);
  return `map[interface {}]interface {}{${members.join(", ")}}`;
}
