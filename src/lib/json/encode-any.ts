/**
 * Encodes plain values like Go: HTML-safe, bigint as digits, members in their own order. Source:
 * https://pkg.go.dev/encoding/json#Marshal.
 */
import { JsonText } from "./json-text.ts";
import { NumberLiteral } from "./number-literal.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be escaped.
const special = /["\\<>&\u0000-\u001f\u2028\u2029\ud800-\udfff]/;
/** The escape that `JSON.stringify` writes for a lone surrogate, where Go writes U+FFFD. */
const loneSurrogateEscape = /\\ud[89a-f]/;

const htmlEscapes: readonly (readonly [character: string, replacement: string])[] = [
  ["<", "\\u003c"],
  [">", "\\u003e"],
  ["&", "\\u0026"],
  ["\u2028", "\\u2028"],
  ["\u2029", "\\u2029"],
];

/** Faster than one pattern with a function, above all for texts with many such characters. */
function escapeHtml(text: string): string {
  let escaped = text;
  for (const [character, replacement] of htmlEscapes)
    if (escaped.includes(character)) escaped = escaped.split(character).join(replacement);
  return escaped;
}

/** Encodes a string, with quotes. */
export function encodeString(text: string): string {
  if (!special.test(text)) return `"${text}"`;
  return escapeHtml(JSON.stringify(text.toWellFormed()));
}

/**
 * Encodes any plain value. Undefined members are left out.
 *
 * @param value nested at most `retainedDepthMax` deep
 */
export function encodeAny(value: unknown): string {
  switch (typeof value) {
    case "string":
      return encodeString(value);
    case "number":
      return Number.isFinite(value) ? String(value) : "null";
    case "bigint":
      return String(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value instanceof JsonText || value instanceof NumberLiteral) return value.text;
      return value === null ? "null" : (tryStringify(value) ?? encodeTree(value));
    default:
      return "null";
  }
}

/**
 * Uses `JSON.stringify`, which is faster.
 *
 * @returns undefined for values that Go encodes in another way
 */
function tryStringify(value: object): string | undefined {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    if (error instanceof TypeError) return undefined; // The value contains a bigint or a NumberLiteral.
    throw error;
  }
  if (loneSurrogateEscape.test(text)) return undefined;
  return escapeHtml(text);
}

function encodeTree(value: object): string {
  if (value instanceof NumberLiteral) return value.text;
  return Array.isArray(value) ? encodeList(value) : encodeMembers(value as Record<string, unknown>);
}

function encodeItem(value: unknown): string {
  return typeof value === "object" && value !== null ? encodeTree(value) : encodeAny(value);
}

function encodeList(list: readonly unknown[]): string {
  let text = "[";
  for (let index = 0; index < list.length; index++) text += (index === 0 ? "" : ",") + encodeItem(list[index]);
  return `${text}]`;
}

function encodeMembers(object: Record<string, unknown>): string {
  let text = "{";
  for (const key in object) {
    const value = object[key];
    if (value !== undefined) text += `${(text === "{" ? "" : ",") + encodeString(key)}:${encodeItem(value)}`;
  }
  return `${text}}`;
}

/** Encodes any plain value with the members of all objects sorted, as Go encodes maps. */
export function encodeSorted(value: unknown): string {
  if (typeof value !== "object" || value === null) return encodeAny(value);
  if (Array.isArray(value)) return `[${value.map(encodeSorted).join(",")}]`;
  if (value instanceof NumberLiteral) return value.text;
  return `{${encodeSortedMembers(value as Record<string, unknown>, sortedKeys(value as Record<string, unknown>))}}`;
}

/** Encodes some members of an object, without braces. Undefined members are left out. */
export function encodeSortedMembers(object: Record<string, unknown>, keys: readonly string[]): string {
  let text = "";
  for (const key of keys) {
    const value = object[key];
    if (value !== undefined) text += `${(text === "" ? "" : ",") + encodeString(key)}:${encodeSorted(value)}`;
  }
  return text;
}

/**
 * Returns the keys of an object in the order of their UTF-8 bytes, which is that of code points.
 */
export function sortedKeys(object: Record<string, unknown>): string[] {
  const keys = Object.keys(object);
  for (let index = 1; index < keys.length; index++) {
    if ((keys[index - 1] as string) > (keys[index] as string)) return sortKeys(keys);
  }
  return keys.some(hasHighUnit) ? sortKeys(keys) : keys;
}

/** Sorts texts in place by their UTF-8 bytes, as Go does. */
export function sortKeys(keys: string[]): string[] {
  return keys.some(hasHighUnit) ? keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))) : keys.sort();
}

/** The order of code units from U+D800 on differs from that of code points. */
function hasHighUnit(key: string): boolean {
  return /[\ud800-\uffff]/.test(key);
}
