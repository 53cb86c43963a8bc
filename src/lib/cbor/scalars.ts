/** Reads the items that contain no others, and tags. Source: RFC 8949. */
import { DurationError } from "../duration/duration.ts";
import { NumberLiteral } from "../json/number-literal.ts";
import { type Integer, toInteger } from "../json/values.ts";
import { QuantityError } from "../quantity/quantity.ts";
import { Base64Error, canonicalizeBase64 } from "../schema/base64.ts";
import { type DecodeNode, goTypeName } from "../schema/decode-plan.ts";
import { TimeError } from "../schema/time.ts";
import { zeroValueOf } from "../schema/zero.ts";
import { dateOfEpoch, dateOfText } from "./dates.ts";
import { other, type Problem, unsupportedSimple } from "./problem.ts";
import type { Reader } from "./reader.ts";
import { CborError, falseByte, major, majorNames, nullByte, tag, trueByte } from "./wire.ts";

/** Reads scalars; a problem with one is kept until it is taken. */
export class Scalars {
  readonly #reader: Reader;
  readonly #keepsFloats: boolean;
  /** The problem of the last item. The caller takes it and continues. */
  problem: Problem | undefined;
  /** The tag of the text encoding of byte strings; 0 without a tag. */
  textEncoding = 0;

  /** @param keepsFloats whether floats without a fraction become NumberLiterals */
  constructor(reader: Reader, keepsFloats: boolean) {
    this.#reader = reader;
    this.#keepsFloats = keepsFloats;
  }

  /** Reads the tags of an item. @returns the last tag with a meaning, or -1 */
  tags(): number {
    const reader = this.#reader;
    let last = -1;
    while (reader.major === major.tag) {
      const number = reader.argument();
      this.problem ??= problemOfTag(number, reader);
      if (number >= tag.base64url && number <= tag.base16) this.textEncoding = number;
      if (number !== tag.selfDescribed) last = number;
    }
    return last;
  }

  /** Reads an integer for a type. */
  integer(node: DecodeNode): unknown {
    const type = this.#reader.major;
    if (type === major.positive) return this.#fit(this.#reader.integer(), type, node);
    const value = this.negative();
    if (fitsInt64(value)) return this.#fit(value, type, node);
    return this.reportType({ major: type, goType: goTypeName(node), extra: `${value} overflows Go's int64` });
  }

  #fit(value: Integer, type: number, node: DecodeNode): unknown {
    switch (node.kind) {
      case "double":
        return Number(value);
      case "int32":
        if (typeof value === "number" && (value | 0) === value) return value;
        break;
      case "int64":
        if (fitsInt64(value)) return value;
        break;
      default:
        return this.reportType({ major: type, goType: goTypeName(node) });
    }
    return this.reportType({ major: type, goType: goTypeName(node), extra: `${value} overflows ${goTypeName(node)}` });
  }

  /** Reads a negative integer. */
  negative(): Integer {
    const argument = this.#reader.integer();
    return typeof argument === "number" && argument < Number.MAX_SAFE_INTEGER
      ? -1 - argument
      : toInteger(-1n - BigInt(argument));
  }

  /** Reads a text string. */
  text(): string {
    const text = this.#reader.text();
    if (text !== undefined) return text;
    this.problem = other("cbor: invalid UTF-8 string");
    return "";
  }

  /** Reads a text string where the type is another. */
  textMismatch(node: DecodeNode): unknown {
    const name = this.#reader.major;
    this.text();
    return this.problem === undefined ? this.reportType({ major: name, goType: goTypeName(node) }) : null;
  }

  /** Decodes a byte string as text. */
  byteText(): string {
    switch (this.textEncoding) {
      case tag.base64url:
        return this.#reader.byteString().toString("base64url");
      case tag.base64:
        return this.#reader.byteString().toString("base64");
      case tag.base16:
        return this.#reader.byteString().toString("hex");
      default:
        return this.#reader.byteText();
    }
  }

  /**
   * Decodes a byte string as bytes: its content is base64, unless a tag declares a text encoding.
   */
  byteString(): unknown {
    const bytes = this.#reader.byteString();
    if (this.textEncoding !== 0) return bytes.toString("base64");
    try {
      return canonicalizeBase64(bytes.toString("latin1"));
    } catch (error) {
      if (!(error instanceof Base64Error)) throw error;
      this.problem = other(`cbor: failed to decode base64 from byte string: ${error.message}`);
      return "";
    }
  }

  /** Skips a null. */
  null(): null {
    this.#reader.skip();
    return null;
  }

  /** Reads a simple value or a float for a type. */
  simple(node: DecodeNode): unknown {
    const reader = this.#reader;
    const next = reader.next;
    if (next === nullByte) {
      reader.skip();
      return zeroValueOf(node.type);
    }
    if (reader.isFloat) {
      const value = reader.float();
      return node.kind === "double" ? value : this.reportType({ major: major.simple, goType: goTypeName(node) });
    }
    if (next !== trueByte && next !== falseByte) return this.unsupportedSimple();
    reader.skip();
    return node.kind === "bool"
      ? next === trueByte
      : this.reportType({ major: major.simple, goType: goTypeName(node) });
  }

  /** Reads a simple value that the format does not have. */
  unsupportedSimple(): null {
    this.problem = unsupportedSimple(this.#reader.argument());
    return null;
  }

  /** Reads a float without a schema. */
  float(): number | NumberLiteral {
    const value = this.#reader.float();
    return this.#keepsFloats && Number.isSafeInteger(value) ? new NumberLiteral(String(value), value) : value;
  }

  /** Decodes an integer without a schema, which must fit into an int64. */
  untypedInteger(): unknown {
    const type = this.#reader.major;
    const value = type === major.negative ? this.negative() : this.#reader.integer();
    if (fitsInt64(value)) return value;
    return this.reportType({ major: type, goType: "int64", extra: `${value} overflows Go's int64` });
  }

  /** Converts a tagged time to text. */
  date(): unknown {
    const reader = this.#reader;
    try {
      if (reader.major === major.text) return dateOfText(this.text());
      if (reader.isFloat) return dateOfEpoch(reader.float());
      const type = reader.major;
      const value = type === major.negative ? this.negative() : reader.integer();
      if (fitsInt64(value)) return dateOfEpoch(Number(value));
      return this.reportType({ major: type, goType: "time.Time", extra: `${value} overflows Go's int64` });
    } catch (error) {
      if (!(error instanceof CborError)) throw error;
      this.problem ??= other(error.message);
      return null;
    }
  }

  /** Converts a value by the decoder of its type, whose error is the item's problem. */
  converted<In, Out>(decode: (value: In) => Out, value: In): Out | undefined {
    try {
      return decode(value);
    } catch (error) {
      if (!(error instanceof QuantityError) && !(error instanceof TimeError) && !(error instanceof DurationError))
        throw error;
      this.problem = other(error.message);
      return undefined;
    }
  }

  /** Skips an item of another type. */
  mismatch(node: DecodeNode, extra?: string): null {
    const type = this.#reader.major;
    this.#reader.skip();
    return this.reportType({ major: type, goType: goTypeName(node), ...(extra !== undefined && { extra }) });
  }

  /** Sets the problem of an item of another type. */
  reportType(mismatch: { readonly major: number; readonly goType: string; readonly extra?: string }): null {
    this.problem = { kind: "type", ...mismatch };
    return null;
  }

  /** Takes the problem of the last item. */
  take(): Problem | undefined {
    const problem = this.problem;
    this.problem = undefined;
    return problem;
  }
}

/** Whether an integer is an int64. */
export function fitsInt64(value: Integer): boolean {
  return typeof value === "number" || BigInt.asIntN(64, value) === value;
}

/** The problem of a tag that is followed by an item of the wrong type. */
function problemOfTag(number: number, { major: type, isFloat }: Reader): Problem | undefined {
  if (number === tag.dateText && type !== major.text) return misplacedTag(number, "text string", type);
  const isNumber = type === major.positive || type === major.negative || isFloat;
  return number === tag.epoch && !isNumber ? misplacedTag(number, "integer or floating-point number", type) : undefined;
}

function misplacedTag(number: number, expected: string, type: number): Problem {
  return other(`cbor: tag number ${number} must be followed by ${expected}, got ${majorNames[type]}`);
}
