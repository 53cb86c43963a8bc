/** Tokens of an expression. Source: cel-spec's grammar; what is no token is named as ANTLR, which upstream uses, names it. */
import type { Issue } from "./errors.ts";

/** Operators and brackets are their own kind; the others are named as upstream's messages name them. */
export type TokenKind = string;

export interface Token {
  readonly kind: TokenKind;
  /** In UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

export const endOfText = "<EOF>";

const keywords = new Set(["in", "true", "false", "null"]);
const twoCharacterSigns = new Set(["==", "!=", "<=", ">=", "&&", "||"]);
const oneCharacterSigns = new Set("<>[]{}().,-!?:+*/%");

const space = /[ \t\r\n\f]+|\/\/[^\n]*/y;
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const escapedIdentifier = /`[A-Za-z0-9_.\-/ ]+`/y;
const float = /[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?/y;
const uint = /(?:0x[0-9a-fA-F]+|[0-9]+)[uU]/y;
const int = /0x[0-9a-fA-F]+|[0-9]+/y;
const escapes = String.raw`\\(?:[abfnrtv"'\\?${"`"}]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])`;
/** Longest first: a text of three quotes before one that is empty. Each has its prefix of `r` in front. */
const strings = [
  /[rR]"""[\s\S]*?"""/y,
  /[rR]'''[\s\S]*?'''/y,
  /[rR]"[^"\n\r]*"/y,
  /[rR]'[^'\n\r]*'/y,
  new RegExp(`"""(?:${escapes}|[^\\\\])*?"""`, "y"),
  new RegExp(`'''(?:${escapes}|[^\\\\])*?'''`, "y"),
  new RegExp(`"(?:${escapes}|[^\\\\"\\n\\r])*"`, "y"),
  new RegExp(`'(?:${escapes}|[^\\\\'\\n\\r])*'`, "y"),
];
/** As far as a text that does not end would have gone on. */
const openDouble = new RegExp(`"(?:${escapes}|[^\\\\"\\n\\r])*`, "y");
const openSingle = new RegExp(`'(?:${escapes}|[^\\\\'\\n\\r])*`, "y");
const openEscape = /\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?/y;

function matchAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** @param issues what is no token is complained about here, and left out */
export function tokenize(text: string, issues: Issue[]): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    for (let next = matchAt(space, text, at); next !== at; next = matchAt(space, text, at)) at = next;
    if (at >= text.length) break;
    const token = tokenAt(text, at);
    if (token === undefined) {
      const end = endOfUnknown(text, at);
      issues.push({ offset: at, message: `Syntax error: token recognition error at: '${text.slice(at, end)}'` });
      at = end;
      continue;
    }
    tokens.push(token);
    at = token.end;
  }
  tokens.push({ kind: endOfText, start: text.length, end: text.length });
  return tokens;
}

function tokenAt(text: string, start: number): Token | undefined {
  const string = stringEnd(text, start);
  if (string !== start) return { kind: "STRING", start, end: string };
  const first = text[start] as string;
  if (first === "b" || first === "B") {
    const end = stringEnd(text, start + 1);
    if (end !== start + 1) return { kind: "BYTES", start, end };
  }
  const word = matchAt(identifier, text, start);
  if (word !== start) {
    const name = text.slice(start, word);
    return { kind: keywords.has(name) ? name : "IDENTIFIER", start, end: word };
  }
  const patterns: [TokenKind, RegExp][] = [
    ["NUM_FLOAT", float],
    ["NUM_UINT", uint],
    ["NUM_INT", int],
    ["ESC_IDENTIFIER", escapedIdentifier],
  ];
  for (const [kind, pattern] of patterns) {
    const end = matchAt(pattern, text, start);
    if (end !== start) return { kind, start, end };
  }
  const two = text.slice(start, start + 2);
  if (twoCharacterSigns.has(two)) return { kind: two, start, end: start + 2 };
  return oneCharacterSigns.has(first) ? { kind: first, start, end: start + 1 } : undefined;
}

function stringEnd(text: string, start: number): number {
  const first = text[start];
  if (first !== '"' && first !== "'" && first !== "r" && first !== "R") return start;
  for (const pattern of strings) {
    const end = matchAt(pattern, text, start);
    if (end !== start) return end;
  }
  return start;
}

/** The character that could not go on belongs to what is complained about, unless the text ends there. */
function endOfUnknown(text: string, start: number): number {
  const first = text[start] as string;
  let at = start;
  if (first === '"' || first === "'") {
    at = matchAt(first === '"' ? openDouble : openSingle, text, start);
    at = matchAt(openEscape, text, at);
  } else if (first === "&" || first === "|" || first === "=") {
    at = start + 1;
  } else if (first === "`") {
    at = start + 1;
    while (at < text.length && /[A-Za-z0-9_.\-/ ]/.test(text[at] as string)) at++;
  }
  const failing = text.codePointAt(at);
  return failing === undefined ? text.length : at + (failing > 0xffff ? 2 : 1);
}
