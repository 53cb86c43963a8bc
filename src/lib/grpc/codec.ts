/**
 * Encodes and decodes the messages of a gRPC API by tables of their fields.
 * Source: Protocol Buffers, "Encoding" (proto3).
 */
import type { Integer } from "../json/values.ts";
import { fieldOf, Reader, wire, wireTypeOf, wrongWireType } from "../protobuf/reader.ts";
import { Writer } from "../protobuf/writer.ts";

/**
 * A field of a message: its number, and its type. `int64` is decoded as a number, and `id`, an
 * integer of 64 bits that is only compared and sent back, as a bigint beyond 2^53.
 */
export interface Field {
  readonly id: number;
  readonly type: "int64" | "id" | "bool" | "bytes" | "string" | Message;
  readonly repeated?: boolean;
  /** Fields of a oneof are undefined when they are absent; others have their zero value. */
  readonly oneof?: boolean;
}

/** The fields of a message, by their names in the API. */
export interface Message {
  readonly name: string;
  readonly fields: Readonly<Record<string, Field>>;
}

type Value = Record<string, unknown>;

const sizeGuess = 128;

/** @param value fields that are undefined are omitted */
export function encodeMessage(message: Message, value: object): Buffer {
  const writer = new Writer(sizeGuess);
  writeMessage(writer, message, value as Value);
  return writer.finish();
}

/** @throws ProtobufError */
export function decodeMessage<T>(message: Message, bytes: Buffer): T {
  return readMessage(new Reader(bytes), message) as T;
}

function writeMessage(writer: Writer, { fields }: Message, value: Value): void {
  const names = Object.keys(fields);
  for (let index = names.length - 1; index >= 0; index--) {
    const name = names[index] as string;
    const content = value[name];
    if (content === undefined) continue;
    const field = fields[name] as Field;
    if (!field.repeated) writeField(writer, field, content);
    else for (const one of (content as unknown[]).toReversed()) writeField(writer, field, one);
  }
}

function writeField(writer: Writer, { id, type, oneof, repeated }: Field, value: unknown): void {
  if (type === "int64" || type === "id" || type === "bool") {
    if (!value && oneof !== true && repeated !== true) return;
    writer.integer(type === "bool" ? Number(value) : (value as Integer));
    writer.varint(id * 8 + wire.varint);
    return;
  }
  const end = writer.length;
  if (type === "bytes") writer.bytes(value as Buffer);
  else if (type === "string") writer.text(value as string);
  else writeMessage(writer, type, value as Value);
  writer.closeField(id * 8 + wire.bytes, end);
}

/** The fields of each message by number, and its zero value. */
const plans = new WeakMap<Message, { byId: Map<number, [name: string, field: Field]>; zero: Value }>();

function planOf(message: Message): NonNullable<ReturnType<typeof plans.get>> {
  let plan = plans.get(message);
  if (plan === undefined) {
    const entries = Object.entries(message.fields);
    plan = {
      byId: new Map(entries.map((entry) => [entry[1].id, entry])),
      zero: Object.fromEntries(entries.map(([name, field]) => [name, zeroOf(field)])),
    };
    plans.set(message, plan);
  }
  return plan;
}

const noBytes = Buffer.alloc(0);

function zeroOf({ type, repeated, oneof }: Field): unknown {
  if (repeated === true || oneof === true) return undefined;
  if (type === "int64" || type === "id") return 0;
  if (type === "bool") return false;
  if (type === "string") return "";
  return type === "bytes" ? noBytes : undefined;
}

function readMessage(reader: Reader, message: Message): Value {
  const { byId, zero } = planOf(message);
  const value: Value = { ...zero };
  while (!reader.done) {
    const tag = reader.tag();
    const known = byId.get(fieldOf(tag));
    if (known === undefined) {
      reader.skip(wireTypeOf(tag));
      continue;
    }
    const [name, field] = known;
    const content = readField(reader, field, { name, wireType: wireTypeOf(tag) });
    if (field.repeated !== true) value[name] = content;
    else if (value[name] === undefined) value[name] = [content];
    else (value[name] as unknown[]).push(content);
  }
  return value;
}

function readField(reader: Reader, { type }: Field, { name, wireType }: { name: string; wireType: number }): unknown {
  const isNumber = type === "int64" || type === "id" || type === "bool";
  if (wireType !== (isNumber ? wire.varint : wire.bytes)) throw wrongWireType(wireType, name);
  if (type === "int64") return Number(reader.int64());
  if (type === "id") return reader.int64();
  if (type === "bool") return reader.bool();
  if (type === "bytes") return reader.bytes();
  if (type === "string") return reader.text();
  const outer = reader.enter();
  const content = readMessage(reader, type);
  reader.leave(outer);
  return content;
}
