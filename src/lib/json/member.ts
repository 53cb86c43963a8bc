const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;

/** Bytes that open a list or an object, or close it; 0 for others. */
const nesting = new Int8Array(256);
for (const open of "{[") nesting[open.charCodeAt(0)] = 1;
for (const close of "}]") nesting[close.charCodeAt(0)] = -1;

/**
 * Finds the value of a member without parsing.
 *
 * @param json a compact object
 * @param label `"name":`
 * @returns a view of the bytes; undefined if there is no such member
 */
export function memberBytes(json: Buffer, label: Buffer): Buffer | undefined {
  for (let at = 1; json[at] === quote; at++) {
    const isFound = json.compare(label, 0, label.length, at, at + label.length) === 0;
    at = endOfString(json, at) + 1;
    if (json[at] === colon) at++;
    const end = endOfValue(json, at);
    if (isFound) return json.subarray(at, end);
    if (json[end] !== comma) return undefined;
    at = end;
  }
  return undefined;
}

/**
 * Skips a value. Few instructions on purpose: it is also fast before it is optimized.
 *
 * @param json compact JSON
 * @param at position of the value
 * @returns the position after it
 */
export function endOfValue(json: Buffer, at: number): number {
  if (json[at] === quote) return endOfString(json, at) + 1;
  let depth = 0;
  let end = at;
  for (; end < json.length; end++) {
    const byte = json[end] as number;
    if (byte === quote) {
      end = endOfString(json, end);
      continue;
    }
    const change = nesting[byte] as number;
    if (change === 0) {
      if (byte === comma && depth === 0) return end;
      continue;
    }
    depth += change;
    if (depth <= 0) return depth === 0 ? end + 1 : end;
  }
  return end;
}

/** Most strings end within this length; scanning it is faster than a call of `indexOf`. */
const shortBytes = 48;

/** @param at position of the opening quote @returns the position of the closing quote */
export function endOfString(json: Buffer, at: number): number {
  const far = Math.min(at + shortBytes, json.length);
  for (let near = at + 1; near < far; near++) {
    const byte = json[near];
    if (byte === quote) return near;
    if (byte === backslash) return endAfter(json, near);
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
