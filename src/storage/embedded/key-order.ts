/** Keys are ordered by their UTF-8 bytes on every engine. */

/** Compares two keys by their UTF-8 bytes without encoding them. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const x = a.charCodeAt(at);
    const y = b.charCodeAt(at);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates encode code points above U+FFFF, but their own values are below U+E000. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/**
 * @returns an upper bound of the keys with the prefix, in key order: every key with the prefix is
 *   below it, and every other key above the prefix is not; undefined for the empty prefix
 */
export function endOfPrefix(prefix: string): string | undefined {
  if (prefix === "") return undefined;
  const last = prefix.charCodeAt(prefix.length - 1);
  return last < 0x7f ? prefix.slice(0, -1) + String.fromCharCode(last + 1) : `${prefix}\u{10ffff}`;
}
