/** Decodes the characters of a document. Source: the reader of go-yaml v2. */
import { isUtf8 } from "node:buffer";
import { YamlError } from "./yaml-error.ts";

/**
 * Decodes UTF-8 text, without its byte order mark.
 * @throws YamlError for bytes that are not UTF-8, and for characters that YAML does not allow
 */
export function readCharacters(bytes: Buffer): string {
  const problem = isUtf8(bytes) ? undefined : octetProblem(bytes);
  const text = bytes.toString("utf8", 0, problem?.at).replace(byteOrderMark, "");
  if (forbidden.test(text)) throw new YamlError("yaml: control characters are not allowed");
  if (problem !== undefined) throw new YamlError(`yaml: ${problem.what}`);
  return text;
}

const byteOrderMark = /^\ufeff{1,2}/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: YAML does not allow these control characters.
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

interface OctetProblem {
  readonly at: number;
  readonly what: string;
}

/** @param bytes not valid UTF-8 */
function octetProblem(bytes: Buffer): OctetProblem {
  for (let at = 0; ; ) {
    const width = widthOf(bytes[at] as number);
    const what = problemOf(bytes.subarray(at, at + width), width);
    if (what !== undefined) return { at, what };
    at += width;
  }
}

function problemOf(octets: Buffer, width: number): string | undefined {
  if (width === 0) return "invalid leading UTF-8 octet";
  if (octets.length < width) return "incomplete UTF-8 octet sequence";
  if (octets.subarray(1).some((octet) => (octet & 0xc0) !== 0x80)) return "invalid trailing UTF-8 octet";
  if (isUtf8(octets)) return undefined;
  const lead = octets.readUInt16BE(0);
  const isTooLong = width === 2 || (lead & 0xffe0) === 0xe080 || (lead & 0xfff0) === 0xf080;
  return isTooLong ? "invalid length of a UTF-8 sequence" : "invalid Unicode character";
}

/** The number of bytes of a character, from its first byte; 0 if no character begins with it. */
function widthOf(octet: number): number {
  if (octet < 0x80) return 1;
  if (octet >> 5 === 0b110) return 2;
  if (octet >> 4 === 0b1110) return 3;
  return octet >> 3 === 0b11110 ? 4 : 0;
}
