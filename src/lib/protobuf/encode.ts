/**
 * Encodes an object as its protobuf message, exactly as upstream's generated code does: fields by
 * ascending number, map entries sorted by key. Pointers, lists, maps and bytes are written only
 * when set, other scalars and structs always.
 * Source: the generated code of k8s.io/api@v0.36.0.
 */
import { parseDuration } from "../duration/duration.ts";
import { encodeAny, sortedKeys } from "../json/encode-any.ts";
import type { Integer } from "../json/values.ts";
import type { Struct } from "../schema/schema.ts";
import { type MessagePlan, messagePlan, type Slot, type ValuePlan } from "./plan.ts";
import { wire } from "./reader.ts";
import { Writer } from "./writer.ts";

type Json = Record<string, unknown>;

interface EncodeOptions {
  /** An estimate of the size, which avoids copying. */
  readonly expectedBytes?: number;
}

/**
 * Encodes an object.
 * @param object in the form that the decoder returns
 * @returns the message without the envelope, which contains the kind
 */
export function encodeProtobuf(object: object, schema: Struct, { expectedBytes = 1024 }: EncodeOptions = {}): Buffer {
  const writer = new Writer(expectedBytes);
  writeMembers(writer, messagePlan(schema), object as Json);
  return writer.finish();
}

function writeMembers(writer: Writer, { slots }: MessagePlan, object: Json): void {
  for (let index = slots.length - 1; index >= 0; index--) writeSlot(writer, slots[index] as Slot, object);
}

function writeSlot(writer: Writer, slot: Slot, object: Json): void {
  const { tag, value: plan } = slot;
  if (slot.shape === "embedded") return writeMessage(writer, tag, plan.message, object);
  const value = Object.hasOwn(object, slot.name) ? object[slot.name] : undefined;
  switch (slot.shape) {
    case "single":
      return value === undefined || value === null ? writeAbsent(writer, slot) : writeValue(writer, tag, plan, value);
    case "repeated":
      for (let list = (value ?? []) as unknown[], index = list.length - 1; index >= 0; index--)
        writeValue(writer, tag, plan, list[index]);
      return;
    case "map":
      if (value !== undefined && value !== null) writeMap(writer, tag, plan, value as Json);
  }
}

/** Writes an absent field: nothing if it is nil in Go, otherwise its zero value. */
function writeAbsent(writer: Writer, { tag, pointer, value: plan }: Slot): void {
  if (!pointer && plan.kind !== "bytes" && plan.kind !== "texts") writeValue(writer, tag, plan, undefined);
}

function writeMap(writer: Writer, tag: number, plan: ValuePlan, map: Json): void {
  const keys = sortedKeys(map);
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index] as string;
    const end = writer.length;
    writeValue(writer, mapValueField + plan.wire, plan, map[key]);
    writer.textField(mapKeyTag, key);
    writer.closeField(tag, end);
  }
}

const mapKeyTag = 8 + wire.bytes;
const mapValueField = 16;

/** @param value undefined or null for the zero value */
function writeValue(writer: Writer, tag: number, plan: ValuePlan, value: unknown): void {
  switch (plan.kind) {
    case "string":
      return writer.textField(tag, (value ?? "") as string);
    case "message":
      return writeMessage(writer, tag, plan.message, (value ?? {}) as Json);
    case "int32":
    case "int64":
      writer.integer((value ?? 0) as Integer);
      return writer.varint(tag);
    case "bool":
      writer.varint(value === true ? 1 : 0);
      return writer.varint(tag);
    case "double":
      writer.double((value ?? 0) as number);
      return writer.varint(tag);
  }
  const end = writer.length;
  if (plan.kind === "bytes") writer.base64((value ?? "") as string);
  else writeSpecial(writer, plan, value);
  writer.closeField(tag, end);
}

function writeMessage(writer: Writer, tag: number, plan: MessagePlan, object: Json): void {
  const end = writer.length;
  writeMembers(writer, plan, object);
  writer.closeField(tag, end);
}

/** Writes types whose message differs from their JSON. */
function writeSpecial(writer: Writer, plan: ValuePlan, value: unknown): void {
  switch (plan.kind) {
    case "quantity":
      return writer.textField(delimited(1), (value ?? "0") as string);
    case "time":
    case "microtime":
      return value === undefined || value === null ? undefined : writeTime(writer, value as string);
    case "duration":
      return writeInteger(writer, 1, value === undefined || value === null ? 0n : parseDuration(value as string));
    case "intOrString":
      return writeIntOrString(writer, (value ?? 0) as number | string);
    case "texts":
      return writeTexts(writer, 1, (value ?? []) as string[]);
    case "json":
    case "fieldSet":
      return value === undefined ? undefined : writer.textField(delimited(1), encodeAny(value));
    default:
      return writeForm(writer, plan, value);
  }
}

function delimited(field: number): number {
  return field * 8 + wire.bytes;
}

function writeInteger(writer: Writer, field: number, value: Integer): void {
  writer.integer(value);
  writer.varint(field * 8 + wire.varint);
}

function writeTexts(writer: Writer, field: number, texts: readonly string[]): void {
  for (let index = texts.length - 1; index >= 0; index--) writer.textField(delimited(field), texts[index] as string);
}

function writeIntOrString(writer: Writer, value: number | string): void {
  const isText = typeof value === "string";
  writer.textField(delimited(3), isText ? value : "");
  writeInteger(writer, 2, isText ? 0 : value);
  writeInteger(writer, 1, isText ? 1 : 0);
}

/** @param text in the form of lib/schema's time.ts */
function writeTime(writer: Writer, text: string): void {
  const [, year = "", rest = "", micros = "0"] = /^(-?\d+)(-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?Z$/.exec(text) ?? [];
  const extendedYear =
    year.length === 4 ? year : `${year.startsWith("-") ? "-" : "+"}${year.replace("-", "").padStart(6, "0")}`;
  writeInteger(writer, 2, Number(micros) * 1000);
  writeInteger(writer, 1, Date.parse(`${extendedYear}${rest}Z`) / 1000);
}

/** Writes a schema or another allowed form. Upstream writes nothing for an empty list. */
function writeForm(writer: Writer, plan: ValuePlan, value: unknown): void {
  const { kind, message } = plan;
  if (kind === "schemaOrBool") {
    const schema = typeof value === "object" && value !== null ? (value as Json) : undefined;
    if (schema !== undefined) writeMessage(writer, delimited(2), message, schema);
    writer.varint(schema !== undefined || value === true ? 1 : 0);
    writer.varint(8 + wire.varint);
  } else if (!Array.isArray(value)) {
    if (value !== undefined && value !== null) writeMessage(writer, delimited(1), message, value as Json);
  } else if (kind === "schemaOrTexts") {
    writeTexts(writer, 2, value as string[]);
  } else {
    for (let index = value.length - 1; index >= 0; index--)
      writeMessage(writer, delimited(2), message, value[index] as Json);
  }
}
