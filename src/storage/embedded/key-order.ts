/** Keys are ordered as their UTF-8 bytes are, on every engine. */

/** @returns below 0, 0 or above 0 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const x = a.charCodeAt(at);
    const y = b.charCodeAt(at);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above U+FFFF, though their own numbers are below U+E000. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** @returns a text that is after every key with the prefix, and not after any other key that is; undefined for the empty prefix */
export function endOfPrefix(prefix: string): string | undefined {
  if (prefix === "") return undefined;
  const last = prefix.charCodeAt(prefix.length - 1);
  return last < 0x7f ? prefix.slice(0, -1) + String.fromCharCode(last + 1) : `${prefix}\u{10ffff}`;
}
