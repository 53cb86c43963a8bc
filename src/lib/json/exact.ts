/**
 * A JSON parser without losses: it has the error messages of Go, keeps repeated members, integers
 * of any size, and the text of other numbers. It is several times slower than `JSON.parse`. Source:
 * Go, encoding/json/scanner.go
 * Source: https://pkg.go.dev/encoding/json.
 */
import { isUtf8 } from "node:buffer";
import { NumberLiteral } from "./number-literal.ts";
import { escapeGo } from "./quote.ts";
import { JsonSyntaxError } from "./syntax-error.ts";

/** The nesting limit of Go. */
export const depthMax = 10_000;

/** A member of an object. */
export type Member = readonly [key: string, value: unknown];

/** A text parsed without losses. */
export interface Exact {
  /**
   * A number is a number if it is a safe integer, a bigint for other integers of up to 128 digits,
   * and a NumberLiteral otherwise.
   */
  readonly value: unknown;
  /**
   * For each object with repeated keys, all members in order. The object itself has the last ones.
   */
  readonly repeated: ReadonlyMap<object, readonly Member[]>;
}

/** Parses a text. @throws JsonSyntaxError */
export function parseExact(bytes: Buffer): Exact {
  return new ExactParser(bytes).parse();
}

interface OpenArray {
  readonly list: unknown[];
}

interface OpenObject {
  readonly object: Record<string, unknown>;
  readonly members: Member[];
  key: string;
  repeats: boolean;
}

type Open = OpenArray | OpenObject;

/** Iterative, so that deep texts do not overflow the stack. */
class ExactParser {
  readonly #bytes: Buffer;
  readonly #valid: boolean;
  readonly #open: Open[] = [];
  readonly #repeated = new Map<object, readonly Member[]>();
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#valid = isUtf8(bytes);
  }

  parse(): Exact {
    let value = this.#value();
    for (let top = this.#open.at(-1); top !== undefined; top = this.#open.at(-1)) {
      if (value !== opened) this.#add(top, value);
      value = this.#next(top, value === opened);
    }
    this.#skipSpace();
    if (this.#at < this.#bytes.length) this.#fail("after top-level value");
    return { value, repeated: this.#repeated };
  }

  /** Parses the next value of the innermost array or object, or returns it at its end. */
  #next(top: Open, first: boolean): unknown {
    const isArray = "list" in top;
    const byte = this.#skipSpace();
    if (byte === (isArray ? 0x5d : 0x7d)) {
      this.#at++;
      return this.#close();
    }
    if (!first) {
      if (byte !== 0x2c) this.#fail(isArray ? "after array element" : "after object key:value pair");
      this.#at++;
    }
    if (!isArray) this.#key(top);
    return this.#value();
  }

  #close(): unknown {
    const closed = this.#open.pop() as Open;
    if ("list" in closed) return closed.list;
    if (closed.repeats) this.#repeated.set(closed.object, closed.members);
    return closed.object;
  }

  #key(top: OpenObject): void {
    if (this.#skipSpace() !== 0x22) this.#fail("looking for beginning of object key string");
    top.key = this.#string();
    if (this.#skipSpace() !== 0x3a) this.#fail("after object key");
    this.#at++;
  }

  #add(top: Open, value: unknown): void {
    if ("list" in top) {
      top.list.push(value);
      return;
    }
    top.repeats ||= Object.hasOwn(top.object, top.key);
    top.members.push([top.key, value]);
    if (top.key === "__proto__")
      Object.defineProperty(top.object, top.key, { value, writable: true, enumerable: true, configurable: true });
    else top.object[top.key] = value;
  }

  #value(): unknown {
    const byte = this.#skipSpace();
    switch (byte) {
      case 0x7b:
        return this.#begin({ object: {}, members: [], key: "", repeats: false });
      case 0x5b:
        return this.#begin({ list: [] });
      case 0x22:
        return this.#string();
      case 0x74:
        return this.#literal("true", true);
      case 0x66:
        return this.#literal("false", false);
      case 0x6e:
        return this.#literal("null", null);
      default:
        return this.#number();
    }
  }

  #begin(open: Open): typeof opened {
    if (this.#open.length === depthMax) this.#fail("exceeded max depth");
    this.#open.push(open);
    this.#at++;
    return opened;
  }

  #literal(text: string, value: unknown): unknown {
    for (let index = 1; index < text.length; index++) {
      this.#at++;
      if (this.#peek() !== text.charCodeAt(index)) this.#fail(`in literal ${text} (expecting '${text[index]}')`);
    }
    this.#at++;
    return value;
  }

  #number(): unknown {
    const start = this.#at;
    if (this.#peek() === 0x2d) {
      this.#at++;
      if (!this.#isDigit()) this.#fail("in numeric literal");
    } else if (!this.#isDigit()) this.#fail("looking for beginning of value");
    if (this.#peek() === 0x30) this.#at++;
    else this.#digits();
    let integer = true;
    if (this.#peek() === 0x2e) {
      integer = false;
      this.#at++;
      if (!this.#isDigit()) this.#fail("after decimal point in numeric literal");
      this.#digits();
    }
    if (this.#peek() === 0x65 || this.#peek() === 0x45) {
      integer = false;
      this.#at++;
      if (this.#peek() === 0x2b || this.#peek() === 0x2d) this.#at++;
      if (!this.#isDigit()) this.#fail("in exponent of numeric literal");
      this.#digits();
    }
    if (integer && this.#at - start <= shortIntegerMax) return this.#shortInteger(start);
    const text = this.#bytes.toString("latin1", start, this.#at);
    return integer ? integerOf(text) : new NumberLiteral(text);
  }

  /** Without a text, which would take most of the time that a list of numbers takes. */
  #shortInteger(start: number): number {
    const isNegative = this.#bytes[start] === 0x2d;
    let value = 0;
    for (let at = isNegative ? start + 1 : start; at < this.#at; at++)
      value = value * 10 + (this.#bytes[at] as number) - 0x30;
    return isNegative && value > 0 ? -value : value;
  }

  #digits(): void {
    while (this.#isDigit()) this.#at++;
  }

  #isDigit(): boolean {
    const byte = this.#peek();
    return byte >= 0x30 && byte <= 0x39;
  }

  #string(): string {
    const start = ++this.#at;
    let escaped = false;
    for (let byte = this.#peek(); byte !== 0x22; byte = this.#peek()) {
      if (byte === endOfText) throw new JsonSyntaxError("unexpected end of JSON input");
      if (byte < 0x20) this.#fail("in string literal");
      this.#at++;
      if (byte !== 0x5c) continue;
      escaped = true;
      this.#escape();
    }
    const text = this.#decode(start, this.#at);
    this.#at++;
    return escaped ? (JSON.parse(`"${text}"`) as string).toWellFormed() : text;
  }

  #escape(): void {
    const byte = this.#peek();
    if (byte !== 0x75) {
      if (!escapable.has(byte)) this.#fail("in string escape code");
      this.#at++;
      return;
    }
    for (let digit = 0; digit < 4; digit++) {
      this.#at++;
      if (!isHex(this.#peek())) this.#fail("in \\u hexadecimal character escape");
    }
    this.#at++;
  }

  /** Replaces each byte that is not UTF-8 by U+FFFD, as Go does. */
  #decode(start: number, end: number): string {
    if (this.#valid) return this.#bytes.toString("utf8", start, end);
    return decodeLoosely(this.#bytes.subarray(start, end));
  }

  #peek(): number {
    return this.#at < this.#bytes.length ? (this.#bytes[this.#at] as number) : endOfText;
  }

  #skipSpace(): number {
    for (;;) {
      const byte = this.#peek();
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
      this.#at++;
    }
  }

  /**
   * At the end of the text, Go passes a space to its scanner, and reports an unexpected end only
   * where a space is allowed.
   */
  #fail(context: string): never {
    const byte = this.#peek();
    if (byte === endOfText && !noSpaceMayFollow.test(context))
      throw new JsonSyntaxError("unexpected end of JSON input");
    throw new JsonSyntaxError(`invalid character ${quoteByte(byte === endOfText ? 0x20 : byte)} ${context}`);
  }
}

/** Returned for an array or object whose members follow. */
const opened = Symbol("opened");
const endOfText = -1;
const noSpaceMayFollow = /^in |^after decimal point/;
const escapable: ReadonlySet<number> = new Set([...'"\\/bfnrt'].map((character) => character.charCodeAt(0)));

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

/** The length up to which an integer is safe. */
const shortIntegerMax = 15;
/** Longer integers fit no type, and conversion of a bigint takes time quadratic in its length. */
const integerLengthMax = 128;

function integerOf(text: string): number | bigint | NumberLiteral {
  if (text.length > integerLengthMax) return new NumberLiteral(text);
  const value = Number(text);
  if (!Number.isSafeInteger(value)) return BigInt(text);
  return value === 0 ? 0 : value;
}

/** Go formats the byte as a code point. */
function quoteByte(byte: number): string {
  const character = String.fromCharCode(byte);
  if (character === "'") return "'\\''";
  return character === '"' ? `'"'` : `'${escapeGo(character)}'`;
}

/** Decodes UTF-8 and replaces each invalid byte by U+FFFD, as Go does for JSON. */
export function decodeLoosely(bytes: Buffer): string {
  let text = "";
  let at = 0;
  while (at < bytes.length) {
    const length = characterLength(bytes, at);
    text += length === 0 ? "\ufffd" : bytes.toString("utf8", at, at + length);
    at += length || 1;
  }
  return text;
}

/** Returns the length of the character in bytes, or 0 for an invalid one. */
function characterLength(bytes: Buffer, at: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}
