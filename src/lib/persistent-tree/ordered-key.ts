/** Keys of trees whose order is that of their UTF-8 bytes. */

const reordered = /[\ud800-\uffff]/;

/** An ordered prefix with this suffix sorts after every ordered key with the prefix. */
export const afterPrefix = "\uffff";

/**
 * Returns a string whose order by UTF-16 code units is the order of the key by UTF-8 bytes:
 * surrogates must sort after the rest of the Basic Multilingual Plane.
 */
export function orderedKey(key: string): string {
  return reordered.test(key) ? key.replace(/[\ud800-\uffff]/g, shifted) : key;
}

function shifted(unit: string): string {
  const code = unit.charCodeAt(0);
  return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800);
}
