/** Field selectors: `metadata.name=a,spec.nodeName!=b`. Source: apimachinery's fields package. */
import { SelectorError } from "./selector-error.ts";

export interface FieldTerm {
  readonly key: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** All terms must hold; none means everything matches. */
export interface FieldSelector {
  /** In the order of their texts. */
  readonly terms: readonly FieldTerm[];
}

/** Texts longer than this are refused before they are read. */
const textMax = 1 << 20;

/** In the order in which they are looked for. */
const operators: readonly (readonly [symbol: string, operator: FieldTerm["operator"]])[] = [
  ["!=", "!="],
  ["==", "="],
  ["=", "="],
];

/** @throws SelectorError with upstream's text */
export function parseFieldSelector(text: string): FieldSelector {
  if (text.length > textMax) throw new SelectorError("selector is too long");
  const terms: FieldTerm[] = [];
  for (const part of splitTerms(text).sort()) {
    if (part === "") continue;
    const term = splitTerm(part);
    if (term === undefined) throw new SelectorError(`invalid selector: '${text}'; can't understand '${part}'`);
    const value = unescapeValue(term.value);
    if (term.key !== "" || value !== "") terms.push({ ...term, value }); // Upstream drops `=` and `!=` alone.
  }
  return { terms };
}

/** A key that the map does not have counts as empty. */
export function matchesFields({ terms }: FieldSelector, fields: ReadonlyMap<string, string>): boolean {
  for (const { key, operator, value } of terms)
    if (((fields.get(key) ?? "") === value) !== (operator === "=")) return false;
  return true;
}

/** The value that the selector fixes the key to. */
export function requiresExactMatch({ terms }: FieldSelector, key: string): string | undefined {
  return terms.find((term) => term.key === key && term.operator === "=")?.value;
}

export function formatFieldSelector({ terms }: FieldSelector): string {
  return terms.map(({ key, operator, value }) => `${key}${operator}${value.replace(/[\\,=]/g, "\\$&")}`).join(",");
}

/** Commas that are not escaped separate terms. */
function splitTerms(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === ",") {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** The first operator divides: keys have no escapes. */
function splitTerm(part: string): FieldTerm | undefined {
  for (let at = 0; at < part.length; at++) {
    const found = operators.find(([symbol]) => part.startsWith(symbol, at));
    if (found !== undefined)
      return { key: part.slice(0, at), operator: found[1], value: part.slice(at + found[0].length) };
  }
  return undefined;
}

function unescapeValue(text: string): string {
  const characters = [...text];
  let value = "";
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string;
    if (character === "\\") value += escaped(characters[++at]);
    // Upstream tells the character's number.
    else if (character === "," || character === "=")
      throw new SelectorError(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    else value += character;
  }
  return value;
}

/** @param character what follows a backslash; undefined at the end */
function escaped(character: string | undefined): string {
  if (character === "\\" || character === "," || character === "=") return character;
  throw new SelectorError(`invalid field selector: invalid escape sequence: \\${character ?? ""}`);
}
