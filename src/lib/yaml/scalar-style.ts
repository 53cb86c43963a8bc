/**
 * Chooses the style of a string: plain if it decodes to the same string, otherwise quoted or
 * literal.
 * Source: go-yaml v2's emitter.
 */
import { isBreak } from "./cursor.ts";
import { isTimestamp, resolvePlain } from "./scalar.ts";

type ScalarStyle = "plain" | "single" | "double" | "literal";

/** Most strings: they contain no characters with a meaning in YAML. */
const ordinary = /^[A-Za-z_/][A-Za-z0-9_\-./]*$/;
/** The first characters of words such as `yes` and `null`. */
const wordStart = /^[yYnNtTfFoO]/;

/**
 * Chooses the style of a string.
 * @param isKey whether it is a key, which must be on one line
 */
export function styleOf(text: string, isKey: boolean): ScalarStyle {
  if (ordinary.test(text) && !wordStart.test(text)) return "plain";
  const traits = traitsOf(text);
  if (text.includes("\n") && !isKey) return allowsBlock(traits) ? "literal" : "double";
  if (traits.breaks && isKey) return "double";
  if (!readsAsText(text)) return "double";
  if (allowsPlain(traits)) return "plain";
  return allowsSingle(traits) ? "single" : "double";
}

/** Numbers of base 60, which go-yaml decodes as strings, but other decoders do not. */
const base60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

function readsAsText(text: string): boolean {
  return text !== "<<" && resolvePlain(text) === text && !isTimestamp(text) && !base60.test(text);
}

interface Traits {
  /** Has characters with a meaning at their position. */
  readonly indicators: boolean;
  readonly breaks: boolean;
  /** Has characters that are not printable. */
  readonly special: boolean;
  readonly edgeSpace: boolean;
  readonly endsWithSpace: boolean;
  readonly spaceAfterBreak: boolean;
  readonly spaceBeforeBreak: boolean;
}

function allowsPlain({ indicators, breaks, special, edgeSpace, spaceAfterBreak, spaceBeforeBreak }: Traits): boolean {
  return !(indicators || breaks || special || edgeSpace || spaceAfterBreak || spaceBeforeBreak);
}

function allowsSingle({ special, spaceAfterBreak, spaceBeforeBreak }: Traits): boolean {
  return !(special || spaceAfterBreak || spaceBeforeBreak);
}

function allowsBlock({ special, endsWithSpace, spaceBeforeBreak }: Traits): boolean {
  return !(special || endsWithSpace || spaceBeforeBreak);
}

const firstIndicator = /^(?:[#,[\]{}&*!|>'"%@`]|[?:-](?:[ \t]|$)|---|\.\.\.)/;
const innerIndicator = /.:(?:[ \t]|$)|[ \t\n\r\u0085\u2028\u2029]#/s;
const someBreak = /[\n\r\u0085\u2028\u2029]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters.
const unprintable = /[\0-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]/;

function traitsOf(text: string): Traits {
  const breaks = someBreak.test(text);
  const endsWithSpace = text.endsWith(" ");
  return {
    indicators: firstIndicator.test(text) || innerIndicator.test(text),
    breaks,
    special: unprintable.test(text),
    edgeSpace: text.startsWith(" ") || endsWithSpace,
    endsWithSpace,
    spaceAfterBreak: breaks && /[\n\r\u0085\u2028\u2029] /.test(text),
    spaceBeforeBreak: breaks && / [\n\r\u0085\u2028\u2029]/.test(text),
  };
}

/** Whether a character in double quotes must be escaped. */
export function needsEscape(code: number): boolean {
  return (
    code === 0x22 || code === 0x5c || code < 0x20 || (code >= 0x7f && code < 0xa0) || isBreak(code) || isBeyond(code)
  );
}

/** Surrogates, whose pairs become one escape, and code points that are not characters. */
function isBeyond(code: number): boolean {
  return (code >= 0xd800 && code <= 0xdfff) || code === 0xfeff || code >= 0xfffe;
}
