/**
 * Indents compact JSON by two spaces, like Go's MarshalIndent. It does not parse: numbers and key
 * order remain.
 * Source: https://pkg.go.dev/encoding/json#MarshalIndent.
 */

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Indents a text.
 *
 * @param json valid, compact JSON
 * @returns the indented JSON without a final newline
 */
export function indentJson(json: Buffer): Buffer {
  return jsonIndenter()(json);
}

/** Returns a function that indents one value in pieces. No piece may end inside a string. */
export function jsonIndenter(): (piece: Buffer) => Buffer {
  const state: State = { depth: 0, opened: false };
  return (piece) => indentPiece(piece, state);
}

interface State {
  depth: number;
  /** Whether the last byte opened an object or array, which can be empty. */
  opened: boolean;
}

function indentPiece(json: Buffer, state: State): Buffer {
  const pieces: string[] = [];
  let { depth, opened } = state;
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
    if (opened) {
      opened = false;
      if (byte === closeBrace || byte === closeBracket) continue;
      flush(at);
      depth++;
      newline();
    }
    if (byte === quote) {
      at = endOfString(json, at);
    } else if (byte === openBrace || byte === openBracket) {
      opened = true;
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
  state.depth = depth;
  state.opened = opened;
  return Buffer.from(pieces.join(""));
}

/** The end of longer strings is found with `indexOf`, which is faster for them. */
const shortMax = 32;

function endOfString(json: Buffer, open: number): number {
  let at = open + 1;
  for (const near = at + shortMax; at < near; at++) {
    if (json[at] === quote) return at;
    if (json[at] === backslash) at++;
  }
  for (at = json.indexOf(quote, at); isEscaped(json, at, open); at = json.indexOf(quote, at + 1));
  return at;
}

function isEscaped(json: Buffer, at: number, open: number): boolean {
  let before = at - 1;
  while (before > open && json[before] === backslash) before--;
  return (at - before) % 2 === 0;
}
