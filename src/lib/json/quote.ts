/** Quotes text for messages like Go's strconv.Quote. Source: https://pkg.go.dev/strconv#Quote. */

const plain = /^[ !#-[\]-~]*$/;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u;
/** The characters that `escapeGo` changes. */
const escaped = /["\\]|[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/gu;

const shorthand = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
]);

/** By code: the text of each ASCII character inside quotes. */
const asciiEscapes: readonly string[] = Array.from({ length: 0x80 }, (_none, code) => {
  const character = String.fromCharCode(code);
  const isControl = code < 0x20 || code === 0x7f;
  return shorthand.get(character) ?? (isControl ? `\\x${code.toString(16).padStart(2, "0")}` : character);
});

/** Quotes a text like Go's `%q`. */
export function quoteGo(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  return `"${text.toWellFormed().replace(escaped, escapeGo)}"`;
}

/** Quotes a list of texts like Go's `%q`. */
export function quoteGoList(texts: readonly string[]): string {
  return `[${texts.map(quoteGo).join(" ")}]`;
}

/**
 * Joins error messages like an aggregate of `k8s.io/apimachinery/pkg/util/errors`: each message
 * once, in brackets if there are several. Empty for an empty list.
 */
export function joinErrors(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length > 1 ? `[${distinct.join(", ")}]` : (distinct[0] ?? "");
}

/** Whether a character is printable, like Go's unicode.IsPrint. */
export function isPrintable(character: string): boolean {
  return character === " " || printable.test(character);
}

/** Escapes one character inside quotes. */
export function escapeGo(character: string): string {
  const code = character.codePointAt(0) as number;
  if (code < 0x80) return asciiEscapes[code] as string;
  if (isPrintable(character)) return character;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}

/** Quotes text as Go's package time does: characters outside ASCII are escaped as bytes. */
export function quoteTime(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return quoteGo(text);
  const marked = text.replace(/["\\]/g, "\\$&");
  return `"${marked.replace(/[^ -\x7f]+/g, (run) => escapedBytes(Buffer.from(run)))}"`;
}

const hexDigits = Buffer.from("0123456789abcdef");

function escapedBytes(bytes: Buffer): string {
  const escaped = Buffer.alloc(4 * bytes.length, "\\x00");
  for (const [index, byte] of bytes.entries()) {
    escaped[4 * index + 2] = hexDigits[byte >> 4] as number;
    escaped[4 * index + 3] = hexDigits[byte & 15] as number;
  }
  return escaped.toString("latin1");
}
