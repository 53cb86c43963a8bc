/** Base64 text of bytes in JSON, as Go's encoding/base64 decodes it. Source: https://pkg.go.dev/encoding/base64. */

/** Text that is not base64. The message is Go's. */
export class Base64Error extends Error {
  constructor(at: number) {
    super(`illegal base64 data at input byte ${at}`);
    this.name = "Base64Error";
  }
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const isDigit = new Uint8Array(128);
for (const character of alphabet) isDigit[character.charCodeAt(0)] = 1;

/**
 * Brings base64 text into the form that Go writes: without line breaks, with unused bits cleared.
 * @returns the text itself when it already has that form
 * @throws Base64Error
 */
export function canonicalizeBase64(text: string): string {
  if (isCanonical(text)) return text;
  checkBase64(text);
  return Buffer.from(text, "base64").toString("base64");
}

function isCanonical(text: string): boolean {
  let at = 0;
  while (isDigit[text.charCodeAt(at)] === 1) at++;
  if (at === text.length) return at % 4 === 0;
  if (text.length % 4 !== 0) return false;
  const padding = text.length - at;
  if (padding === 1) return text.endsWith("=") && alphabet.indexOf(text[at - 1] as string) % 4 === 0;
  return padding === 2 && text.endsWith("==") && alphabet.indexOf(text[at - 1] as string) % 16 === 0;
}

/** Checks groups of four digits; the error has the offset at which Go's decoder stops. */
function checkBase64(text: string): void {
  const end = text.length;
  let at = 0;
  for (;;) {
    let digits = 0;
    while (digits < 4) {
      if (at === end) {
        if (digits === 0) return;
        throw new Base64Error(at - digits);
      }
      const character = text[at++] as string;
      if (isDigit[character.charCodeAt(0)] === 1) digits++;
      else if (character === "=") return checkPadding(text, at, digits);
      else if (character !== "\n" && character !== "\r") throw new Base64Error(at - 1);
    }
  }
}

/**
 * @param at the offset after the first `=`
 * @param digits the number of digits before it in its group
 */
function checkPadding(text: string, at: number, digits: number): void {
  if (digits < 2) throw new Base64Error(at - 1);
  let next = skipBreaks(text, at);
  if (digits === 2) {
    if (next === text.length) throw new Base64Error(text.length);
    if (text[next] !== "=") throw new Base64Error(next - 1);
    next = skipBreaks(text, next + 1);
  }
  if (next < text.length) throw new Base64Error(next);
}

function skipBreaks(text: string, at: number): number {
  let next = at;
  while (text[next] === "\n" || text[next] === "\r") next++;
  return next;
}
