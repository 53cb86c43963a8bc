const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Finds the value of a member, which must be an object or an array, without parsing.
 *
 * @param json a compact object
 * @param label `"name":`
 * @returns a view of the bytes; undefined if there is no such member
 */
export function memberBytes(json: Buffer, label: Buffer): Buffer | undefined {
  let depth = 0;
  let start = -1;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      // In compact JSON, a colon after a string means that the string is a key.
      if (depth === 1 && start < 0 && json.compare(label, 0, label.length, at, at + label.length) === 0)
        start = at + label.length;
      at = endOfString(json, at);
    } else if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) {
      depth--;
      if (depth === 1 && start >= 0) return json.subarray(start, at + 1);
    }
  }
  return undefined;
}

/** Most strings end within this length; scanning it is faster than a call of `indexOf`. */
const shortBytes = 48;

/** @param at position of the opening quote @returns the position of the closing quote */
function endOfString(json: Buffer, at: number): number {
  const far = Math.min(at + shortBytes, json.length);
  for (let near = at + 1; near < far; near++) {
    if (json[near] === backslash) return endAfter(json, near);
    if (json[near] === quote) return near;
  }
  return endAfter(json, far);
}

/** @param from the start of a character in the string */
function endAfter(json: Buffer, from: number): number {
  for (let end = json.indexOf(quote, from); end >= 0; end = json.indexOf(quote, end + 1)) {
    let before = end - 1;
    while (before >= from && json[before] === backslash) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return json.length;
}
