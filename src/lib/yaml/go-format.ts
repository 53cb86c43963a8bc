/** Formats values as Go does. Source: https://pkg.go.dev/fmt. */
import { formatGoFloat } from "../json/go-value.ts";
import { NumberLiteral } from "../json/number-literal.ts";
import { quoteGo } from "../json/quote.ts";

/**
 * Formats a float as go-yaml does: with the shortest exact digits, and an exponent below 1e-4 and
 * from 1e6 on.
 */
export function formatFloat(value: number, bits: 32 | 64): string {
  const shortest = bits === 32 ? shortest32(value) : value;
  if (Number.isNaN(shortest)) return ".nan";
  if (!Number.isFinite(shortest)) return shortest > 0 ? ".inf" : "-.inf";
  return formatGoFloat(shortest);
}

/** The number with the shortest digits that is the same float32; infinite beyond 32 bits. */
function shortest32(value: number): number {
  const narrow = Math.fround(value);
  for (let digits = 0; narrow !== 0 && digits < 9; digits++) {
    const short = Number(narrow.toExponential(digits));
    if (Math.fround(short) === narrow) return short;
  }
  return narrow;
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
