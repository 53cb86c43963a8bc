/**
 * The order of keys in YAML that Go writes: numbers within keys are compared by value (`a9` before
 * `a10`), and letters follow everything else.
 * Source: go-yaml v2's keyList.
 */

const letter = /\p{L}/u;
const digit = /\p{Nd}/u;
/** Characters below are ASCII, which is compared without patterns. */
const asciiEnd = 0x80;
/** As many digits are exact in a number. */
const exactDigitsMax = 15;
const exactDigits = /^[0-9]*$/;

/** Sorts keys in place. */
export function sortKeys(keys: string[]): string[] {
  return keys.sort(compareKeys);
}

/** Compares two keys, for `Array.sort`. */
function compareKeys(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === a.length || at === b.length) return a.length - b.length;
  if (isLow(a, at) && isLow(b, at)) at -= 1; // Two characters with the same low surrogate.
  const [left, right] = [a.codePointAt(at) as number, b.codePointAt(at) as number];
  const [leftIsLetter, rightIsLetter] = [isLetter(left), isLetter(right)];
  if (leftIsLetter !== rightIsLetter) return leftIsLetter ? 1 : -1;
  return (leftIsLetter ? 0 : compareNumbers(a, b, at)) || left - right;
}

function isLetter(point: number): boolean {
  if (point >= asciiEnd) return letter.test(String.fromCodePoint(point));
  const lower = point | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

function isDigitAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < asciiEnd ? code >= 0x30 && code <= 0x39 : digit.test(text.charAt(at));
}

function isLow(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && at > 0;
}

/**
 * Compares the numbers where the texts begin to differ. A leading zero counts only if digits
 * precede it.
 */
function compareNumbers(a: string, b: string, at: number): number {
  const lead = (a.charAt(at) === "0" || b.charAt(at) === "0") && hasNumberBefore(a, at) ? "1" : "";
  const [left, right] = [digitsAt(a, at), digitsAt(b, at)];
  return compareValues(lead + left, lead + right) || left.length - right.length;
}

function compareValues(left: string, right: string): number {
  if (Math.max(left.length, right.length) <= exactDigitsMax && exactDigits.test(left) && exactDigits.test(right))
    return Number(left) - Number(right);
  const difference = numberOf(left) - numberOf(right);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

/** Whether the digits directly before this offset are not all zeros. */
function hasNumberBefore(text: string, end: number): boolean {
  for (let at = end - 1; at >= 0 && isDigitAt(text, at); at--) if (text.charAt(at) !== "0") return true;
  return false;
}

function digitsAt(text: string, start: number): string {
  let end = start;
  while (end < text.length && isDigitAt(text, end)) end++;
  return text.slice(start, end);
}

/** Wraps around at 64 bits, as Go's numbers do. */
function numberOf(digits: string): bigint {
  let value = 0n;
  for (const character of digits)
    value = BigInt.asIntN(64, value * 10n + BigInt((character.codePointAt(0) as number) - 0x30));
  return value;
}
