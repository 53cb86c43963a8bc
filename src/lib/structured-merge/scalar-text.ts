/**
 * The JSON text of values in path elements, with the escapes and numbers of upstream's encoder,
 * which are not those of Go's encoding/json. Source: json-iterator v1.1.12, with which
 * structured-merge-diff's fieldpath/serialize-pe.go writes path elements.
 */
import { sortedKeys } from "../json/encode-any.ts";
import { NumberLiteral } from "../json/number-literal.ts";

const plain = /^[\w./: -]*$/;

/** Encodes a key or an item of a set, which usually is a scalar. */
export function scalarText(value: unknown): string {
  switch (typeof value) {
    case "string":
      return plain.test(value) ? `"${value}"` : quote(value);
    case "number":
      return numberText(value);
    case "object":
      if (value === null) return "null";
      if (value instanceof NumberLiteral) return Object.is(value.value, -0) ? "-0" : value.text;
      if (Array.isArray(value)) return `[${value.map(scalarText).join(",")}]`;
      return `{${sortedKeys(value as Record<string, unknown>)
        .map((name) => `${scalarText(name)}:${scalarText(Reflect.get(value, name))}`)
        .join(",")}}`;
    default:
      return String(value);
  }
}

/** Encodes the name of a key, in which fewer characters are escaped. */
export function keyNameText(name: string): string {
  return plain.test(name) ? `"${name}"` : `"${name.replace(escapedInNames, escapeCharacter)}"`;
}

const quote = (text: string): string => `"${text.replace(escapedInValues, escapeCharacter)}"`;

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters.
const escapedInNames = /["\\\0-\x1f]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters.
const escapedInValues = /["\\\0-\x1f<>&\u2028\u2029]/g;

const shorthand = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

function escapeCharacter(character: string): string {
  return shorthand.get(character) ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** As Go writes floats, with the sign of zero and at least two digits of an exponent. */
const numberText = (number: number): string =>
  Object.is(number, -0) ? "-0" : String(number).replace(/e([+-])(\d)$/, "e$10$2");
