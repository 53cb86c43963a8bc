/**
 * Reads an object's protobuf message by its schema. What comes out is the JSON that the same object would have, not yet checked:
 * `conform` of lib/schema brings it into our form, so that both encodings share all that follows.
 * Source: resource-api §2.6; the .proto files of the API.
 */
import { formatDuration } from "../duration/duration.ts";
import { parseJson } from "../json/parse.ts";
import { setMember, toInteger } from "../json/values.ts";
import type { Embedding, Field, MapType, Scalar, Struct, Type } from "../schema/schema.ts";
import { hasMagic, readEnvelope } from "./envelope.ts";
import { ProtobufError, Reader, wire } from "./reader.ts";

type Json = Record<string, unknown>;

/** Messages within messages. Deeper ones are refused, as decoding of JSON does. */
const depthMax = 1000;

/** @throws ProtobufError · JsonSyntaxError for broken JSON inside of the message */
export function decodeProtobuf(bytes: Buffer, schema: Struct): Json {
  const object: Json = {};
  readMessage(bytes, planOf(schema), object, 0);
  return object;
}

/** What the fields of a message are, by number: fields of the struct, or messages of the structs embedded in it. */
type Plan = ReadonlyMap<number, Step>;
type Step = { readonly field: Field; readonly plan?: undefined } | { readonly plan: Plan; readonly field?: undefined };

const plans = new WeakMap<Struct, Plan>(); // Depends on the schema alone.

function planOf(schema: Struct): Plan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    plan = makePlan(schema.fields.map((field) => ({ field, chain: chainOf(field.embedded) })));
    plans.set(schema, plan);
  }
  return plan;
}

/** Embeddings from the outermost to the innermost. */
function chainOf(embedding: Embedding | undefined): Embedding[] {
  const chain: Embedding[] = [];
  for (let at = embedding; at !== undefined; at = at.outer) chain.unshift(at);
  return chain;
}

function makePlan(fields: readonly { field: Field; chain: readonly Embedding[] }[]): Plan {
  const plan = new Map<number, Step>();
  const embedded = new Map<number, { field: Field; chain: readonly Embedding[] }[]>();
  for (const { field, chain } of fields) {
    const [outer, ...inner] = chain;
    if (outer === undefined) {
      if (field.protobuf !== undefined) plan.set(field.protobuf.number, { field });
    } else if (outer.protobuf !== undefined) {
      const { number } = outer.protobuf;
      embedded.set(number, [...(embedded.get(number) ?? []), { field, chain: inner }]);
    }
  }
  for (const [number, parts] of embedded) plan.set(number, { plan: makePlan(parts) });
  return plan;
}

function readMessage(bytes: Buffer, plan: Plan, object: Json, depth: number): void {
  if (depth > depthMax) throw new ProtobufError("exceeded max depth");
  const reader = new Reader(bytes);
  while (!reader.done) {
    const { field: number, type } = reader.tag();
    const step = plan.get(number);
    if (step === undefined) reader.skip(type);
    else if (step.plan !== undefined) readMessage(expectBytes(reader, type), step.plan, object, depth + 1);
    else readField(reader, type, step.field, object, depth);
  }
}

function readField(reader: Reader, type: number, field: Field, object: Json, depth: number): void {
  const { name, type: of } = field;
  if (of.kind === "list" && isRepeated(field)) {
    const list = (object[name] ?? []) as unknown[];
    object[name] = list;
    if (type === wire.bytes && isPackable(of.items)) readPacked(reader.bytes(), of.items as Scalar, list);
    else list.push(readValue(reader, type, of.items, depth));
  } else if (of.kind === "map") {
    const map = (object[name] ?? {}) as Json;
    object[name] = map;
    readEntry(expectBytes(reader, type), of, map, depth);
  } else {
    const value = readValue(reader, type, of, depth);
    // Fields that are no pointers are always sent: what is Go's empty value is absence.
    if (field.pointer || !isZero(value)) object[name] = value;
    else delete object[name];
  }
}

/** Lists that can be told from empty ones (ExtraValue, Verbs) are messages of their own. */
function isRepeated({ protobuf }: Field): boolean {
  return protobuf?.type.startsWith("repeated ") ?? false;
}

function isPackable(type: Type): boolean {
  return type.kind === "int32" || type.kind === "int64" || type.kind === "bool" || type.kind === "double";
}

function readPacked(bytes: Buffer, type: Scalar, list: unknown[]): void {
  const reader = new Reader(bytes);
  while (!reader.done) list.push(readValue(reader, type.kind === "double" ? wire.fixed64 : wire.varint, type, 0));
}

function readEntry(bytes: Buffer, { values }: MapType, map: Json, depth: number): void {
  const reader = new Reader(bytes);
  let key = "";
  let value: unknown;
  while (!reader.done) {
    const { field, type } = reader.tag();
    if (field === 1) key = expectBytes(reader, type).toString();
    else if (field === 2) value = readValue(reader, type, values, depth + 1);
    else reader.skip(type);
  }
  setMember(map, key, value ?? emptyOf(values));
}

/** The value of an entry that was sent without one. */
function emptyOf(type: Type): unknown {
  if (type.kind === "struct" || type.kind === "map") return {};
  if (type.kind === "list") return [];
  if (type.kind === "bool") return false;
  return type.kind === "int32" || type.kind === "int64" || type.kind === "double" ? 0 : type.kind === "quantity" ? "0" : "";
}

function readValue(reader: Reader, type: number, of: Type, depth: number): unknown {
  switch (of.kind) {
    case "string":
      return expectBytes(reader, type).toString();
    case "bytes":
      return expectBytes(reader, type).toString("base64");
    case "bool":
      return expectVarint(reader, type) !== 0n;
    case "int32":
      return Number(BigInt.asIntN(32, expectVarint(reader, type)));
    case "int64":
      return toInteger(BigInt.asIntN(64, expectVarint(reader, type)));
    case "double":
      if (type !== wire.fixed64) throw wrongType(type);
      return reader.double();
    case "struct": {
      const object: Json = {};
      readMessage(expectBytes(reader, type), planOf(of), object, depth + 1);
      return object;
    }
    case "list": {
      const parts = partsOf(expectBytes(reader, type));
      return parts.all(1).map((bytes) => bytes.toString());
    }
    case "map": {
      const map: Json = {};
      for (const entry of partsOf(expectBytes(reader, type)).all(1)) readEntry(entry, of, map, depth + 1);
      return map;
    }
    case "any":
      return readAny(expectBytes(reader, type), of, depth);
    default:
      return readSpecial(expectBytes(reader, type), of.kind);
  }
}

function readSpecial(bytes: Buffer, kind: "time" | "microtime" | "duration" | "quantity" | "intOrString"): unknown {
  const parts = partsOf(bytes);
  switch (kind) {
    case "quantity":
      return parts.bytes(1)?.toString() ?? "0";
    case "duration":
      return formatDuration(parts.integer(1));
    case "intOrString":
      return parts.integer(1) === 0n ? Number(BigInt.asIntN(32, parts.integer(2))) : (parts.bytes(3)?.toString() ?? "");
    default: {
      if (bytes.length === 0) return undefined; // The zero time.
      const micros = parts.integer(1) * 1_000_000n + (kind === "time" ? 0n : parts.integer(2) / 1000n);
      return timeText(micros, kind);
    }
  }
}

function timeText(micros: bigint, kind: "time" | "microtime"): string {
  const ms = Number(micros / 1000n) - (micros % 1000n < 0n ? 1 : 0);
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) throw new ProtobufError("time is out of range");
  if (kind === "time") return `${date.toISOString().slice(0, 19)}Z`;
  const rest = Number(micros - BigInt(ms) * 1000n);
  return `${date.toISOString().slice(0, 23)}${String(rest).padStart(3, "0")}Z`;
}

/** JSON inside of a message; typed forms of JSON schema's fields that take several. */
function readAny(bytes: Buffer, { forms = [] }: { readonly forms?: readonly Type[] }, depth: number): unknown {
  const parts = partsOf(bytes);
  const schema = forms.find((form): form is Struct => form.kind === "struct");
  if (schema === undefined) {
    const raw = parts.bytes(1) ?? Buffer.alloc(0);
    if (raw.length === 0) return undefined;
    if (hasMagic(raw)) throw new ProtobufError(`an embedded ${readEnvelope(raw).kind} must be JSON`);
    return parseJson(raw).value;
  }
  const readSchema = (message: Buffer): Json => {
    const object: Json = {};
    readMessage(message, planOf(schema), object, depth + 1);
    return object;
  };
  const list = forms.find((form) => form.kind === "list");
  if (list !== undefined) {
    const single = parts.bytes(1);
    if (single !== undefined) return readSchema(single);
    return parts.all(2).map((part) => (list.items.kind === "string" ? part.toString() : readSchema(part)));
  }
  const single = parts.bytes(2); // A schema, or true or false.
  return single === undefined ? parts.integer(1) !== 0n : readSchema(single);
}

interface Parts {
  all(field: number): Buffer[];
  bytes(field: number): Buffer | undefined;
  /** 64 bits, signed; 0 when absent. */
  integer(field: number): bigint;
}

/** The fields of a small message. */
function partsOf(message: Buffer): Parts {
  const reader = new Reader(message);
  const byField = new Map<number, Buffer[]>();
  const integers = new Map<number, bigint>();
  while (!reader.done) {
    const { field, type } = reader.tag();
    if (type === wire.bytes) byField.set(field, [...(byField.get(field) ?? []), reader.bytes()]);
    else if (type === wire.varint) integers.set(field, BigInt.asIntN(64, reader.varint()));
    else reader.skip(type);
  }
  return { all: (field) => byField.get(field) ?? [], bytes: (field) => byField.get(field)?.at(-1), integer: (field) => integers.get(field) ?? 0n };
}

function expectBytes(reader: Reader, type: number): Buffer {
  if (type !== wire.bytes) throw wrongType(type);
  return reader.bytes();
}

function expectVarint(reader: Reader, type: number): bigint {
  if (type !== wire.varint) throw wrongType(type);
  return reader.varint();
}

function wrongType(type: number): ProtobufError {
  return new ProtobufError(`proto: wrong wireType = ${type}`);
}

function isZero(value: unknown): boolean {
  if (value === undefined || value === "" || value === 0 || value === false) return true;
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}
