/**
 * Decodes an object's protobuf message by its schema to the JSON of the same object. The result is
 * not checked: callers pass it to `conform` of lib/schema, as for JSON.
 * Source: the .proto files of k8s.io/api@v0.36.0 and its generated code, which follows proto2:
 * unknown fields are skipped, the last of several scalars counts, several messages of one field are
 * merged.
 */
import { formatDuration } from "../duration/duration.ts";
import { parseJson } from "../json/parse.ts";
import { type Integer, setMember } from "../json/values.ts";
import type { Struct } from "../schema/schema.ts";
import { hasMagic, readEnvelope } from "./envelope.ts";
import { type MessagePlan, messagePlan, type Slot, type ValuePlan } from "./plan.ts";
import { fieldOf, ProtobufError, Reader, wire, wireTypeOf, wrongWireType } from "./reader.ts";

type Json = Record<string, unknown>;

/** The levels of nested messages. Deeper ones are rejected, as in JSON. */
const depthMax = 1000;

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

class Decoder {
  readonly #reader: Reader;
  #depth = 0;

  constructor(bytes: Buffer) {
    this.#reader = new Reader(bytes);
  }

  /** Decodes the rest of the current message. */
  members(plan: MessagePlan, object: Json): void {
    const reader = this.#reader;
    while (!reader.done) {
      const tag = reader.tag();
      const type = wireTypeOf(tag);
      if (type === wire.endGroup) throw reader.illegalTag(tag, plan.name);
      const slot = plan.byNumber.get(fieldOf(tag));
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
        return this.#within(() => this.members(value.message, object));
      case "map":
        object[name] ??= {};
        return this.#entry(value, object[name] as Json);
      case "repeated":
        object[name] ??= [];
        if (type === value.wire) (object[name] as unknown[]).push(this.#value(value, undefined) ?? null);
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

  #packed(value: ValuePlan, list: unknown[]): void {
    this.#within(() => {
      while (!this.#reader.done) list.push(this.#value(value, undefined));
    });
  }

  /** Decodes an entry of a map; like upstream, without checking its wire types. */
  #entry(plan: ValuePlan, map: Json): void {
    let key = "";
    let value: unknown;
    this.#within(() => {
      while (!this.#reader.done) {
        const tag = this.#reader.tag();
        if (fieldOf(tag) === 1) key = this.#reader.text();
        else if (fieldOf(tag) === 2) value = this.#value(plan, undefined);
        else this.#reader.skip(wireTypeOf(tag));
      }
    });
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
        return this.#texts(quantity).at(-1) ?? "0";
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
        return this.#json();
      case "schemaOrBool":
        return this.#schemaOrBool(plan.message);
      default:
        return this.#schemaOrList(plan);
    }
  }

  #message(plan: MessagePlan, object: Json): Json {
    this.#within(() => this.members(plan, object));
    return object;
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
    const isEmpty = this.#fields(timestamp, (field) => {
      if (field === 1) seconds = this.#reader.int64();
      else nanos = this.#reader.int32();
    });
    return isEmpty ? undefined : timeText(Number(seconds), kind === "time" ? 0 : Math.trunc(nanos / 1000), kind);
  }

  #json(): unknown {
    let raw: Buffer | undefined;
    this.#fields(json, () => {
      raw = this.#reader.bytes();
    });
    const text = raw as Buffer | undefined;
    if (text === undefined || text.length === 0) return undefined;
    if (hasMagic(text)) throw new ProtobufError(`an embedded ${readEnvelope(text).kind} must be JSON`);
    return parseJson(text).value;
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
   * @returns whether the message was empty
   */
  #fields({ name, fields }: SmallMessage, visit: (field: number) => void): boolean {
    let isEmpty = true;
    this.#within(() => {
      while (!this.#reader.done) {
        isEmpty = false;
        const tag = this.#reader.tag();
        const type = wireTypeOf(tag);
        const field = fields[fieldOf(tag) - 1];
        if (type === wire.endGroup || fieldOf(tag) <= 0) throw this.#reader.illegalTag(tag, name);
        if (field === undefined) this.#reader.skip(type);
        else if (type === field.type) visit(fieldOf(tag));
        else throw wrongWireType(type, field.name);
      }
    });
    return isEmpty;
  }

  #within(read: () => void): void {
    if (++this.#depth > depthMax) throw new ProtobufError(`exceeded max depth of ${depthMax}`);
    const outerEnd = this.#reader.enter();
    read();
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

function timeText(seconds: number, micros: number, kind: "time" | "microtime"): string {
  const date = new Date((seconds + Math.floor(micros / 1e6)) * 1000);
  if (Number.isNaN(date.getTime())) throw new ProtobufError("time is out of range");
  const whole = date.toISOString().slice(0, -".000Z".length);
  if (kind === "time") return `${whole}Z`;
  return `${whole}.${String(micros < 0 ? micros + 1e6 : micros).padStart(6, "0")}Z`;
}

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
  if (kind === "message") return Object.keys(value as Json).length === 0;
  return (value === "" && kind !== "bytes") || value === 0 || value === false;
}
