/** Rewrites compact JSON with two spaces of indentation, as Go's MarshalIndent does, without parsing: numbers and key order stay as they are. */

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** @param json valid, compact JSON @returns the same value, indented, without a newline at the end */
export function indentJson(json: Buffer): Buffer {
  const pieces: string[] = [];
  let depth = 0;
  let start = 0;
  const flush = (end: number): void => {
    if (end > start) pieces.push(json.toString("utf8", start, end));
    start = end;
  };
  const newline = (): void => {
    pieces.push(`\n${"  ".repeat(depth)}`);
  };
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      at = endOfString(json, at);
    } else if (byte === openBrace || byte === openBracket) {
      const next = json[at + 1];
      if (next === closeBrace || next === closeBracket) {
        at++;
        continue;
      }
      flush(at + 1);
      depth++;
      newline();
    } else if (byte === closeBrace || byte === closeBracket) {
      flush(at);
      depth--;
      newline();
    } else if (byte === comma) {
      flush(at + 1);
      newline();
    } else if (byte === colon) {
      flush(at + 1);
      pieces.push(" ");
    }
  }
  flush(json.length);
  return Buffer.from(pieces.join(""));
}

function endOfString(json: Buffer, open: number): number {
  let at = open + 1;
  while (json[at] !== quote) at += json[at] === backslash ? 2 : 1;
  return at;
}
