/**
 * Decodes an object's protobuf message by its schema to the JSON of the same object. The result is
 * not checked: callers pass it to `conform` of lib/schema, as for JSON.
 * Source: the .proto files of k8s.io/api@v0.36.0 and its generated code, which follows proto2:
 * unknown fields are skipped, the last of several scalars counts, several messages of one field are
 * merged.
 */
import { formatDuration } from "../duration/duration.ts";
import { parseDocument, parsedJson } from "../json/parse.ts";
import { trimGo } from "../json/trim-go.ts";
import { type Integer, setMember } from "../json/values.ts";
import { canonicalQuantity, QuantityError } from "../quantity/quantity.ts";
import { conform } from "../schema/decode.ts";
import type { Struct } from "../schema/schema.ts";
import { hasMagic, readEnvelope } from "./envelope.ts";
import { JsonTexts } from "./json-texts.ts";
import { type MessagePlan, messagePlan, type Slot, type ValuePlan } from "./plan.ts";
import { fieldOf, ProtobufError, Reader, wire, wireTypeOf, wrongWireType } from "./reader.ts";

type Json = Record<string, unknown>;

/** The levels of nested messages. Deeper ones are rejected, as in JSON. */
const depthMax = 1000;
/** Levels of messages, and of JSON in them, that need no check of the limits of plain objects. */
const shallow = 100;

/**
 * Decodes a message.
 * @throws ProtobufError when the message is malformed or nested too deep
 * @throws JsonSyntaxError for invalid JSON in the message
 */
export function decodeProtobuf(bytes: Buffer, schema: Struct): Json {
  const object: Json = {};
  new Decoder(bytes).members(messagePlan(schema), object);
  return object;
}

/**
 * Decodes a message as `decodeProtobuf` and `conform` do, faster. The fields in managedFields can be
 * `JsonText`, which only encoders read.
 * @throws ProtobufError when the message is malformed or nested too deep
 * @throws JsonSyntaxError for invalid JSON in the message
 * @throws DecodeError when the object does not fit the schema
 */
export function decodeStoredProtobuf(bytes: Buffer, schema: Struct): Json {
  const object: Json = {};
  const decoder = new Decoder(bytes, fieldSets);
  decoder.members(messagePlan(schema), object);
  return decoder.isCanonical ? object : conform(decodeProtobuf(bytes, schema), schema).object;
}

// A memo of immutable values that depend on their keys alone.
const fieldSets = new JsonTexts();

class Decoder {
  readonly #reader: Reader;
  readonly #fieldSets: JsonTexts | undefined;
  #depth = 0;
  /** The last day, because most times of an object are of one. */
  #day = Number.NaN;
  #dayText = "";
  /** Whether `conform` would change nothing. */
  isCanonical = true;

  /** @param fieldSets if set, managed fields are `JsonText` */
  constructor(bytes: Buffer, fieldSets?: JsonTexts) {
    this.#reader = new Reader(bytes);
    this.#fieldSets = fieldSets;
  }

  /** Decodes the rest of the current message. */
  members(plan: MessagePlan, object: Json): void {
    const reader = this.#reader;
    while (!reader.done) {
      const tag = reader.tag();
      const type = wireTypeOf(tag);
      if (type === wire.endGroup) throw reader.illegalTag(tag, plan.name);
      const slot = plan.slot(fieldOf(tag));
      if (slot !== undefined) this.#slot(type, slot, object);
      else if (fieldOf(tag) <= 0) throw reader.illegalTag(tag, plan.name);
      else reader.skip(type);
    }
  }

  #slot(type: number, slot: Slot, object: Json): void {
    const { name, value } = slot;
    if (type !== (slot.tag & 7) && !(slot.shape === "repeated" && type === wire.bytes)) {
      throw wrongWireType(type, slot.goName);
    }
    switch (slot.shape) {
      case "single":
        return this.#single(slot, object);
      case "embedded":
        this.#message(value.message, object);
        return;
      case "map":
        object[name] ??= {};
        return this.#entry(value, object[name] as Json);
      case "repeated":
        object[name] ??= [];
        if (type === value.wire) (object[name] as unknown[]).push(this.#item(value));
        else this.#packed(value, object[name] as unknown[]);
    }
  }

  /**
   * Decodes a single field. Fields that are not pointers are always sent: their empty values mean
   * absent.
   */
  #single({ name, pointer, value: plan }: Slot, object: Json): void {
    const value = this.#value(plan, object[name]);
    if (value === undefined || (!pointer && isZero(value, plan))) delete object[name];
    else object[name] = value;
  }

  #item(value: ValuePlan): unknown {
    const item = this.#value(value, undefined);
    if (item !== undefined && item !== null) return item;
    this.isCanonical = false;
    return null;
  }

  #packed(value: ValuePlan, list: unknown[]): void {
    const outerEnd = this.#enter();
    while (!this.#reader.done) list.push(this.#value(value, undefined));
    this.#leave(outerEnd);
  }

  /** Decodes an entry of a map; like upstream, without checking its wire types. */
  #entry(plan: ValuePlan, map: Json): void {
    let key = "";
    let value: unknown;
    const outerEnd = this.#enter();
    while (!this.#reader.done) {
      const tag = this.#reader.tag();
      if (fieldOf(tag) === 1) key = this.#reader.text();
      else if (fieldOf(tag) === 2) value = this.#value(plan, undefined);
      else this.#reader.skip(wireTypeOf(tag));
    }
    this.#leave(outerEnd);
    if (value === null) this.isCanonical = false;
    setMember(map, key, value ?? emptyOf(plan));
  }

  /** @param before the existing value of the field, with which another message is merged */
  #value(plan: ValuePlan, before: unknown): unknown {
    const reader = this.#reader;
    switch (plan.kind) {
      case "string":
        return reader.text();
      case "bytes":
        return reader.base64();
      case "bool":
        return reader.bool();
      case "int32":
        return reader.int32();
      case "int64":
        return reader.int64();
      case "double":
        return reader.double();
      case "message":
        return this.#message(plan.message, (before ?? {}) as Json);
      case "quantity":
        return this.#quantity();
      case "texts":
        return this.#texts(texts);
      case "time":
      case "microtime":
        return this.#time(plan.kind);
      case "duration":
        return formatDuration(BigInt(this.#duration()));
      case "intOrString":
        return this.#intOrString();
      case "json":
        return this.#json(undefined);
      case "fieldSet":
        return this.#json(this.#fieldSets);
      case "schemaOrBool":
        return this.#schemaOrBool(plan.message);
      default:
        return this.#schemaOrList(plan);
    }
  }

  #message(plan: MessagePlan, object: Json): Json {
    const outerEnd = this.#enter();
    this.members(plan, object);
    this.#leave(outerEnd);
    return object;
  }

  #quantity(): string {
    const reader = this.#reader;
    let text = "0";
    const outerEnd = this.#enter();
    while (!reader.done) if (this.#field(quantity) !== 0) text = reader.text();
    this.#leave(outerEnd);
    try {
      if (trimGo(text) === text) return canonicalQuantity(text);
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
    }
    this.isCanonical = false; // It has the error that `conform` reports.
    return trimGo(text) === text ? text : notTrimmed;
  }

  #texts(message: SmallMessage): string[] {
    const texts: string[] = [];
    this.#fields(message, () => texts.push(this.#reader.text()));
    return texts;
  }

  #duration(): Integer {
    let found: Integer = 0;
    this.#fields(duration, () => {
      found = this.#reader.int64();
    });
    return found;
  }

  #intOrString(): number | string {
    let isText = false;
    let number = 0;
    let text = "";
    this.#fields(intOrString, (field) => {
      if (field === 1) isText = this.#reader.bool();
      else if (field === 2) number = this.#reader.int32();
      else text = this.#reader.text();
    });
    return isText ? text : number;
  }

  /** @returns undefined for the zero time */
  #time(kind: "time" | "microtime"): string | undefined {
    let seconds: Integer = 0;
    let nanos = 0;
    const reader = this.#reader;
    const outerEnd = this.#enter();
    const isEmpty = reader.done;
    while (!reader.done) {
      const field = this.#field(timestamp);
      if (field === 1) seconds = reader.int64();
      else if (field === 2) nanos = reader.int32();
    }
    this.#leave(outerEnd);
    if (isEmpty) return undefined;
    if (kind === "time") return `${this.#seconds(Number(seconds))}Z`;
    const micros = Math.trunc(nanos / 1000);
    const whole = this.#seconds(Number(seconds) + Math.floor(micros / 1e6));
    return `${whole}.${String(micros < 0 ? micros + 1e6 : micros).padStart(6, "0")}Z`;
  }

  /** Such as `2024-01-01T00:00:00`. @throws ProtobufError for a year that has no text */
  #seconds(seconds: number): string {
    const day = Math.floor(seconds / daySeconds);
    if (day !== this.#day) {
      const date = new Date(day * daySeconds * 1000);
      if (Number.isNaN(date.getTime())) throw new ProtobufError("time is out of range");
      this.#day = day;
      this.#dayText = date.toISOString().slice(0, -"00:00:00.000Z".length);
    }
    const rest = seconds - day * daySeconds;
    const minutes = Math.floor(rest / 60);
    return `${this.#dayText}${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[rest % 60]}`;
  }

  /** @param texts keeps texts in place of their values */
  #json(texts: JsonTexts | undefined): unknown {
    let raw: Buffer | undefined;
    this.#fields(json, () => {
      raw = this.#reader.bytes();
    });
    const text = raw as Buffer | undefined;
    if (text === undefined || text.length === 0) return undefined;
    if (hasMagic(text)) throw new ProtobufError(`an embedded ${readEnvelope(text).kind} must be JSON`);
    const known = texts?.find(text);
    if (known !== undefined) return known;
    const document = parseDocument(text);
    if (document.value === null || (document.depth ?? Number.POSITIVE_INFINITY) > shallow) this.isCanonical = false;
    const { value } = parsedJson(document);
    return this.isCanonical && texts !== undefined ? texts.add(text, value) : value;
  }

  #schemaOrBool(plan: MessagePlan): unknown {
    let allows = false;
    let schema: Json | undefined;
    this.#fields(schemaOrBool, (field) => {
      if (field === 1) allows = this.#reader.bool();
      else schema = this.#message(plan, schema ?? {});
    });
    return schema ?? allows;
  }

  /** Decodes a schema, or a list of schemas or of strings. */
  #schemaOrList({ kind, message: plan }: ValuePlan): unknown {
    let schema: Json | undefined;
    const list: unknown[] = [];
    this.#fields(kind === "schemaOrTexts" ? schemaOrTexts : schemaOrSchemas, (field) => {
      if (field === 1) schema = this.#message(plan, schema ?? {});
      else list.push(kind === "schemaOrTexts" ? this.#reader.text() : this.#message(plan, {}));
    });
    return schema ?? list;
  }

  /**
   * Decodes the fields of a small message.
   * @param visit reads the value of a field
   */
  #fields(message: SmallMessage, visit: (field: number) => void): void {
    const outerEnd = this.#enter();
    while (!this.#reader.done) {
      const field = this.#field(message);
      if (field !== 0) visit(field);
    }
    this.#leave(outerEnd);
  }

  /**
   * Reads the tag of a field of a small message.
   * @returns its number; 0 for an unknown field, which is skipped
   */
  #field({ name, fields }: SmallMessage): number {
    const tag = this.#reader.tag();
    const type = wireTypeOf(tag);
    const number = fieldOf(tag);
    if (type === wire.endGroup || number <= 0) throw this.#reader.illegalTag(tag, name);
    const field = fields[number - 1];
    if (field !== undefined && type !== field.type) throw wrongWireType(type, field.name);
    if (field !== undefined) return number;
    this.#reader.skip(type);
    return 0;
  }

  /** Enters the next message. @returns the argument of `#leave` */
  #enter(): number {
    if (++this.#depth > shallow) this.#enterDeep();
    return this.#reader.enter();
  }

  #enterDeep(): void {
    this.isCanonical = false;
    if (this.#depth > depthMax) throw new ProtobufError(`exceeded max depth of ${depthMax}`);
  }

  #leave(outerEnd: number): void {
    this.#reader.leave(outerEnd);
    this.#depth--;
  }
}

/** A message that is a scalar in JSON. Its fields are numbered from 1. */
interface SmallMessage {
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly type: number }[];
}

const bytesField = (name: string): SmallMessage["fields"][number] => ({ name, type: wire.bytes });
const varintField = (name: string): SmallMessage["fields"][number] => ({ name, type: wire.varint });
/** Has the error of a quantity between spaces, which only JSON can have. */
const notTrimmed = "x";
const quantity: SmallMessage = { name: "Quantity", fields: [bytesField("String_")] };
const texts: SmallMessage = { name: "ExtraValue", fields: [bytesField("Items")] };
const duration: SmallMessage = { name: "Duration", fields: [varintField("Duration")] };
const intOrString: SmallMessage = {
  name: "IntOrString",
  fields: [varintField("Type"), varintField("IntVal"), bytesField("StrVal")],
};
const timestamp: SmallMessage = { name: "Timestamp", fields: [varintField("Seconds"), varintField("Nanos")] };
const json: SmallMessage = { name: "RawExtension", fields: [bytesField("Raw")] };
const schemaOrBool: SmallMessage = {
  name: "JSONSchemaPropsOrBool",
  fields: [varintField("Allows"), bytesField("Schema")],
};
const schemaOrSchemas: SmallMessage = {
  name: "JSONSchemaPropsOrArray",
  fields: [bytesField("Schema"), bytesField("JSONSchemas")],
};
const schemaOrTexts: SmallMessage = {
  name: "JSONSchemaPropsOrStringArray",
  fields: [bytesField("Schema"), bytesField("Property")],
};

const daySeconds = 86_400;
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));

/** The value of a map entry without a value. */
function emptyOf({ kind }: ValuePlan): unknown {
  switch (kind) {
    case "message":
      return {};
    case "texts":
    case "schemaOrSchemas":
    case "schemaOrTexts":
      return [];
    case "bool":
    case "schemaOrBool":
      return false;
    case "string":
    case "bytes":
      return "";
    case "quantity":
      return "0";
    case "duration":
      return "0s";
    case "int32":
    case "int64":
    case "double":
    case "intOrString":
      return 0;
    default:
      return null;
  }
}

/** Whether a value is Go's zero value. Bytes never are, because empty ones are not nil in Go. */
function isZero(value: unknown, { kind }: ValuePlan): boolean {
  if (kind === "message") return isEmpty(value as Json);
  return (value === "" && kind !== "bytes") || value === 0 || value === false;
}

function isEmpty(object: Json): boolean {
  for (const _key in object) return false;
  return true;
}
