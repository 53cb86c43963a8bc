/**
 * Scans plain, quoted and block scalars, and folds their lines.
 * Source: YAML 1.1 as go-yaml v2 implements it.
 */
import { type Cursor, isBlank, isBreak, isBreakOrEnd, isSpaceOrEnd } from "./cursor.ts";
import { scannerError } from "./yaml-error.ts";

/** The space between two lines of a scalar: blanks, or a first line break and further ones. */
class Gap {
  #blanks = "";
  #first = "";
  #others = "";

  get hasBreak(): boolean {
    return this.#first !== "";
  }

  /**
   * Reads blanks and line breaks.
   * @param checkBlank called for every blank at the beginning of a line
   */
  read(cursor: Cursor, checkBlank?: () => void): void {
    for (;;) {
      const code = cursor.code();
      if (isBlank(code)) {
        if (this.hasBreak) checkBlank?.();
        else this.#blanks += cursor.source.charAt(cursor.position);
        cursor.position++;
      } else if (isBreak(code)) this.add(cursor.skipBreak());
      else return;
    }
  }

  add(lineBreak: string): void {
    if (this.#first === "") this.#first = lineBreak;
    else this.#others += lineBreak;
  }

  /** Records an escaped line break, which adds nothing to the text. */
  escape(): void {
    this.#first = escapedBreak;
  }

  /** Returns the folded text and resets the gap. */
  take(): string {
    const folded = this.#fold();
    this.#blanks = "";
    this.#first = "";
    this.#others = "";
    return folded;
  }

  #fold(): string {
    if (this.#first === "") return this.#blanks;
    if (this.#first === escapedBreak) return this.#others;
    if (this.#first !== "\n") return this.#first + this.#others;
    return this.#others === "" ? " " : this.#others;
  }
}

const escapedBreak = "\\";

const indicatorsInFlow: ReadonlySet<number> = new Set([..."?,[]{}"].map((character) => character.charCodeAt(0)));

/**
 * Scans a plain scalar.
 * @param indent the minimum column of its further lines, outside of brackets
 * @throws YamlError for a tab in the indentation
 */
export function scanPlain(
  cursor: Cursor,
  { indent, inFlow }: { indent: number; inFlow: boolean },
): { text: string; endsAfterBreak: boolean } {
  const { source } = cursor;
  const gap = new Gap();
  let text = "";
  while (!cursor.atDocumentIndicator() && cursor.code() !== 0x23) {
    const start = cursor.position;
    for (let code = cursor.code(); !isSpaceOrEnd(code); code = cursor.code()) {
      if (code === 0x3a && isSpaceOrEnd(cursor.code(1))) break;
      if (inFlow && indicatorsInFlow.has(code)) break;
      cursor.position++;
    }
    if (cursor.position > start) text += gap.take() + source.slice(start, cursor.position);
    if (!isBlank(cursor.code()) && !isBreak(cursor.code())) break;
    gap.read(cursor, () => {
      if (cursor.column < indent && cursor.code() === 0x09) {
        throw scannerError("found a tab character that violates indentation", cursor.line);
      }
    });
    if (!inFlow && cursor.column < indent) break;
  }
  return { text, endsAfterBreak: gap.hasBreak };
}

/**
 * Scans a quoted scalar.
 * @param quote the character code of the quote
 * @throws YamlError for an invalid escape, and when the closing quote is missing
 */
export function scanQuoted(cursor: Cursor, quote: number): string {
  const { source } = cursor;
  const gap = new Gap();
  let text = "";
  cursor.position++;
  for (;;) {
    if (cursor.atDocumentIndicator()) throw scannerError("found unexpected document indicator", cursor.line);
    if (cursor.code() === 0) throw scannerError("found unexpected end of stream", cursor.line);
    for (let code = cursor.code(); !isSpaceOrEnd(code); code = cursor.code()) {
      if (code === quote) {
        if (quote !== 0x27 || cursor.code(1) !== 0x27) break;
        text += "'";
        cursor.position += 2;
      } else if (code === 0x5c && quote === 0x22) {
        if (isBreak(cursor.code(1))) {
          cursor.position++;
          cursor.skipBreak();
          gap.escape();
          break;
        }
        text += scanEscape(cursor);
      } else {
        const start = cursor.position;
        do code = source.charCodeAt(++cursor.position);
        while (code !== quote && code !== 0x5c && !isSpaceOrEnd(code));
        text += source.slice(start, cursor.position);
      }
    }
    if (cursor.code() === quote) break;
    gap.read(cursor);
    text += gap.take();
  }
  cursor.position++;
  return text;
}

const escapes: Readonly<Record<string, string>> = {
  "0": "\0",
  a: "\x07",
  b: "\b",
  t: "\t",
  "\t": "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  e: "\x1b",
  " ": " ",
  '"': '"',
  "'": "'",
  "\\": "\\",
  N: "\u0085",
  _: "\u00a0",
  L: "\u2028",
  P: "\u2029",
};
const hexLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

function scanEscape(cursor: Cursor): string {
  const letter = cursor.source.charAt(cursor.position + 1);
  const hexLength = Object.hasOwn(hexLengths, letter) ? (hexLengths[letter] as number) : 0;
  if (hexLength === 0 && !Object.hasOwn(escapes, letter))
    throw scannerError("found unknown escape character", cursor.line);
  cursor.position += 2;
  if (hexLength === 0) return escapes[letter] as string;
  const value = scanHex(cursor, hexLength);
  if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff)
    throw scannerError("found invalid Unicode character escape code", cursor.line);
  return String.fromCodePoint(value);
}

function scanHex(cursor: Cursor, length: number): number {
  const digits = cursor.source.slice(cursor.position, cursor.position + length);
  if (digits.length < length || !/^[0-9a-fA-F]*$/.test(digits)) {
    throw scannerError("did not find expected hexdecimal number", cursor.line); // Upstream's spelling.
  }
  cursor.position += length;
  return Number.parseInt(digits, 16);
}

type Chomping = "strip" | "clip" | "keep";

/**
 * Scans a literal or folded scalar.
 * @param parentIndent the indentation of the mapping or list that contains it, -1 at the top
 */
export function scanBlock(cursor: Cursor, parentIndent: number): string {
  const isLiteral = cursor.code() === 0x7c;
  cursor.position++;
  const { chomping, increment } = scanBlockHeader(cursor);
  const lines = new BlockLines(cursor, parentIndent, increment === 0 ? 0 : Math.max(parentIndent, 0) + increment);
  const { source } = cursor;
  let text = "";
  let lineBreak = "";
  let breaks = lines.skipBreaks();
  let beganBlank = false;
  while (lines.atContent()) {
    const beginsBlank = isBlank(cursor.code());
    const folds = !isLiteral && lineBreak === "\n" && !beganBlank && !beginsBlank;
    text += (folds ? (breaks === "" ? " " : "") : lineBreak) + breaks;
    beganBlank = beginsBlank;
    const start = cursor.position;
    cursor.skipLine();
    text += source.slice(start, cursor.position);
    lineBreak = cursor.code() === 0 ? "" : cursor.skipBreak();
    breaks = lines.skipBreaks();
  }
  if (chomping === "strip") return text;
  return text + lineBreak + (chomping === "keep" ? breaks : "");
}

function scanBlockHeader(cursor: Cursor): { chomping: Chomping; increment: number } {
  let chomping: Chomping = "clip";
  let increment = 0;
  const scanChomping = (): boolean => {
    const code = cursor.code();
    if (code !== 0x2b && code !== 0x2d) return false;
    chomping = code === 0x2b ? "keep" : "strip";
    cursor.position++;
    return true;
  };
  const scanIncrement = (): void => {
    const digit = cursor.code() - 0x30;
    if (digit < 0 || digit > 9) return;
    if (digit === 0) throw scannerError("found an indentation indicator equal to 0", cursor.line);
    increment = digit;
    cursor.position++;
  };
  const chompingFirst = scanChomping();
  scanIncrement();
  if (!chompingFirst) scanChomping();
  while (isBlank(cursor.code())) cursor.position++;
  if (cursor.code() === 0x23) cursor.skipLine();
  if (!isBreakOrEnd(cursor.code())) throw scannerError("did not find expected comment or line break", cursor.line);
  if (isBreak(cursor.code())) cursor.skipBreak();
  return { chomping, increment };
}

/**
 * The lines of a block scalar. Their indentation is in the header, or is that of the first line.
 */
class BlockLines {
  readonly #cursor: Cursor;
  readonly #parentIndent: number;
  /** 0 until the first line. */
  #indent: number;

  constructor(cursor: Cursor, parentIndent: number, indent: number) {
    this.#cursor = cursor;
    this.#parentIndent = parentIndent;
    this.#indent = indent;
  }

  atContent(): boolean {
    return this.#cursor.column === this.#indent && this.#cursor.code() !== 0;
  }

  /**
   * Skips empty lines, and the indentation of the line after them.
   * @returns the line breaks
   */
  skipBreaks(): string {
    const cursor = this.#cursor;
    let breaks = "";
    let widest = 0;
    for (;;) {
      while ((this.#indent === 0 || cursor.column < this.#indent) && cursor.code() === 0x20) cursor.position++;
      widest = Math.max(widest, cursor.column);
      if ((this.#indent === 0 || cursor.column < this.#indent) && cursor.code() === 0x09) {
        throw scannerError("found a tab character where an indentation space is expected", cursor.line);
      }
      if (!isBreak(cursor.code())) break;
      breaks += cursor.skipBreak();
    }
    if (this.#indent === 0) this.#indent = Math.max(widest, this.#parentIndent + 1, 1);
    return breaks;
  }
}
