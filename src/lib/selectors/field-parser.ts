/** Parses field selectors. Source: k8s.io/apimachinery@v0.36.0/pkg/fields */
import { SelectorError } from "./selector-error.ts";

interface FieldTerm {
  readonly key: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** A selector that matches if all terms do. */
export interface FieldSelector {
  /** Sorted by their text. */
  readonly terms: readonly FieldTerm[];
}

/** Longer texts are rejected. */
const textMax = 1 << 20;

/** Parses a selector. @throws SelectorError with the message of kube-apiserver */
export function parseFieldSelector(text: string): FieldSelector {
  if (text.length > textMax) throw new SelectorError("selector is too long");
  const terms: FieldTerm[] = [];
  for (const part of splitTerms(text).sort()) {
    if (part === "") continue;
    const term = splitTerm(part);
    if (term === undefined) throw new SelectorError(`invalid selector: '${text}'; can't understand '${part}'`);
    const value = unescapeValue(term.value);
    if (term.key !== "" || value !== "") terms.push({ ...term, value }); // As in kube-apiserver, a bare `=` or `!=` is ignored.
  }
  return { terms };
}

/** Splits at commas that are not escaped. */
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

/** Splits at the first operator. Keys have no escapes. */
function splitTerm(part: string): FieldTerm | undefined {
  const at = part.indexOf("=");
  if (at < 0) return undefined;
  if (part[at - 1] === "!") return { key: part.slice(0, at - 1), operator: "!=", value: part.slice(at + 1) };
  return { key: part.slice(0, at), operator: "=", value: part.slice(part[at + 1] === "=" ? at + 2 : at + 1) };
}

function unescapeValue(text: string): string {
  if (!/[\\,=]/.test(text)) return text;
  const characters = [...text];
  let value = "";
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string;
    if (character === "\\") value += escaped(characters[++at]);
    // The message of kube-apiserver contains the code of the character.
    else if (character === "," || character === "=")
      throw new SelectorError(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    else value += character;
  }
  return value;
}

/** @param character the one after a backslash; undefined at the end of the text */
function escaped(character: string | undefined): string {
  if (character === "\\" || character === "," || character === "=") return character;
  throw new SelectorError(`invalid field selector: invalid escape sequence: \\${character ?? ""}`);
}
