/**
 * Encodes objects exactly as upstream's deterministic mode does: keys sorted by length and then by
 * bytes, text as byte strings, bytes with the tag of base64, numbers in the shortest form.
 * Source: k8s.io/apimachinery@v0.36.0/pkg/runtime/serializer/cbor; RFC 8949, section 4.2.1.
 */
import { sortedKeys } from "../json/encode-any.ts";
import type { Integer } from "../json/values.ts";
import { collapses, isEmpty } from "../schema/encode.ts";
import type { Field, Struct, Type } from "../schema/schema.ts";
import { unsetValueOf } from "../schema/zero.ts";
import { major, selfDescribed } from "./wire.ts";
import { Writer } from "./writer.ts";

type Json = Record<string, unknown>;

/**
 * Encodes an object by its schema, with the self-describing tag.
 * @param object in the form that the decoder returns
 * @param expectedBytes an estimate of the size, which avoids copying
 */
export function encodeCbor(object: object, schema: Struct, expectedBytes = 1024): Buffer {
  const writer = new Writer(expectedBytes);
  writer.bytes(selfDescribed);
  structPlan(schema).write(writer, object as Json);
  return writer.finish();
}

/**
 * Encodes a value without a schema, such as a custom resource, with the self-describing tag.
 * @param value has at most `retainedDepthMax` levels
 * @param expectedBytes an estimate of the size, which avoids copying
 */
export function encodeAnyCbor(value: unknown, expectedBytes = 1024): Buffer {
  const writer = new Writer(expectedBytes);
  writer.bytes(selfDescribed);
  writeAny(writer, value);
  return writer.finish();
}

type Write = (writer: Writer, value: unknown) => void;

class FieldPlan {
  readonly name: string;
  readonly #type: Type;
  readonly #key: Buffer;
  readonly #collapses: boolean;
  readonly #zero: unknown;
  #write: Write | undefined;

  constructor(field: Field) {
    const { name, type } = field;
    this.name = name;
    this.#type = type;
    this.#key = keyOf(name);
    this.#collapses = collapses(field);
    this.#zero = unsetValueOf(field);
  }

  /** Writes the member. @returns whether it was written */
  write(writer: Writer, member: unknown): boolean {
    let value = member;
    if (value === undefined || value === null || (this.#collapses && isEmpty(value))) {
      value = this.#zero;
      if (value === undefined) return false;
    }
    this.#write ??= writerOf(this.#type);
    writer.bytes(this.#key);
    if (value === null) writer.null();
    else this.#write(writer, value);
    return true;
  }
}

class StructPlan {
  readonly #fields: readonly FieldPlan[];

  constructor({ fields }: Struct) {
    this.#fields = fields.map((field) => new FieldPlan(field)).sort((a, b) => compareKeys(a.name, b.name));
  }

  write(writer: Writer, object: Json): void {
    const opened = writer.openMap();
    let pairs = 0;
    for (const field of this.#fields) {
      const value = Object.hasOwn(object, field.name) ? object[field.name] : undefined;
      if (field.write(writer, value)) pairs++;
    }
    writer.closeMap(opened, pairs);
  }
}

// Depends on the schema alone, and is garbage-collected with it.
const plans = new WeakMap<Struct, StructPlan>();

function structPlan(schema: Struct): StructPlan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    plan = new StructPlan(schema);
    plans.set(schema, plan);
  }
  return plan;
}

function keyOf(name: string): Buffer {
  const writer = new Writer(name.length + 2);
  writer.text(name);
  return writer.finish();
}

/** Compares encoded keys: the shorter one is first, then by bytes. */
function compareKeys(a: string, b: string): number {
  return Buffer.compare(keyOf(a), keyOf(b));
}

function writerOf(type: Type): Write {
  switch (type.kind) {
    case "struct":
      return structWriter(type);
    case "list":
      return listWriter(type.items);
    case "map":
      return mapWriter(type.values);
    case "any":
      return type.forms === undefined ? writeAny : formWriter(type.forms);
    case "int32":
    case "int64":
      return (writer, value) => writer.integer((value ?? 0) as Integer);
    case "double":
      return (writer, value) => writer.float((value ?? 0) as number);
    case "bool":
      return (writer, value) => writer.boolean(value === true);
    case "bytes":
      return (writer, value) => (value === null ? writer.null() : writer.base64(value as string));
    case "intOrString":
      return (writer, value) =>
        typeof value === "string" ? writer.text(value) : writer.integer((value ?? 0) as number);
    default:
      return (writer, value) => (value === null ? writer.null() : writer.text(value as string));
  }
}

/** The struct's plan is created at first use, because types may be recursive. */
function structWriter(schema: Struct): Write {
  let plan: StructPlan | undefined;
  return (writer, value) => {
    plan ??= structPlan(schema);
    plan.write(writer, (value ?? {}) as Json);
  };
}

function listWriter(items: Type): Write {
  let write: Write | undefined;
  return (writer, value) => {
    write ??= writerOf(items);
    const list = value as readonly unknown[];
    writer.head(major.array, list.length);
    for (const item of list) write(writer, item);
  };
}

function mapWriter(values: Type): Write {
  let write: Write | undefined;
  return (writer, value) => {
    write ??= writerOf(values);
    writeMembers(writer, value as Json, write);
  };
}

/** Writes a value by the typed form that it has. */
function formWriter(forms: readonly Type[]): Write {
  return (writer, value) => {
    // Upstream writes an empty list as null.
    if (Array.isArray(value) && value.length === 0) return writer.null();
    const kind = Array.isArray(value) ? "list" : typeof value === "object" && value !== null ? "struct" : "";
    const form = forms.find((candidate) => candidate.kind === kind);
    if (form === undefined) writeAny(writer, value);
    else writerOf(form)(writer, value);
  };
}

function writeAny(writer: Writer, value: unknown): void {
  switch (typeof value) {
    case "string":
      return writer.text(value);
    case "number":
      return writeNumber(writer, value);
    case "bigint":
      return BigInt.asIntN(64, value) === value ? writer.integer(value) : writer.float(Number(value));
    case "boolean":
      return writer.boolean(value);
    case "object":
      if (value === null) return writer.null();
      if (!Array.isArray(value)) return writeMembers(writer, value as Json, writeAny);
      writer.head(major.array, value.length);
      for (const item of value) writeAny(writer, item);
      return;
    default:
      writer.null();
  }
}

/**
 * Writes a number as upstream decodes it from stored JSON: without a fraction, it is an integer.
 */
function writeNumber(writer: Writer, value: number): void {
  if (Number.isSafeInteger(value)) writer.integer(value === 0 ? 0 : value);
  else if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) writer.integer(BigInt(value));
  else writer.float(value);
}

/** Writes a map without the members that are undefined. */
function writeMembers(writer: Writer, object: Json, write: Write): void {
  const keys = byLength(sortedKeys(object));
  const opened = keys.length < countedMax ? writer.openMap() : undefined;
  let pairs = 0;
  if (opened === undefined) writer.head(major.map, keys.filter((key) => object[key] !== undefined).length);
  for (const key of keys) {
    const value = object[key];
    if (value === undefined) continue;
    writer.text(key);
    write(writer, value);
    pairs++;
  }
  if (opened !== undefined) writer.closeMap(opened, pairs);
}

/** Smaller maps are counted while they are written. */
const countedMax = 24;

/**
 * Sorts keys by length.
 * @param keys sorted by bytes, which remains the order of keys of one length
 */
function byLength(keys: string[]): string[] {
  let length = 0;
  for (const key of keys) {
    if (key.length < length || !isAscii(key)) return keys.sort((a, b) => Buffer.byteLength(a) - Buffer.byteLength(b));
    length = key.length;
  }
  return keys;
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) >= 0x80) return false;
  return true;
}
