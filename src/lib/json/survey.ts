/** Scans JSON for values that `JSON.parse` would lose. */
import { isUtf8 } from "node:buffer";

interface Survey {
  /** The number of members of all objects: colons outside strings. */
  readonly members: number;
  /** Nesting depth of arrays and objects. */
  readonly depth: number;
  /**
   * Whether the text contains a number with more than 15 digits, a fraction or an exponent, a
   * surrogate escape, or bytes that are not UTF-8.
   */
  readonly needsExact: boolean;
}

const quote = 0x22;
const backslash = 0x5c;

/** Scans a text. For invalid JSON, the result has no meaning. */
export function survey(bytes: Buffer): Survey {
  let members = 0;
  let depth = 0;
  let deepest = 0;
  let needsExact = false;
  const end = bytes.length;
  for (let at = 0; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === quote) {
      for (at++; at < end; at++) {
        const inside = bytes[at] as number;
        if (inside === quote) break;
        if (inside !== backslash) continue;
        at++;
        if (bytes[at] === 0x75 && isSurrogateEscape(bytes, at)) needsExact = true;
      }
    } else if (byte >= 0x30 && byte <= 0x39) {
      const start = at;
      while (isDigit(bytes[at + 1])) at++;
      if (at - start >= 15) needsExact = true;
    } else if (byte === 0x3a) members++;
    else if (byte === 0x7b || byte === 0x5b) {
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
    // A dot, an E, or an e after a digit; the e of `true` and `false` follows u or s.
    else if (byte === 0x2e || byte === 0x45) needsExact = true;
    else if (byte === 0x65 && isDigit(bytes[at - 1])) needsExact = true;
  }
  return { members, depth: deepest, needsExact: needsExact || !isUtf8(bytes) };
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** @param at position of the u in `\ud83d` */
function isSurrogateEscape(bytes: Buffer, at: number): boolean {
  const first = bytes[at + 1];
  const second = bytes[at + 2] ?? 0;
  return (first === 0x64 || first === 0x44) && (second === 0x38 || second === 0x39 || second >= 0x41);
}
