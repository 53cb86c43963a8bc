/**
 * Encodes an object as the JSON that Go writes for the struct: fields in struct order, map keys
 * sorted, empty values by Go's rules. Source: Go's encoding/json.
 */
import { encodeAny, encodeSorted, encodeSortedMembers, encodeString, sortedKeys } from "../json/encode-any.ts";
import type { Field, Struct, Type } from "./schema.ts";
import { unsetValueOf } from "./zero.ts";

export { encodeAny } from "../json/encode-any.ts";

/** The JSON of an object, with the offsets at which readers splice it. */
export interface Encoded {
  /** The JSON, without metadata.resourceVersion. The buffer is not a slice of a pool. */
  readonly json: Buffer;
  /**
   * Byte offset at which readers insert `"resourceVersion":"…",` with its comma. It is the place of
   * the field in ObjectMeta when a member follows, which is so for every stored object because it
   * has a creationTimestamp; otherwise the start of metadata. 0 when metadata is empty or not an
   * ObjectMeta.
   */
  readonly versionOffset: number;
  /**
   * Byte offset of the first byte after `"kind":…,"apiVersion":…,`; 1 when the object has neither.
   */
  readonly itemOffset: number;
}

/**
 * Encodes an object.
 * @param object in the form that the decoder returns
 */
export function encodeObject(object: object, schema: Struct): Encoded {
  const encode =
    schema.custom === undefined ? (plain: PlainObject) => structEncoder(schema).encodeObject(plain) : encodeCustom;
  const { text, versionAt, itemAt } = encode(object as PlainObject);
  const length = Buffer.byteLength(text);
  const json = Buffer.allocUnsafeSlow(length);
  if (length === text.length) {
    json.write(text, "latin1"); // All ASCII: characters are bytes.
    return { json, versionOffset: versionAt, itemOffset: itemAt };
  }
  json.write(text, "utf8");
  return {
    json,
    versionOffset: Buffer.byteLength(text.slice(0, versionAt)),
    itemOffset: Buffer.byteLength(text.slice(0, itemAt)),
  };
}

type PlainObject = Record<string, unknown>;

interface Spliced {
  readonly text: string;
  readonly versionAt: number;
  readonly itemAt: number;
}

/** Sorts all keys, also those of metadata. Items of lists keep their kind and apiVersion. */
function encodeCustom(object: PlainObject): Spliced {
  const keys = sortedKeys(object);
  const at = keys.indexOf("metadata");
  if (at === -1) return { text: encodeSorted(object), versionAt: 0, itemAt: 1 };
  const before = encodeSortedMembers(object, keys.slice(0, at));
  const after = encodeSortedMembers(object, keys.slice(at + 1));
  const meta = encodeSortedMetadata((object.metadata ?? {}) as PlainObject);
  const start = `{${before}${before === "" ? "" : ","}"metadata":`;
  return {
    text: `${start}${meta.text}${after === "" ? "" : ","}${after}}`,
    versionAt: meta.versionAt === 0 ? 0 : start.length + meta.versionAt,
    itemAt: 1,
  };
}

function encodeSortedMetadata(metadata: PlainObject): { text: string; versionAt: number } {
  const keys = sortedKeys(metadata).filter((key) => key !== "resourceVersion");
  const next = keys.findIndex((key) => key > "resourceVersion");
  if (next === -1) {
    const text = encodeSortedMembers(metadata, keys);
    return { text: `{${text}}`, versionAt: text === "" ? 0 : 1 };
  }
  const before = encodeSortedMembers(metadata, keys.slice(0, next));
  const start = `{${before}${before === "" ? "" : ","}`;
  return { text: `${start}${encodeSortedMembers(metadata, keys.slice(next))}}`, versionAt: start.length };
}

/** Encodes one value of a type. */
export function encodeValue(value: unknown, type: Type): string {
  return valueEncoder(type)(value);
}

type Encode = (value: unknown) => string;

/**
 * Upstream stores protobuf, which does not distinguish empty containers from absent ones, even
 * without omitempty.
 */
const containers: ReadonlySet<string> = new Set(["list", "map"]);

/** The scalars that `omitempty` leaves out when they are empty; all others are structs in Go. */
const plainScalars: ReadonlySet<string> = new Set(["string", "int32", "int64", "bool", "double", "bytes"]);

class FieldEncoder {
  readonly name: string;
  /** `"name":` */
  readonly label: string;
  readonly #field: Field;
  /** Whether an empty value is written as an absent one. */
  readonly #collapses: boolean;
  #encode: Encode | undefined;
  #absent: string | undefined;

  constructor(field: Field) {
    this.#field = field;
    this.name = field.name;
    this.label = `${JSON.stringify(field.name)}:`;
    this.#collapses = collapses(field);
  }

  /** The text of the member; empty when it is left out. */
  encode(value: unknown): string {
    if (value === undefined || value === null) return this.absent;
    if (this.#collapses && isEmpty(value)) return this.absent;
    this.#encode ??= valueEncoder(this.#field.type);
    return this.label + this.#encode(value);
  }

  /** The text of the member when there is no value. */
  get absent(): string {
    this.#absent ??= absentText(this.#field, this.label);
    return this.#absent;
  }
}

class StructEncoder {
  readonly #fields: readonly FieldEncoder[];
  readonly #byName: ReadonlyMap<string, FieldEncoder>;
  readonly #preserveUnknown: boolean;
  readonly #metadata: StructEncoder | undefined;
  /** The number of fields before resourceVersion. */
  readonly #versionIndex: number;

  constructor(schema: Struct) {
    this.#fields = schema.fields.map((field) => new FieldEncoder(field));
    this.#byName = new Map(this.#fields.map((field) => [field.name, field]));
    this.#preserveUnknown = schema.preserveUnknown;
    const metadata = schema.byName.get("metadata")?.type;
    this.#metadata = metadata?.kind === "struct" && isObjectMeta(metadata) ? structEncoder(metadata) : undefined;
    this.#versionIndex = this.#fields.findIndex(({ name }) => name === "resourceVersion");
  }

  encode(object: Record<string, unknown>): string {
    if (this.#preserveUnknown) return this.#encodeSorted(object);
    return `{${this.#members(object, 0, this.#fields.length)}}`;
  }

  /** The whole object, and the offsets at which readers splice it. */
  encodeObject(object: Record<string, unknown>): { text: string; versionAt: number; itemAt: number } {
    if (this.#metadata === undefined || this.#preserveUnknown)
      return { text: this.encode(object), versionAt: 0, itemAt: 1 };
    const names = this.#fields.findIndex(({ name }) => name === "metadata");
    const head = this.#members(object, 0, names);
    const meta = this.#metadata.encodeMetadata((object.metadata ?? {}) as Record<string, unknown>);
    const rest = this.#members(object, names + 1, this.#fields.length);
    const start = head === "" ? "{" : `{${head},`;
    const metadataAt = start.length + '"metadata":'.length;
    return {
      text: `${start}"metadata":${meta.text}${rest === "" ? "" : ","}${rest}}`,
      versionAt: meta.versionAt === 0 ? 0 : metadataAt + meta.versionAt,
      itemAt: start.length,
    };
  }

  /** ObjectMeta without its resourceVersion. */
  encodeMetadata(metadata: Record<string, unknown>): { text: string; versionAt: number } {
    const before = this.#members(metadata, 0, this.#versionIndex);
    const after = this.#members(metadata, this.#versionIndex + 1, this.#fields.length);
    if (after !== "") {
      const start = before === "" ? "{" : `{${before},`;
      return { text: `${start}${after}}`, versionAt: start.length };
    }
    return { text: `{${before}}`, versionAt: before === "" ? 0 : 1 };
  }

  #members(object: Record<string, unknown>, from: number, to: number): string {
    let text = "";
    for (let index = from; index < to; index++) {
      const field = this.#fields[index] as FieldEncoder;
      const value = object[field.name];
      const member = value === undefined ? field.absent : field.encode(value);
      if (member !== "") text += text === "" ? member : `,${member}`;
    }
    return text;
  }

  /** Custom resources: all members sorted, unknown ones as they are. */
  #encodeSorted(object: Record<string, unknown>): string {
    const members = sortedKeys(object).map((key) => {
      const value = Object.hasOwn(object, key) ? object[key] : undefined;
      return this.#byName.get(key)?.encode(value) ?? `${encodeString(key)}:${encodeAny(value)}`;
    });
    return `{${members.filter((member) => member !== "").join(",")}}`;
  }
}

// Depends on the schema alone, and is garbage-collected with it.
const encoders = new WeakMap<Struct, StructEncoder>();

function structEncoder(schema: Struct): StructEncoder {
  let encoder = encoders.get(schema);
  if (encoder === undefined) {
    encoder = new StructEncoder(schema);
    encoders.set(schema, encoder);
  }
  return encoder;
}

function isObjectMeta(type: Struct): boolean {
  return type.byName.has("resourceVersion") && type.byName.has("uid");
}

function valueEncoder(type: Type): Encode {
  switch (type.kind) {
    case "struct":
      return lazyStruct(type);
    case "list":
      return listEncoder(type.items);
    case "map":
      return mapEncoder(type.values);
    case "any":
      return type.forms === undefined ? encodeAny : formEncoder(type.forms);
    case "int32":
    case "int64":
    case "double":
      return String;
    case "bool":
      return (value) => (value === true ? "true" : "false");
    case "intOrString":
      return encodeAny;
    default:
      return (value) => (value === null ? "null" : encodeString(value as string));
  }
}

/** The struct's encoder is created at first use, because types may be recursive. */
function lazyStruct(schema: Struct): Encode {
  let encoder: StructEncoder | undefined;
  return (value) => {
    encoder ??= structEncoder(schema);
    return encoder.encode((value ?? {}) as Record<string, unknown>);
  };
}

function listEncoder(items: Type): Encode {
  let encode: Encode | undefined;
  return (value) => {
    encode ??= valueEncoder(items);
    const list = value as readonly unknown[];
    let text = "[";
    for (let index = 0; index < list.length; index++) text += (index === 0 ? "" : ",") + encode(list[index]);
    return `${text}]`;
  };
}

function mapEncoder(values: Type): Encode {
  let encode: Encode | undefined;
  return (value) => {
    encode ??= valueEncoder(values);
    const map = value as Record<string, unknown>;
    let text = "{";
    for (const key of sortedKeys(map)) text += `${(text === "{" ? "" : ",") + encodeString(key)}:${encode(map[key])}`;
    return `${text}}`;
  };
}

/** Encodes a value by the typed form that it has. */
function formEncoder(forms: readonly Type[]): Encode {
  return (value) => {
    // Upstream writes an empty list as null.
    if (Array.isArray(value) && value.length === 0) return "null";
    const kind = Array.isArray(value) ? "list" : typeof value === "object" && value !== null ? "struct" : "";
    const form = forms.find((candidate) => candidate.kind === kind);
    return form === undefined ? encodeAny(value) : encodeValue(value, form);
  };
}

/** Whether an empty value of a field is written as an absent one. */
export function collapses({ pointer, type, omitEmpty }: Field): boolean {
  return !pointer && (containers.has(type.kind) || (omitEmpty && plainScalars.has(type.kind)));
}

/** Whether `omitempty` leaves out a value of a struct's field. */
export function isOmitted(field: Field, value: unknown): boolean {
  return field.omitEmpty && collapses(field) && isEmpty(value);
}

/** Whether a value is Go's zero value of a scalar, or an empty list or map. */
export function isEmpty(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === "" || value === 0 || value === false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _key in value) return false;
  return true;
}

/** The text of a field without a value: empty, or with Go's zero value. */
function absentText(field: Field, label: string): string {
  const value = unsetValueOf(field);
  if (value === undefined) return "";
  return label + (value === null ? "null" : encodeValue(value, field.type));
}
