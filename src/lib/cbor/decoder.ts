/**
 * Decodes one item by a schema. Decoding continues after a problem, and of several problems the same one as upstream's
 * is reported. Source: fxamacker/cbor, as k8s.io/apimachinery@v0.36.0/pkg/runtime/serializer/cbor configures it.
 */
import { formatDuration, parseDuration } from "../duration/duration.ts";
import { goKindOf } from "../json/parse.ts";
import { setMember } from "../json/values.ts";
import { canonicalQuantity } from "../quantity/quantity.ts";
import { retainedDepthMax } from "../schema/decode.ts";
import { DecodeNode, type FieldPlan } from "../schema/decode-plan.ts";
import type { Struct } from "../schema/schema.ts";
import { canonicalizeMicroTime, canonicalizeTime } from "../schema/time.ts";
import { zeroValueOf } from "../schema/zero.ts";
import { duplicateKey, formatProblem, type Key, other, type Problem, problemOfByte, unknownField } from "./problem.ts";
import { Reader } from "./reader.ts";
import { fitsInt64, Scalars } from "./scalars.ts";
import { breakByte, CborError, falseByte, major, majorNames, nullByte, tag, trueByte, undefinedByte } from "./wire.ts";

/** Marks a value that is left out. */
const absent = Symbol("absent");

/** Marks an invalid key. */
const unusable = Symbol("unusable");

const text = { kind: "string" } as const;
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

/** Decodes one item. */
export class Decoder {
  readonly #reader: Reader;
  readonly #scalars: Scalars;
  #strict: boolean;
  /** The first error of converting encoded parts to JSON at the end. */
  #transcodeError: string | undefined;
  #depth = 0;

  constructor(bytes: Buffer, { strict, keepsFloats = false }: { strict: boolean; keepsFloats?: boolean }) {
    this.#reader = new Reader(bytes);
    this.#scalars = new Scalars(this.#reader, keepsFloats);
    this.#strict = strict;
  }

  struct(schema: Struct): { object: Record<string, unknown>; unknown: string | undefined } {
    const value = this.#value(new DecodeNode(schema, []));
    const problem = this.#scalars.problem;
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
    if (this.#scalars.problem !== undefined) throw new CborError(formatProblem(this.#scalars.problem));
    if (this.#transcodeError !== undefined) throw new CborError(this.#transcodeError);
  }

  #value(node: DecodeNode): unknown {
    const own = hasCustomDecoder(node);
    if (!own && node.kind !== "any" && this.#reader.major !== major.tag) return this.#content(node);
    const outer = this.#scalars.textEncoding;
    if (own) this.#scalars.textEncoding = 0;
    const last = this.#scalars.tags();
    let value: unknown = null;
    if (this.#scalars.problem !== undefined) this.#reader.skip();
    else if (node.kind === "any") value = this.#anyValue(node, last);
    else value = this.#content(node);
    this.#scalars.textEncoding = outer;
    return value;
  }

  #anyValue(node: DecodeNode, lastTag: number): unknown {
    if (node.forms.length > 0) return this.#forms(node, lastTag);
    const definition = node.type.kind === "any" ? node.type.definition : "";
    const isDate = lastTag === tag.dateText || lastTag === tag.epoch;
    // Without a tag, upstream treats a value that is not a map as JSON.
    const mustBeMap = definition === fieldsV1 && lastTag >= 6;
    const value = isDate ? this.#scalars.date() : mustBeMap ? this.#content(mapNode) : this.#any();
    const context = transcodedIn[definition];
    if (context === undefined || this.#scalars.problem === undefined) return value;
    this.#transcodeError ??= context + formatProblem(this.#scalars.problem);
    this.#scalars.problem = undefined;
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
        return this.#scalars.integer(node);
      case major.bytes:
        if (node.kind === "string") return this.#scalars.byteText();
        return node.kind === "bytes" ? this.#scalars.byteString() : this.#scalars.mismatch(node);
      case major.text:
        return node.kind === "string" ? this.#scalars.text() : this.#scalars.textMismatch(node);
      case major.array:
        if (node.kind === "list") return this.#list(node);
        if (node.kind === "bytes") return this.#bytesOfList();
        return node.kind === "struct"
          ? this.#scalars.mismatch(node, "cannot decode CBOR array to struct without toarray option")
          : this.#scalars.mismatch(node);
      case major.map:
        if (node.kind === "struct") return this.#struct(node);
        return node.kind === "map" ? this.#map(node) : this.#scalars.mismatch(node);
      default:
        return this.#scalars.simple(node);
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
      const keyProblem = this.#scalars.take();
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
      const found = this.#scalars.take();
      if (found === undefined) {
        if (value !== absent) setMember(object, field.name, value);
      } else if (problem === undefined) {
        problem = found;
        if (found.kind === "type") found.field = `${(node.type as Struct).goType}.${field.name}`;
      }
    }
    this.#depth--;
    this.#scalars.problem = problem;
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
      const text = this.#scalars.text();
      return this.#scalars.problem === undefined ? text : unusable;
    }
    if (type === major.positive) return BigInt.asIntN(64, BigInt(reader.integer()));
    if (type === major.negative) {
      const value = this.#scalars.negative();
      if (fitsInt64(value)) return BigInt(value);
      this.#scalars.reportType({
        major: type,
        goType: "int64",
        extra: `-1-${-1n - BigInt(value)} overflows Go's int64`,
      });
      return unusable;
    }
    const named = majorNames[type];
    this.#scalars.reportType({
      major: type,
      goType: "string",
      extra: `map key is of type ${named} and cannot be used to match struct field name`,
    });
    const problem = this.#scalars.take();
    const key = this.#value(anyNode);
    const unreadable = this.#scalars.take() !== undefined;
    this.#scalars.problem = problem;
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
        const badKey = this.#scalars.take();
        if (badKey !== undefined) {
          problem ??= badKey;
          this.#reader.skip();
          continue;
        }
        key = text as string;
      }
      const value = this.#element(element);
      const found = this.#scalars.take();
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
    this.#scalars.problem = problem;
    return object;
  }

  #list(node: DecodeNode): unknown[] {
    const { element } = node;
    const list: unknown[] = [];
    let problem: Problem | undefined;
    const items = this.#enter();
    for (let index = 0; this.#more(items, index); index++) {
      list.push(this.#element(element));
      if (this.#scalars.problem !== undefined) {
        problem ??= this.#scalars.problem;
        this.#scalars.problem = undefined;
      }
    }
    this.#depth--;
    this.#scalars.problem = problem;
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

  /** Go also accepts a list of small integers for bytes. */
  #bytesOfList(): string {
    const bytes: number[] = [];
    let problem: Problem | undefined;
    const items = this.#enter();
    for (let index = 0; this.#more(items, index); index++) {
      const value = this.#value(byteNode);
      const found = this.#scalars.take() ?? problemOfByte(value);
      problem ??= found;
      bytes.push(Number(value));
    }
    this.#depth--;
    this.#scalars.problem = problem;
    return Buffer.from(bytes).toString("base64");
  }

  #any(): unknown {
    const reader = this.#reader;
    switch (reader.major) {
      case major.positive:
      case major.negative:
        return this.#scalars.untypedInteger();
      case major.bytes:
        return this.#scalars.byteText();
      case major.text:
        return this.#scalars.text();
      case major.array:
        return this.#list(anyListNode);
      case major.map:
        return this.#map(mapNode);
    }
    const next = reader.next;
    if (reader.isFloat) return this.#scalars.float();
    if (next !== nullByte && next !== trueByte && next !== falseByte) return this.#scalars.unsupportedSimple();
    reader.skip();
    return next === nullByte ? null : next === trueByte;
  }

  /**
   * Decodes a scalar that is text on the wire.
   * @returns undefined for null, and when it has a problem
   */
  #scalarText<Out>(decode: (text: string) => Out): Out | undefined {
    if (this.#reader.next === nullByte || this.#reader.next === undefinedByte) return this.#scalars.null() ?? undefined;
    const text = this.#content(textNode) as string;
    return this.#scalars.problem === undefined ? this.#scalars.converted(decode, text) : undefined;
  }

  /** Decodes a duration through JSON, as upstream does. */
  #duration(): unknown {
    const value = this.#any();
    if (this.#scalars.problem !== undefined) {
      this.#scalars.problem = other(
        `cbor: cannot transcode from cbor to json: ${formatProblem(this.#scalars.problem)}`,
      );
      return null;
    }
    if (value !== null && typeof value !== "string") {
      this.#scalars.problem = other(`json: cannot unmarshal ${goKindOf(value)} into Go value of type string`);
      return null;
    }
    return this.#scalars.converted((text: string) => formatDuration(parseDuration(text)), value ?? "");
  }

  /** Decodes a string if possible, else an integer, as upstream does. */
  #intOrString(): unknown {
    const reader = this.#reader;
    const textEncoding = this.#scalars.textEncoding;
    const start = reader.at;
    const value = this.#content(textNode);
    if (this.#scalars.problem === undefined) return value;
    this.#scalars.problem = undefined;
    this.#scalars.textEncoding = textEncoding;
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
      if (forms.some(({ kind }) => kind === "bool")) this.#scalars.problem = other("boolean or JSON schema expected");
      return absent;
    }
    const strict = this.#strict;
    this.#strict = true;
    const value = this.#content(form);
    this.#strict = strict;
    return value;
  }
}

/** The node of a map's keys: text, with the name of the key type in Go. */
function keyNodeOf(node: DecodeNode): DecodeNode {
  const [name = ""] = node.goTypes;
  const [, key = name.endsWith(".ResourceList") ? "v1.ResourceName" : "string"] = /^map\[([^\]]+)\]/.exec(name) ?? [];
  return key === "string" ? textNode : new DecodeNode(text, [key]);
}

const formMajors: Readonly<Record<string, number>> = { struct: major.map, list: major.array, bool: major.simple };
