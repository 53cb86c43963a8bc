/** Parses literals. Source: cel-spec, "Syntax". */
import { clampedInteger } from "../text/integer.ts";
import { CelFailure } from "./values/failure.ts";
import { intOf } from "./values/int.ts";
import { CelDouble, CelUint, type CelValue } from "./values/value.ts";

/**
 * Parses a literal, whose sign is not in its text.
 * @param kind of its token
 * @returns its value, or a failure with the message of cel-go; undefined for a token that is not a literal
 */
export function parseLiteral(kind: string, text: string, negative: boolean): CelValue | CelFailure | undefined {
  switch (kind) {
    case "NUM_INT":
      return parseIntLiteral(text, negative);
    case "NUM_FLOAT":
      return parseDoubleLiteral(text, negative);
    case "NUM_UINT":
      return parseUintLiteral(text);
    case "STRING":
      return parseStringLiteral(text);
    case "BYTES":
      return parseBytesLiteral(text);
    default:
      return undefined;
  }
}

/** @param text digits, or `0x` and hexadecimal digits */
function parseIntLiteral(text: string, negative: boolean): CelValue | CelFailure {
  const magnitude = magnitudeOf(text);
  return intOf(negative ? -magnitude : magnitude) ?? new CelFailure("invalid int literal");
}

function magnitudeOf(text: string): bigint {
  return text.startsWith("0x") ? BigInt(text) : clampedInteger(text);
}

function parseUintLiteral(text: string): CelValue | CelFailure {
  const value = magnitudeOf(text.slice(0, -1));
  return value < 2n ** 64n ? new CelUint(value) : new CelFailure("invalid uint literal");
}

function parseDoubleLiteral(text: string, negative: boolean): CelValue | CelFailure {
  const value = Number(text);
  return Number.isFinite(value) ? new CelDouble(negative ? -value : value) : new CelFailure("invalid double literal");
}

interface Quoted {
  readonly raw: boolean;
  readonly body: string;
}

function unquote(text: string): Quoted {
  const raw = text[0] === "r" || text[0] === "R";
  const quoted = raw ? text.slice(1) : text;
  const quotes = quoted.length >= 6 && (quoted.startsWith('"""') || quoted.startsWith("'''")) ? 3 : 1;
  return { raw, body: quoted.slice(quotes, -quotes).replaceAll("\r\n", "\n").replaceAll("\r", "\n") };
}

const escapeSequence = /\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]))/g;
const plainEscapes = new Map(Object.entries({ a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" }));

function parseStringLiteral(text: string): CelValue | CelFailure {
  const { raw, body } = unquote(text);
  if (raw || !body.includes("\\")) return body.isWellFormed() ? body : new CelFailure("invalid unicode code point");
  let wrong = false;
  const unescaped = body.replace(
    escapeSequence,
    (_, x?: string, u4?: string, u8?: string, octal?: string, plain?: string) => {
      if (plain !== undefined) return plainEscapes.get(plain) ?? plain;
      const code = octal === undefined ? Number.parseInt(x ?? u4 ?? (u8 as string), 16) : Number.parseInt(octal, 8);
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) wrong = true;
      return wrong ? "" : String.fromCodePoint(code);
    },
  );
  return wrong ? new CelFailure("invalid unicode code point") : unescaped;
}

/** In bytes, `\xff` and `\377` are one byte each, and `\u` is not allowed. */
function parseBytesLiteral(text: string): CelValue | CelFailure {
  const { raw, body } = unquote(text.slice(1));
  if (raw || !body.includes("\\")) return new TextEncoder().encode(body);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const match of body.matchAll(escapeSequence)) {
    parts.push(new TextEncoder().encode(body.slice(from, match.index)));
    from = match.index + match[0].length;
    const [, x, u4, u8, octal, plain] = match;
    if (u4 !== undefined || u8 !== undefined) return new CelFailure("unable to unescape string");
    if (plain !== undefined) parts.push(new TextEncoder().encode(plainEscapes.get(plain) ?? plain));
    else parts.push(Uint8Array.of(octal === undefined ? Number.parseInt(x as string, 16) : Number.parseInt(octal, 8)));
  }
  parts.push(new TextEncoder().encode(body.slice(from)));
  return Uint8Array.from(Buffer.concat(parts));
}
