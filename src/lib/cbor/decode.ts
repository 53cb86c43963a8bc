/**
 * Decodes one CBOR item to a plain object, with or without a schema. Rejects what upstream's
 * decoder rejects, with its messages. Decoding continues after a problem, and of several problems
 * the same one as upstream's is reported. Strings may be text or byte strings; bytes are base64
 * text unless a tag declares another encoding.
 * Source: k8s.io/apimachinery@v0.36.0/pkg/runtime/serializer/cbor; fxamacker/cbor as configured
 * there.
 */
import { DurationError, formatDuration, parseDuration } from "../duration/duration.ts";
import { NumberLiteral } from "../json/number-literal.ts";
import { goKindOf } from "../json/parse.ts";
import { type Integer, setMember, toInteger } from "../json/values.ts";
import { canonicalQuantity, QuantityError } from "../quantity/quantity.ts";
import { Base64Error, canonicalizeBase64 } from "../schema/base64.ts";
import { retainedDepthMax } from "../schema/decode.ts";
import { DecodeNode, type FieldPlan, goTypeName } from "../schema/decode-plan.ts";
import type { Struct } from "../schema/schema.ts";
import { canonicalizeMicroTime, canonicalizeTime, TimeError } from "../schema/time.ts";
import { zeroValueOf } from "../schema/zero.ts";
import { dateOfEpoch, dateOfText } from "./dates.ts";
import {
  duplicateKey,
  formatProblem,
  type Key,
  other,
  type Problem,
  unknownField,
  unsupportedSimple,
} from "./problem.ts";
import { Reader } from "./reader.ts";
import { checkWellFormed } from "./well-formed.ts";
import { breakByte, CborError, falseByte, major, majorNames, nullByte, tag, trueByte, undefinedByte } from "./wire.ts";

interface DecodedCbor {
  /** The object; the caller may change it. */
  readonly object: Record<string, unknown>;
  /** The first unknown field, in upstream's words; empty unless strict. */
  readonly problems: readonly string[];
}

/**
 * Decodes an item by a schema.
 * @param options.strict whether to report an unknown field
 * @throws CborError
 */
export function decodeCbor(bytes: Buffer, schema: Struct, { strict }: { readonly strict: boolean }): DecodedCbor {
  checkWellFormed(bytes);
  const { object, unknown } = new Decoder(bytes, { strict }).struct(schema);
  if (unknown === undefined) return { object, problems: [] };
  return { object: new Decoder(bytes, { strict: false }).struct(schema).object, problems: [unknown] };
}

/**
 * Decodes a map without a schema; null counts as an empty map.
 * @param options.keepsFloats whether floats without a fraction become NumberLiterals, not integers
 * @throws CborError
 */
export function decodeAnyCbor(bytes: Buffer, { keepsFloats = false } = {}): Record<string, unknown> {
  checkWellFormed(bytes);
  return new Decoder(bytes, { strict: false, keepsFloats }).map();
}

/**
 * Decodes the apiVersion and kind of an object; empty when absent.
 * @throws CborError
 */
export function cborTypeMeta(bytes: Buffer): { readonly apiVersion: string; readonly kind: string } {
  try {
    const { object } = decodeCbor(bytes, typeMeta, { strict: false });
    return {
      apiVersion: (object.apiVersion as string | undefined) ?? "",
      kind: (object.kind as string | undefined) ?? "",
    };
  } catch (error) {
    if (error instanceof CborError) throw new CborError(`unable to determine group/version/kind: ${error.message}`);
    throw error;
  }
}

const text = { kind: "string" } as const;
const typeMetaFields = ["kind", "apiVersion"].map((name) => ({
  ...{ name, type: text, pointer: false, omitEmpty: true, omitZero: false, required: false },
}));
const typeMeta: Struct = {
  ...{ kind: "struct", definition: "TypeMeta", goType: "v1.TypeMeta", atomic: false, preserveUnknown: false },
  fields: typeMetaFields,
  byName: new Map(typeMetaFields.map((field) => [field.name, field])),
};

/** Marks a value that is left out. */
const absent = Symbol("absent");

/** Marks an invalid key. */
const unusable = Symbol("unusable");

const any = { kind: "any", definition: "" } as const;
const anyNode = new DecodeNode(any, ["interface {}"]);
const anyListNode = new DecodeNode({ kind: "list", items: any, listType: "atomic", mapKeys: [] }, [
  "[]interface {}",
  "interface {}",
]);
const textNode = new DecodeNode(text, []);
const byteNode = new DecodeNode({ kind: "int32" }, ["uint8"]);
const intNode = new DecodeNode({ kind: "int32" }, ["int32"]);
const mapNode = new DecodeNode({ kind: "map", values: any, atomic: false }, [
  "map[string]interface {}",
  "interface {}",
]);

/** Types with their own UnmarshalCBOR method, to which enclosing tags do not apply. */
const customDecoders: ReadonlySet<string> = new Set(["quantity", "time", "microtime", "duration", "intOrString"]);

function hasCustomDecoder({ kind, type }: DecodeNode): boolean {
  return customDecoders.has(kind) || (type.kind === "any" && type.definition !== "");
}

const fieldsV1 = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1";

/**
 * Types that upstream keeps encoded and converts to JSON at the end, with the prefix of the error.
 */
const transcodedIn: Readonly<Record<string, string>> = {
  "io.k8s.apimachinery.pkg.runtime.RawExtension":
    "failed to transcode RawExtension to JSON: failed to parse RawExtension bytes as CBOR: ",
  [fieldsV1]: "failed to transcode FieldsV1 to JSON: metav1.FieldsV1 cbor invalid: ",
};

class Decoder {
  readonly #reader: Reader;
  #strict: boolean;
  readonly #keepsFloats: boolean;
  /** The problem of the last item. The caller takes it and continues. */
  #problem: Problem | undefined;
  /** The first error of converting encoded parts to JSON at the end. */
  #transcodeError: string | undefined;
  /** The tag of the text encoding of byte strings; 0 without a tag. */
  #textEncoding = 0;
  #depth = 0;

  constructor(bytes: Buffer, { strict, keepsFloats = false }: { strict: boolean; keepsFloats?: boolean }) {
    this.#reader = new Reader(bytes);
    this.#strict = strict;
    this.#keepsFloats = keepsFloats;
  }

  struct(schema: Struct): { object: Record<string, unknown>; unknown: string | undefined } {
    const value = this.#value(new DecodeNode(schema, []));
    const problem = this.#problem;
    if (problem?.kind === "unknown" && this.#strict) return { object: {}, unknown: formatProblem(problem) };
    this.#throwProblem();
    return { object: value === absent || value === null ? {} : (value as Record<string, unknown>), unknown: undefined };
  }

  map(): Record<string, unknown> {
    const value = this.#value(mapNode);
    this.#throwProblem();
    return value as Record<string, unknown>;
  }

  #throwProblem(): void {
    if (this.#problem !== undefined) throw new CborError(formatProblem(this.#problem));
    if (this.#transcodeError !== undefined) throw new CborError(this.#transcodeError);
  }

  #value(node: DecodeNode): unknown {
    const own = hasCustomDecoder(node);
    if (!own && node.kind !== "any" && this.#reader.major !== major.tag) return this.#content(node);
    const outer = this.#textEncoding;
    if (own) this.#textEncoding = 0;
    const last = this.#tags();
    let value: unknown = null;
    if (this.#problem !== undefined) this.#reader.skip();
    else if (node.kind === "any") value = this.#anyValue(node, last);
    else value = this.#content(node);
    this.#textEncoding = outer;
    return value;
  }

  /** Reads the tags of an item. @returns the last tag with a meaning, or -1 */
  #tags(): number {
    const reader = this.#reader;
    let last = -1;
    while (reader.major === major.tag) {
      const number = reader.argument();
      this.#problem ??= problemOfTag(number, reader);
      if (number >= tag.base64url && number <= tag.base16) this.#textEncoding = number;
      if (number !== tag.selfDescribed) last = number;
    }
    return last;
  }

  #anyValue(node: DecodeNode, lastTag: number): unknown {
    if (node.forms.length > 0) return this.#forms(node, lastTag);
    const definition = node.type.kind === "any" ? node.type.definition : "";
    const isDate = lastTag === tag.dateText || lastTag === tag.epoch;
    // Without a tag, upstream treats a value that is not a map as JSON.
    const mustBeMap = definition === fieldsV1 && lastTag >= 6;
    const value = isDate ? this.#date() : mustBeMap ? this.#content(mapNode) : this.#any();
    const context = transcodedIn[definition];
    if (context === undefined || this.#problem === undefined) return value;
    this.#transcodeError ??= context + formatProblem(this.#problem);
    this.#problem = undefined;
    return null;
  }

  #content(node: DecodeNode): unknown {
    switch (node.kind) {
      case "quantity":
        return this.#scalarText(canonicalQuantity) ?? "0";
      case "time":
        return this.#scalarText(canonicalizeTime) ?? absent;
      case "microtime":
        return this.#scalarText(canonicalizeMicroTime) ?? absent;
      case "duration":
        return this.#duration();
      case "intOrString":
        return this.#intOrString();
    }
    switch (this.#reader.major) {
      case major.positive:
      case major.negative:
        return this.#integer(node);
      case major.bytes:
        if (node.kind === "string") return this.#byteText();
        return node.kind === "bytes" ? this.#byteString() : this.#mismatch(node);
      case major.text:
        return node.kind === "string" ? this.#text() : this.#textMismatch(node);
      case major.array:
        if (node.kind === "list") return this.#list(node);
        if (node.kind === "bytes") return this.#bytesOfList();
        return node.kind === "struct"
          ? this.#mismatch(node, "cannot decode CBOR array to struct without toarray option")
          : this.#mismatch(node);
      case major.map:
        if (node.kind === "struct") return this.#struct(node);
        return node.kind === "map" ? this.#map(node) : this.#mismatch(node);
      default:
        return this.#simple(node);
    }
  }

  #struct(node: DecodeNode): Record<string, unknown> {
    const plan = node.struct;
    const object: Record<string, unknown> = {};
    const seen = new Set<FieldPlan>();
    let unknownKeys: Set<Key> | undefined; // Created for the first unknown field.
    let problem: Problem | undefined;
    const pairs = this.#enter();
    for (let index = 0; this.#more(pairs, index); index++) {
      // A key with a tag is not a field name.
      const isName = this.#reader.major === major.bytes || this.#reader.major === major.text;
      const key = this.#fieldName();
      const keyProblem = this.#take();
      if (keyProblem !== undefined) problem ??= keyProblem;
      if (key === unusable) {
        this.#reader.skip();
        continue;
      }
      const field = isName ? plan.fields.get(key as string) : undefined;
      if (field === undefined ? this.#strict || unknownKeys?.has(key) : seen.has(field)) {
        problem = field === undefined && this.#strict ? unknownField(index) : duplicateKey(key, index);
        this.#leaveEarly(pairs, index);
        break;
      }
      if (field === undefined) {
        unknownKeys ??= new Set();
        unknownKeys.add(key);
        this.#reader.skip();
        continue;
      }
      seen.add(field);
      const value = this.#field(field);
      const found = this.#take();
      if (found === undefined) {
        if (value !== absent) setMember(object, field.name, value);
      } else if (problem === undefined) {
        problem = found;
        if (found.kind === "type") found.field = `${(node.type as Struct).goType}.${field.name}`;
      }
    }
    this.#depth--;
    this.#problem = problem;
    return object;
  }

  #field(field: FieldPlan): unknown {
    const { node, pointer } = field;
    const next = this.#reader.next;
    if (next === nullByte || (next === undefinedByte && pointer)) {
      if (pointer || (node.kind !== "duration" && node.kind !== "intOrString")) {
        this.#reader.skip();
        return absent;
      }
    }
    return this.#value(node);
  }

  /** Reads a key. @returns `unusable` for an invalid key, with a problem */
  #fieldName(): Key | typeof unusable {
    const reader = this.#reader;
    const type = reader.major;
    if (type === major.bytes) return reader.byteText();
    if (type === major.text) {
      const text = this.#text();
      return this.#problem === undefined ? text : unusable;
    }
    if (type === major.positive) return BigInt.asIntN(64, BigInt(reader.integer()));
    if (type === major.negative) {
      const value = this.#negative();
      if (fitsInt64(value)) return BigInt(value);
      this.#reportType({ major: type, goType: "int64", extra: `-1-${-1n - BigInt(value)} overflows Go's int64` });
      return unusable;
    }
    const named = majorNames[type];
    this.#reportType({
      major: type,
      goType: "string",
      extra: `map key is of type ${named} and cannot be used to match struct field name`,
    });
    const problem = this.#take();
    const key = this.#value(anyNode);
    const unreadable = this.#take() !== undefined;
    this.#problem = problem;
    if (unreadable || (typeof key === "object" && key !== null)) return unusable;
    return key as Key;
  }

  #map(node: DecodeNode): Record<string, unknown> {
    const { element } = node;
    const keyNode = keyNodeOf(node);
    const object: Record<string, unknown> = {};
    let problem: Problem | undefined;
    let key = "";
    const pairs = this.#enter();
    for (let index = 0; this.#more(pairs, index); index++) {
      if (this.#reader.next === nullByte)
        this.#reader.at++; // Upstream uses the previous key again, which is a duplicate.
      else {
        const text = this.#value(keyNode);
        const badKey = this.#take();
        if (badKey !== undefined) {
          problem ??= badKey;
          this.#reader.skip();
          continue;
        }
        key = text as string;
      }
      const value = this.#element(element);
      const found = this.#take();
      if (found !== undefined) {
        problem ??= found;
        continue;
      }
      if (Object.hasOwn(object, key)) {
        problem = duplicateKey(key, index);
        this.#leaveEarly(pairs, index + 1, true);
        break;
      }
      setMember(object, key, value);
    }
    this.#depth--;
    this.#problem = problem;
    return object;
  }

  #list(node: DecodeNode): unknown[] {
    const { element } = node;
    const list: unknown[] = [];
    let problem: Problem | undefined;
    const items = this.#enter();
    for (let index = 0; this.#more(items, index); index++) {
      list.push(this.#element(element));
      if (this.#problem !== undefined) {
        problem ??= this.#problem;
        this.#problem = undefined;
      }
    }
    this.#depth--;
    this.#problem = problem;
    return list;
  }

  /** Decodes an item of a list or a value of a map, where null becomes the zero value. */
  #element(node: DecodeNode): unknown {
    if (this.#reader.next === nullByte && node.kind !== "duration" && node.kind !== "intOrString") {
      this.#reader.skip();
      return zeroValueOf(node.type);
    }
    const value = this.#value(node);
    return value === absent ? null : value;
  }

  /**
   * Reads the head of an array or a map.
   * @returns the number of items or pairs; undefined when the length is indefinite
   * @throws CborError when it is nested too deep
   */
  #enter(): number | undefined {
    if (++this.#depth > retainedDepthMax) throw new CborError(`exceeded max depth of ${retainedDepthMax}`);
    return this.#reader.open();
  }

  #more(count: number | undefined, index: number): boolean {
    if (count !== undefined) return index < count;
    if (this.#reader.next !== breakByte) return true;
    this.#reader.at++;
    return false;
  }

  /** Skips the rest of a map. @param atKey whether the next item is a key */
  #leaveEarly(pairs: number | undefined, index: number, atKey = false): void {
    if (!atKey) this.#reader.skip();
    for (let rest = atKey ? index : index + 1; this.#more(pairs, rest); rest++) {
      this.#reader.skip();
      this.#reader.skip();
    }
  }

  #integer(node: DecodeNode): unknown {
    const type = this.#reader.major;
    if (type === major.positive) return this.#fit(this.#reader.integer(), type, node);
    const value = this.#negative();
    if (fitsInt64(value)) return this.#fit(value, type, node);
    return this.#reportType({ major: type, goType: goTypeName(node), extra: `${value} overflows Go's int64` });
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
        return this.#reportType({ major: type, goType: goTypeName(node) });
    }
    return this.#reportType({ major: type, goType: goTypeName(node), extra: `${value} overflows ${goTypeName(node)}` });
  }

  #negative(): Integer {
    const argument = this.#reader.integer();
    return typeof argument === "number" && argument < Number.MAX_SAFE_INTEGER
      ? -1 - argument
      : toInteger(-1n - BigInt(argument));
  }

  #text(): string {
    const text = this.#reader.text();
    if (text !== undefined) return text;
    this.#problem = other("cbor: invalid UTF-8 string");
    return "";
  }

  #textMismatch(node: DecodeNode): unknown {
    const name = this.#reader.major;
    this.#text();
    return this.#problem === undefined ? this.#reportType({ major: name, goType: goTypeName(node) }) : null;
  }

  /** Decodes a byte string as text. */
  #byteText(): string {
    switch (this.#textEncoding) {
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
  #byteString(): unknown {
    const bytes = this.#reader.byteString();
    if (this.#textEncoding !== 0) return bytes.toString("base64");
    try {
      return canonicalizeBase64(bytes.toString("latin1"));
    } catch (error) {
      if (!(error instanceof Base64Error)) throw error;
      this.#problem = other(`cbor: failed to decode base64 from byte string: ${error.message}`);
      return "";
    }
  }

  /** Go also accepts a list of small integers for bytes. */
  #bytesOfList(): string {
    const bytes: number[] = [];
    let problem: Problem | undefined;
    const items = this.#enter();
    for (let index = 0; this.#more(items, index); index++) {
      const value = this.#value(byteNode);
      const found = this.#take() ?? problemOfByte(value);
      problem ??= found;
      bytes.push(Number(value));
    }
    this.#depth--;
    this.#problem = problem;
    return Buffer.from(bytes).toString("base64");
  }

  #null(): null {
    this.#reader.skip();
    return null;
  }

  #simple(node: DecodeNode): unknown {
    const reader = this.#reader;
    const next = reader.next;
    if (next === nullByte) {
      reader.skip();
      return zeroValueOf(node.type);
    }
    if (reader.isFloat) {
      const value = reader.float();
      return node.kind === "double" ? value : this.#reportType({ major: major.simple, goType: goTypeName(node) });
    }
    if (next !== trueByte && next !== falseByte) return this.#unsupportedSimple();
    reader.skip();
    return node.kind === "bool"
      ? next === trueByte
      : this.#reportType({ major: major.simple, goType: goTypeName(node) });
  }

  #unsupportedSimple(): null {
    this.#problem = unsupportedSimple(this.#reader.argument());
    return null;
  }

  #any(): unknown {
    const reader = this.#reader;
    switch (reader.major) {
      case major.positive:
      case major.negative:
        return this.#untypedInteger();
      case major.bytes:
        return this.#byteText();
      case major.text:
        return this.#text();
      case major.array:
        return this.#list(anyListNode);
      case major.map:
        return this.#map(mapNode);
    }
    const next = reader.next;
    if (reader.isFloat) return this.#float();
    if (next !== nullByte && next !== trueByte && next !== falseByte) return this.#unsupportedSimple();
    reader.skip();
    return next === nullByte ? null : next === trueByte;
  }

  #float(): number | NumberLiteral {
    const value = this.#reader.float();
    return this.#keepsFloats && Number.isSafeInteger(value) ? new NumberLiteral(String(value), value) : value;
  }

  /** Decodes an integer without a schema, which must fit into an int64. */
  #untypedInteger(): unknown {
    const type = this.#reader.major;
    const value = type === major.negative ? this.#negative() : this.#reader.integer();
    if (fitsInt64(value)) return value;
    return this.#reportType({ major: type, goType: "int64", extra: `${value} overflows Go's int64` });
  }

  /** Converts a tagged time to text. */
  #date(): unknown {
    const reader = this.#reader;
    try {
      if (reader.major === major.text) return dateOfText(this.#text());
      if (reader.isFloat) return dateOfEpoch(reader.float());
      const type = reader.major;
      const value = type === major.negative ? this.#negative() : reader.integer();
      if (fitsInt64(value)) return dateOfEpoch(Number(value));
      return this.#reportType({ major: type, goType: "time.Time", extra: `${value} overflows Go's int64` });
    } catch (error) {
      if (!(error instanceof CborError)) throw error;
      this.#problem ??= other(error.message);
      return null;
    }
  }

  /**
   * Decodes a scalar that is text on the wire.
   * @returns undefined for null, and when it has a problem
   */
  #scalarText<Out>(decode: (text: string) => Out): Out | undefined {
    if (this.#reader.next === nullByte || this.#reader.next === undefinedByte) return this.#null() ?? undefined;
    const text = this.#content(textNode) as string;
    return this.#problem === undefined ? this.#decodeScalar(decode, text) : undefined;
  }

  #decodeScalar<In, Out>(decode: (value: In) => Out, value: In): Out | undefined {
    try {
      return decode(value);
    } catch (error) {
      if (!(error instanceof QuantityError) && !(error instanceof TimeError) && !(error instanceof DurationError))
        throw error;
      this.#problem = other(error.message);
      return undefined;
    }
  }

  /** Decodes a duration through JSON, as upstream does. */
  #duration(): unknown {
    const value = this.#any();
    if (this.#problem !== undefined) {
      this.#problem = other(`cbor: cannot transcode from cbor to json: ${formatProblem(this.#problem)}`);
      return null;
    }
    if (value !== null && typeof value !== "string") {
      this.#problem = other(`json: cannot unmarshal ${goKindOf(value)} into Go value of type string`);
      return null;
    }
    return this.#decodeScalar((text: string) => formatDuration(parseDuration(text)), value ?? "");
  }

  /** Decodes a string if possible, else an integer, as upstream does. */
  #intOrString(): unknown {
    const reader = this.#reader;
    const textEncoding = this.#textEncoding;
    const start = reader.at;
    const value = this.#content(textNode);
    if (this.#problem === undefined) return value;
    this.#problem = undefined;
    this.#textEncoding = textEncoding;
    reader.at = start;
    return this.#content(intNode);
  }

  /**
   * Decodes a schema or another allowed form. Upstream is always strict here, and an unknown field
   * is an error.
   */
  #forms({ forms }: DecodeNode, lastTag: number): unknown {
    const reader = this.#reader;
    const isBoolean = reader.next === trueByte || reader.next === falseByte;
    const form =
      lastTag < 0
        ? forms.find(({ kind }) => formMajors[kind] === reader.major && (kind !== "bool" || isBoolean))
        : undefined;
    if (form === undefined) {
      reader.skip();
      if (forms.some(({ kind }) => kind === "bool")) this.#problem = other("boolean or JSON schema expected");
      return absent;
    }
    const strict = this.#strict;
    this.#strict = true;
    const value = this.#content(form);
    this.#strict = strict;
    return value;
  }

  #mismatch(node: DecodeNode, extra?: string): null {
    const type = this.#reader.major;
    this.#reader.skip();
    return this.#reportType({ major: type, goType: goTypeName(node), ...(extra !== undefined && { extra }) });
  }

  #reportType(mismatch: { readonly major: number; readonly goType: string; readonly extra?: string }): null {
    this.#problem = { kind: "type", ...mismatch };
    return null;
  }

  #take(): Problem | undefined {
    const problem = this.#problem;
    this.#problem = undefined;
    return problem;
  }
}

/** The node of a map's keys: text, with the name of the key type in Go. */
function keyNodeOf(node: DecodeNode): DecodeNode {
  const [name = ""] = node.goTypes;
  const [, key = name.endsWith(".ResourceList") ? "v1.ResourceName" : "string"] = /^map\[([^\]]+)\]/.exec(name) ?? [];
  return key === "string" ? textNode : new DecodeNode(text, [key]);
}

const formMajors: Readonly<Record<string, number>> = { struct: major.map, list: major.array, bool: major.simple };

function fitsInt64(value: Integer): boolean {
  return typeof value === "number" || BigInt.asIntN(64, value) === value;
}

/** @param value an item of a list that becomes bytes */
function problemOfByte(value: unknown): Problem | undefined {
  if (typeof value !== "number" || (value & 0xff) === value) return undefined;
  if (value < 0) return { kind: "type", major: major.negative, goType: "uint8" };
  return { kind: "type", major: major.positive, goType: "uint8", extra: `${value} overflows uint8` };
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
