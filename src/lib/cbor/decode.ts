/**
 * Reads one CBOR item into an object of our form, by its schema or without one. What upstream's decoder refuses is refused in its words; it reads on
 * after a mistake, and of several reports the one that upstream reports. Texts and byte strings are the same to strings; bytes are base64 text unless
 * a tag says otherwise. Source: apimachinery's runtime/serializer/cbor; fxamacker/cbor as it is set up there.
 */
import { DurationError, formatDuration, parseDuration } from "../duration/duration.ts";
import { goKindOf } from "../json/parse.ts";
import { type Integer, setMember, toInteger } from "../json/values.ts";
import { canonicalQuantity, QuantityError } from "../quantity/quantity.ts";
import { Base64Error, canonicalizeBase64 } from "../schema/base64.ts";
import { retainedDepthMax } from "../schema/decode.ts";
import { DecodeNode, type FieldPlan, goTypeName } from "../schema/decode-plan.ts";
import type { Struct } from "../schema/schema.ts";
import { canonicalizeMicroTime, canonicalizeTime, TimeError } from "../schema/time.ts";
import { zeroValueOf } from "../schema/zero.ts";
import {
  type Complaint,
  complaintText,
  duplicateKey,
  type Key,
  other,
  strangeSimple,
  unknownField,
} from "./complaint.ts";
import { dateOfEpoch, dateOfText } from "./dates.ts";
import { Reader } from "./reader.ts";
import { checkWellFormed } from "./well-formed.ts";
import { breakByte, CborError, falseByte, major, majorNames, nullByte, tag, trueByte, undefinedByte } from "./wire.ts";

export interface DecodedCbor {
  /** The caller's to change. */
  readonly object: Record<string, unknown>;
  /** The first field that is not known, as upstream tells it; none where nobody asked. */
  readonly problems: readonly string[];
}

/** @param strict whether fields that are not known are told @throws CborError */
export function decodeCbor(bytes: Buffer, schema: Struct, { strict }: { readonly strict: boolean }): DecodedCbor {
  checkWellFormed(bytes);
  const { object, unknown } = new Decoder(bytes, strict).struct(schema);
  if (unknown === undefined) return { object, problems: [] };
  return { object: new Decoder(bytes, false).struct(schema).object, problems: [unknown] };
}

/** What no schema describes: a map, as which null counts too. @throws CborError */
export function decodeAnyCbor(bytes: Buffer): Record<string, unknown> {
  checkWellFormed(bytes);
  return new Decoder(bytes, false).map();
}

/** What kind of object a body says it is; empty texts where it says nothing. @throws CborError */
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

/** Stands for a value that is to be left out. */
const absent = Symbol("absent");

/** Stands for a key that is none. */
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

/** Types that upstream reads with code of their own, to which tags around them do not reach. */
const ownDecoders: ReadonlySet<string> = new Set(["quantity", "time", "microtime", "duration", "intOrString"]);

function hasOwnDecoder({ kind, type }: DecodeNode): boolean {
  return ownDecoders.has(kind) || (type.kind === "any" && type.definition !== "");
}

const fieldsV1 = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1";

/** What upstream keeps as it came, and looks into when all else was read. */
const transcodedIn: Readonly<Record<string, string>> = {
  "io.k8s.apimachinery.pkg.runtime.RawExtension":
    "failed to transcode RawExtension to JSON: failed to parse RawExtension bytes as CBOR: ",
  [fieldsV1]: "failed to transcode FieldsV1 to JSON: metav1.FieldsV1 cbor invalid: ",
};

class Decoder {
  readonly #reader: Reader;
  #strict: boolean;
  /** What is wrong with the item that was just read. Whoever holds it takes it over and reads on. */
  #complaint: Complaint | undefined;
  /** What was found when all was read. */
  #afterwards: string | undefined;
  /** The encoding that byte strings are to have as text; 0 where nothing says. */
  #later = 0;
  #depth = 0;

  constructor(bytes: Buffer, strict: boolean) {
    this.#reader = new Reader(bytes);
    this.#strict = strict;
  }

  struct(schema: Struct): { object: Record<string, unknown>; unknown: string | undefined } {
    const value = this.#value(new DecodeNode(schema, []));
    const complaint = this.#complaint;
    if (complaint?.kind === "unknown" && this.#strict) return { object: {}, unknown: complaintText(complaint) };
    this.#refuse();
    return { object: value === absent || value === null ? {} : (value as Record<string, unknown>), unknown: undefined };
  }

  map(): Record<string, unknown> {
    const value = this.#value(mapNode);
    this.#refuse();
    return value as Record<string, unknown>;
  }

  #refuse(): void {
    if (this.#complaint !== undefined) throw new CborError(complaintText(this.#complaint));
    if (this.#afterwards !== undefined) throw new CborError(this.#afterwards);
  }

  #value(node: DecodeNode): unknown {
    const own = hasOwnDecoder(node);
    if (!own && node.kind !== "any" && this.#reader.major !== major.tag) return this.#content(node);
    const outer = this.#later;
    if (own) this.#later = 0;
    const last = this.#tags();
    let value: unknown = null;
    if (this.#complaint !== undefined) this.#reader.skip();
    else if (node.kind === "any") value = this.#anyValue(node, last);
    else value = this.#content(node);
    this.#later = outer;
    return value;
  }

  /** Tags before an item. @returns the last that says something, -1 when none does */
  #tags(): number {
    const reader = this.#reader;
    let last = -1;
    while (reader.major === major.tag) {
      const number = reader.argument();
      this.#complaint ??= tagComplaint(number, reader);
      if (number >= tag.base64url && number <= tag.base16) this.#later = number;
      if (number !== tag.selfDescribed) last = number;
    }
    return last;
  }

  #anyValue(node: DecodeNode, lastTag: number): unknown {
    if (node.forms.length > 0) return this.#forms(node, lastTag);
    const definition = node.type.kind === "any" ? node.type.definition : "";
    const isDate = lastTag === tag.dateText || lastTag === tag.epoch;
    const mustBeMap = definition === fieldsV1 && lastTag >= 6; // Without a tag upstream takes what is no map for JSON.
    const value = isDate ? this.#date() : mustBeMap ? this.#content(mapNode) : this.#any();
    const context = transcodedIn[definition];
    if (context === undefined || this.#complaint === undefined) return value;
    this.#afterwards ??= context + complaintText(this.#complaint);
    this.#complaint = undefined;
    return null;
  }

  #content(node: DecodeNode): unknown {
    switch (node.kind) {
      case "quantity":
        return this.#ownText(canonicalQuantity) ?? "0";
      case "time":
        return this.#ownText(canonicalizeTime) ?? absent;
      case "microtime":
        return this.#ownText(canonicalizeMicroTime) ?? absent;
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
    let strangers: Set<Key> | undefined; // Only where fields may be unknown.
    let complaint: Complaint | undefined;
    const pairs = this.#enter();
    for (let index = 0; this.#more(pairs, index); index++) {
      const isName = this.#reader.major === major.bytes || this.#reader.major === major.text; // Behind a tag it is none.
      const key = this.#fieldName();
      const keyComplaint = this.#take();
      if (keyComplaint !== undefined) complaint ??= keyComplaint;
      if (key === unusable) {
        this.#reader.skip();
        continue;
      }
      const field = isName ? plan.fields.get(key as string) : undefined;
      if (field === undefined ? this.#strict || strangers?.has(key) : seen.has(field)) {
        complaint = field === undefined && this.#strict ? unknownField(index) : duplicateKey(key, index);
        this.#leaveEarly(pairs, index);
        break;
      }
      if (field === undefined) {
        strangers ??= new Set();
        strangers.add(key);
        this.#reader.skip();
        continue;
      }
      seen.add(field);
      const value = this.#field(field);
      const found = this.#take();
      if (found === undefined) {
        if (value !== absent) setMember(object, field.name, value);
      } else if (complaint === undefined) {
        complaint = found;
        if (found.kind === "type") found.field = `${(node.type as Struct).goType}.${field.name}`;
      }
    }
    this.#depth--;
    this.#complaint = complaint;
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

  /** @returns `unusable` for what is no key of any kind, with a complaint */
  #fieldName(): Key | typeof unusable {
    const reader = this.#reader;
    const type = reader.major;
    if (type === major.bytes) return reader.byteText();
    if (type === major.text) {
      const text = this.#text();
      return this.#complaint === undefined ? text : unusable;
    }
    if (type === major.positive) return BigInt.asIntN(64, BigInt(reader.integer()));
    if (type === major.negative) {
      const value = this.#negative();
      if (fitsInt64(value)) return BigInt(value);
      this.#complain({ major: type, goType: "int64", extra: `-1-${-1n - BigInt(value)} overflows Go's int64` });
      return unusable;
    }
    const named = majorNames[type];
    this.#complain({
      major: type,
      goType: "string",
      extra: `map key is of type ${named} and cannot be used to match struct field name`,
    });
    const complaint = this.#take();
    const key = this.#value(anyNode);
    const unreadable = this.#take() !== undefined;
    this.#complaint = complaint;
    if (unreadable || (typeof key === "object" && key !== null)) return unusable;
    return key as Key;
  }

  #map(node: DecodeNode): Record<string, unknown> {
    const { element } = node;
    const keyNode = keyNodeOf(node);
    const object: Record<string, unknown> = {};
    let complaint: Complaint | undefined;
    let key = "";
    const pairs = this.#enter();
    for (let index = 0; this.#more(pairs, index); index++) {
      if (this.#reader.next === nullByte)
        this.#reader.at++; // To upstream the key before it once more, so that it is a duplicate.
      else {
        const given = this.#value(keyNode);
        const badKey = this.#take();
        if (badKey !== undefined) {
          complaint ??= badKey;
          this.#reader.skip();
          continue;
        }
        key = given as string;
      }
      const value = this.#element(element);
      const found = this.#take();
      if (found !== undefined) {
        complaint ??= found;
        continue;
      }
      if (Object.hasOwn(object, key)) {
        complaint = duplicateKey(key, index);
        this.#leaveEarly(pairs, index + 1, true);
        break;
      }
      setMember(object, key, value);
    }
    this.#depth--;
    this.#complaint = complaint;
    return object;
  }

  #list(node: DecodeNode): unknown[] {
    const { element } = node;
    const list: unknown[] = [];
    let complaint: Complaint | undefined;
    const items = this.#enter();
    for (let index = 0; this.#more(items, index); index++) {
      list.push(this.#element(element));
      if (this.#complaint !== undefined) {
        complaint ??= this.#complaint;
        this.#complaint = undefined;
      }
    }
    this.#depth--;
    this.#complaint = complaint;
    return list;
  }

  /** An item of a list or a value of a map: null is the zero value there. */
  #element(node: DecodeNode): unknown {
    if (this.#reader.next === nullByte && node.kind !== "duration" && node.kind !== "intOrString") {
      this.#reader.skip();
      return zeroValueOf(node.type);
    }
    const value = this.#value(node);
    return value === absent ? null : value;
  }

  /** The head of an array or a map. @returns how many items or pairs follow; undefined where their end is marked @throws CborError when it is too deep */
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

  /** Passes over the rest of a map. @param atKey whether the next is a key; else a value */
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
    return this.#complain({ major: type, goType: goTypeName(node), extra: `${value} overflows Go's int64` });
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
        return this.#complain({ major: type, goType: goTypeName(node) });
    }
    return this.#complain({ major: type, goType: goTypeName(node), extra: `${value} overflows ${goTypeName(node)}` });
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
    this.#complaint = other("cbor: invalid UTF-8 string");
    return "";
  }

  #textMismatch(node: DecodeNode): unknown {
    const name = this.#reader.major;
    this.#text();
    return this.#complaint === undefined ? this.#complain({ major: name, goType: goTypeName(node) }) : null;
  }

  /** A byte string where text is wanted. */
  #byteText(): string {
    switch (this.#later) {
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

  /** Where bytes are wanted, which are base64 unless a tag says that they are to become it. */
  #byteString(): unknown {
    const bytes = this.#reader.byteString();
    if (this.#later !== 0) return bytes.toString("base64");
    try {
      return canonicalizeBase64(bytes.toString("latin1"));
    } catch (error) {
      if (!(error instanceof Base64Error)) throw error;
      this.#complaint = other(`cbor: failed to decode base64 from byte string: ${error.message}`);
      return "";
    }
  }

  /** To Go, bytes are also a list of small integers. */
  #bytesOfList(): string {
    const bytes: number[] = [];
    let complaint: Complaint | undefined;
    const items = this.#enter();
    for (let index = 0; this.#more(items, index); index++) {
      const value = this.#value(byteNode);
      const found = this.#take() ?? complaintOfByte(value);
      complaint ??= found;
      bytes.push(Number(value));
    }
    this.#depth--;
    this.#complaint = complaint;
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
      return node.kind === "double" ? value : this.#complain({ major: major.simple, goType: goTypeName(node) });
    }
    if (next !== trueByte && next !== falseByte) return this.#strangeSimple();
    reader.skip();
    return node.kind === "bool" ? next === trueByte : this.#complain({ major: major.simple, goType: goTypeName(node) });
  }

  #strangeSimple(): null {
    this.#complaint = strangeSimple(this.#reader.argument());
    return null;
  }

  #any(): unknown {
    const reader = this.#reader;
    switch (reader.major) {
      case major.positive:
      case major.negative:
        return this.#long();
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
    if (reader.isFloat) return reader.float();
    if (next !== nullByte && next !== trueByte && next !== falseByte) return this.#strangeSimple();
    reader.skip();
    return next === nullByte ? null : next === trueByte;
  }

  /** An integer of any size that Go has without a schema. */
  #long(): unknown {
    const type = this.#reader.major;
    const value = type === major.negative ? this.#negative() : this.#reader.integer();
    if (fitsInt64(value)) return value;
    return this.#complain({ major: type, goType: "int64", extra: `${value} overflows Go's int64` });
  }

  /** What a tag calls a time, as text. */
  #date(): unknown {
    const reader = this.#reader;
    try {
      if (reader.major === major.text) return dateOfText(this.#text());
      if (reader.isFloat) return dateOfEpoch(reader.float());
      const type = reader.major;
      const value = type === major.negative ? this.#negative() : reader.integer();
      if (fitsInt64(value)) return dateOfEpoch(Number(value));
      return this.#complain({ major: type, goType: "time.Time", extra: `${value} overflows Go's int64` });
    } catch (error) {
      if (!(error instanceof CborError)) throw error;
      this.#complaint ??= other(error.message);
      return null;
    }
  }

  /** Types that are a text on the wire. @returns undefined for null, and after a complaint */
  #ownText<Out>(decode: (text: string) => Out): Out | undefined {
    if (this.#reader.next === nullByte || this.#reader.next === undefinedByte) return this.#null() ?? undefined;
    const text = this.#content(textNode) as string;
    return this.#complaint === undefined ? this.#inTheirWords(decode, text) : undefined;
  }

  #inTheirWords<In, Out>(decode: (value: In) => Out, value: In): Out | undefined {
    try {
      return decode(value);
    } catch (error) {
      if (!(error instanceof QuantityError) && !(error instanceof TimeError) && !(error instanceof DurationError))
        throw error;
      this.#complaint = other(error.message);
      return undefined;
    }
  }

  /** Read by way of JSON, as upstream does. */
  #duration(): unknown {
    const value = this.#any();
    if (this.#complaint !== undefined) {
      this.#complaint = other(`cbor: cannot transcode from cbor to json: ${complaintText(this.#complaint)}`);
      return null;
    }
    if (value !== null && typeof value !== "string") {
      this.#complaint = other(`json: cannot unmarshal ${goKindOf(value)} into Go value of type string`);
      return null;
    }
    return this.#inTheirWords((text: string) => formatDuration(parseDuration(text)), value ?? "");
  }

  /** Upstream tries a text first. */
  #intOrString(): unknown {
    const { reader, later } = { reader: this.#reader, later: this.#later };
    const start = reader.at;
    const value = this.#content(textNode);
    if (this.#complaint === undefined) return value;
    this.#complaint = undefined;
    this.#later = later;
    reader.at = start;
    return this.#content(intNode);
  }

  /** A schema, or what else may stand in its place. Upstream is strict there whatever was asked for, and what it finds is no mere problem. */
  #forms({ forms }: DecodeNode, lastTag: number): unknown {
    const reader = this.#reader;
    const isBoolean = reader.next === trueByte || reader.next === falseByte;
    const form =
      lastTag < 0
        ? forms.find(({ kind }) => formMajors[kind] === reader.major && (kind !== "bool" || isBoolean))
        : undefined;
    if (form === undefined) {
      reader.skip();
      if (forms.some(({ kind }) => kind === "bool")) this.#complaint = other("boolean or JSON schema expected");
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
    return this.#complain({ major: type, goType: goTypeName(node), ...(extra !== undefined && { extra }) });
  }

  #complain(mismatch: { readonly major: number; readonly goType: string; readonly extra?: string }): null {
    this.#complaint = { kind: "type", ...mismatch };
    return null;
  }

  #take(): Complaint | undefined {
    const complaint = this.#complaint;
    this.#complaint = undefined;
    return complaint;
  }
}

/** A text, under the name that Go's type has for keys. */
function keyNodeOf(node: DecodeNode): DecodeNode {
  const [name = ""] = node.goTypes;
  const [, key = name.endsWith(".ResourceList") ? "v1.ResourceName" : "string"] = /^map\[([^\]]+)\]/.exec(name) ?? [];
  return key === "string" ? textNode : new DecodeNode(text, [key]);
}

const formMajors: Readonly<Record<string, number>> = { struct: major.map, list: major.array, bool: major.simple };

function fitsInt64(value: Integer): boolean {
  return typeof value === "number" || BigInt.asIntN(64, value) === value;
}

/** @param value an item of a list that is taken for bytes */
function complaintOfByte(value: unknown): Complaint | undefined {
  if (typeof value !== "number" || (value & 0xff) === value) return undefined;
  if (value < 0) return { kind: "type", major: major.negative, goType: "uint8" };
  return { kind: "type", major: major.positive, goType: "uint8", extra: `${value} overflows uint8` };
}

/** @param number of the tag, which says what must follow */
function tagComplaint(number: number, { major: type, isFloat }: Reader): Complaint | undefined {
  if (number === tag.dateText && type !== major.text) return misplacedTag(number, "text string", type);
  const isNumber = type === major.positive || type === major.negative || isFloat;
  return number === tag.epoch && !isNumber ? misplacedTag(number, "integer or floating-point number", type) : undefined;
}

function misplacedTag(number: number, wanted: string, type: number): Complaint {
  return other(`cbor: tag number ${number} must be followed by ${wanted}, got ${majorNames[type]}`);
}
