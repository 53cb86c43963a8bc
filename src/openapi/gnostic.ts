/**
 * Encodes OpenAPI as gnostic's protobuf messages, which are described by tables from JSON keys to
 * field numbers and types. Source: the protobuf definitions of gnostic-models.
 */
import { blockYaml } from "./block-yaml.ts";
import { ProtobufWriter } from "./protobuf-writer.ts";

/** Writes one value as a field. */
type WriteField = (value: unknown, writer: ProtobufWriter) => void;
/** Writes the content of a message. */
export type WriteMessage = (value: unknown, writer: ProtobufWriter) => void;

/** Settings of an encoding. */
interface EncodeOptions {
  /** For values of other servers, which can have members that messages do not have. */
  readonly skipsUnknown?: boolean;
}

/** Encodes a message. */
export function encodeMessage(write: WriteMessage, value: unknown, { skipsUnknown }: EncodeOptions = {}): Buffer {
  const writer = new ProtobufWriter(undefined, skipsUnknown);
  write(value, writer);
  return writer.finish();
}

/** Encodes an entry of a map, a name and a message, as the repeated field `number`. */
export function encodeEntry(
  number: number,
  write: WriteMessage,
  name: string,
  value: unknown,
  { skipsUnknown }: EncodeOptions = {},
): Buffer {
  const writer = new ProtobufWriter(undefined, skipsUnknown);
  writeEntry(number, name, () => message(2, write)(value, writer), writer);
  return writer.finish();
}

/** A message field whose content is encoded in pieces. */
export function messageField(field: number, content: readonly Buffer[]): Buffer[] {
  const writer = new ProtobufWriter(16);
  writer.lengthDelimited(
    field,
    content.reduce((sum, piece) => sum + piece.length, 0),
  );
  return [writer.finish(), ...content];
}

/**
 * An object.
 *
 * @param fields by JSON key
 * @param extensions the field number for keys with the prefix `x-`
 */
export function messageOf(fields: () => Readonly<Record<string, WriteField>>, extensions?: number): WriteMessage {
  let table: Readonly<Record<string, WriteField>> | undefined;
  return (value, writer) => {
    table ??= fields();
    for (const [key, one] of Object.entries(value as object).reverse()) {
      if (one === undefined) continue;
      if (Object.hasOwn(table, key)) table[key]?.(one, writer);
      else if (extensions !== undefined && key.startsWith("x-")) namedAny(extensions, key, one, writer);
      else if (!writer.skipsUnknown) throw new Error(`no protobuf field for ${key}`);
    }
  };
}

/** A boolean in field 2, or another type. */
export function orBoolean(otherwise: WriteField): WriteMessage {
  return (value, writer) => (typeof value === "boolean" ? boolean(2) : otherwise)(value, writer);
}

/** A oneof, chosen by the value. */
export function oneOf(choose: (value: unknown) => WriteField): WriteMessage {
  return (value, writer) => choose(value)(value, writer);
}

/** A message field. */
export function message(number: number, write: WriteMessage): WriteField {
  return (value, writer) => {
    const before = writer.length;
    write(value, writer);
    writer.lengthDelimited(number, writer.length - before);
  };
}

/** A repeated field. */
export function repeated(field: WriteField): WriteField {
  return (values, writer) => {
    for (const value of [...(values as readonly unknown[])].reverse()) field(value, writer);
  };
}

/** A string field. */
export function text(number: number): WriteField {
  return (value, writer) => {
    const before = writer.length;
    writer.text(value as string);
    writer.lengthDelimited(number, writer.length - before);
  };
}

/** A boolean field. */
export function boolean(number: number): WriteField {
  return (value, writer) => writer.boolean(number, value === true);
}

/** A non-negative integer. */
export function integer(number: number): WriteField {
  return (value, writer) => {
    writer.varint(Math.max(0, Number(value)));
    writer.varint(number * 8);
  };
}

/** A double field. */
export function double(number: number): WriteField {
  return (value, writer) => writer.double(number, Number(value));
}

/** Any value, as YAML. */
export function any(number: number): WriteField {
  return message(number, (value, writer) => text(2)(blockYaml(value), writer));
}

/** A map in the repeated field `number`, each entry a name and a message. */
export function entries(number: number, write: WriteMessage): WriteMessage {
  return (value, writer) => {
    for (const [name, one] of Object.entries(value as object).reverse())
      writeEntry(number, name, () => message(2, write)(one, writer), writer);
  };
}

/**
 * The responses of an operation by code.
 *
 * @param numbers of the repeated field of codes, of extensions, and of the default response if it
 *   has its own
 */
export function responses(
  numbers: { readonly codes: number; readonly extensions: number; readonly byDefault?: number },
  write: WriteMessage,
): WriteMessage {
  return (value, writer) => {
    for (const [name, one] of Object.entries(value as object).reverse()) {
      if (/^[xX]-/.test(name)) namedAny(numbers.extensions, name, one, writer);
      else if (name === "default" && numbers.byDefault !== undefined) message(numbers.byDefault, write)(one, writer);
      else writeEntry(numbers.codes, name, () => message(2, write)(one, writer), writer);
    }
  };
}

/** A message with one repeated string. */
export function texts(number: number): WriteMessage {
  return (value, writer) => repeated(text(number))(value, writer);
}

function namedAny(number: number, name: string, value: unknown, writer: ProtobufWriter): void {
  writeEntry(number, name, () => any(2)(value, writer), writer);
}

function writeEntry(number: number, name: string, writeValue: () => void, writer: ProtobufWriter): void {
  const before = writer.length;
  writeValue();
  text(1)(name, writer);
  writer.lengthDelimited(number, writer.length - before);
}
