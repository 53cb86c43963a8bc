/**
 * The lexer. Source: the grammar of cel-spec; error messages are those of ANTLR, which cel-go uses.
 */
import type { Issue } from "./source.ts";

export interface Token {
  /** An operator or bracket itself, otherwise the name in cel-go's messages, such as `NUM_INT`. */
  readonly kind: string;
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
const startsNumber = new Set(".0123456789");
/** In the order in which they are tried. */
const numbers: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ["NUM_FLOAT", float],
  ["NUM_UINT", uint],
  ["NUM_INT", int],
];
const escapes = String.raw`\\(?:[abfnrtv"'\\?${"`"}]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])`;
/** Raw strings first; strings in three quotes before strings in one. */
const strings = [
  /[rR]"""[\s\S]*?"""/y,
  /[rR]'''[\s\S]*?'''/y,
  /[rR]"[^"\n\r]*"/y,
  /[rR]'[^'\n\r]*'/y,
  // Bounded: expressions have at most 100,000 code points; an escape cannot begin as other text does.
  new RegExp(`"""(?:${escapes}|[^\\\\])*?"""`, "y"),
  new RegExp(`'''(?:${escapes}|[^\\\\])*?'''`, "y"),
  // Bounded: as above.
  new RegExp(`"(?:${escapes}|[^\\\\"\\n\\r])*"`, "y"),
  new RegExp(`'(?:${escapes}|[^\\\\'\\n\\r])*'`, "y"),
];
/** The beginning of a string without a closing quote. Bounded: as above. */
const openDouble = new RegExp(`"(?:${escapes}|[^\\\\"\\n\\r])*`, "y");
const openSingle = new RegExp(`'(?:${escapes}|[^\\\\'\\n\\r])*`, "y");
const openEscape = /\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?/y;

function matchAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/**
 * Reads tokens when they are first requested, so that errors of the lexer come in order with those of the parser.
 *
 * @param report receives an error for each text that is not a token; such text is skipped
 * @returns a function that returns the token with an index, or the end of the text behind all tokens
 */
export function tokenReader(text: string, report: (issue: Issue) => void): (index: number) => Token {
  const tokens: Token[] = [];
  let at = 0;
  const read = (): void => {
    for (;;) {
      for (let next = matchAt(space, text, at); next !== at; next = matchAt(space, text, at)) at = next;
      if (at >= text.length) return void tokens.push({ kind: endOfText, start: text.length, end: text.length });
      const token = tokenAt(text, at);
      if (token !== undefined) {
        tokens.push(token);
        at = token.end;
        return;
      }
      const start = at;
      at = endOfUnrecognized(text, at);
      report({ offset: start, message: `Syntax error: token recognition error at: '${text.slice(start, at)}'` });
    }
  };
  return (index) => {
    while (tokens.length <= index && tokens.at(-1)?.kind !== endOfText) read();
    return tokens[Math.min(index, tokens.length - 1)] as Token;
  };
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
  for (const [kind, pattern] of startsNumber.has(first) ? numbers : []) {
    const end = matchAt(pattern, text, start);
    if (end !== start) return { kind, start, end };
  }
  const quoted = first === "`" ? matchAt(escapedIdentifier, text, start) : start;
  if (quoted !== start) return { kind: "ESC_IDENTIFIER", start, end: quoted };
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

/**
 * The end of the text in the error message: it includes the character at which the token is
 * invalid.
 */
function endOfUnrecognized(text: string, start: number): number {
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
