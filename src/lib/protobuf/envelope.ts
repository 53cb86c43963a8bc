/**
 * The envelope of Kubernetes objects in protobuf: a magic number and the message `Unknown`.
 * Source: Kubernetes docs, Kubernetes API Concepts, "Kubernetes Protobuf encoding".
 */
import { fieldOf, ProtobufError, Reader, wire, wireTypeOf, wrongWireType } from "./reader.ts";
import { Writer } from "./writer.ts";

/** The bytes with which an envelope begins. */
export const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** The content of an envelope. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The encoded message of the object. */
  readonly raw: Buffer;
  readonly contentEncoding: string;
  readonly contentType: string;
}

/** Whether data begins with the magic number. */
export function hasMagic(bytes: Buffer): boolean {
  return bytes.subarray(0, magic.length).equals(magic);
}

/**
 * Reads an envelope.
 * @throws ProtobufError
 */
export function readEnvelope(bytes: Buffer): Envelope {
  if (bytes.length === 0) throw new ProtobufError("empty data");
  if (!hasMagic(bytes)) {
    throw new ProtobufError(
      `provided data does not appear to be a protobuf message, expected prefix [${magic.join(" ")}]`,
    );
  }
  if (bytes.length === magic.length) throw new ProtobufError("empty body");
  const found = { apiVersion: "", kind: "", raw: Buffer.alloc(0) as Buffer, contentEncoding: "", contentType: "" };
  readFields(new Reader(bytes, magic.length), unknown, (tag, reader) => {
    if (tag === tags.typeMeta) readTypeMeta(reader.bytes(), found);
    else if (tag === tags.raw) found.raw = reader.bytes();
    else if (tag === tags.contentEncoding) found.contentEncoding = reader.text();
    else found.contentType = reader.text();
  });
  return found;
}

const tags = {
  typeMeta: 8 + wire.bytes,
  raw: 16 + wire.bytes,
  contentEncoding: 24 + wire.bytes,
  contentType: 32 + wire.bytes,
  apiVersion: 8 + wire.bytes,
  kind: 16 + wire.bytes,
} as const;

function readTypeMeta(bytes: Buffer, found: { apiVersion: string; kind: string }): void {
  readFields(new Reader(bytes), typeMeta, (tag, reader) => {
    if (tag === tags.apiVersion) found.apiVersion = reader.text();
    else found.kind = reader.text();
  });
}

/** The names of a message and its fields in Go. All fields are bytes, numbered from 1. */
interface Message {
  readonly name: string;
  readonly fields: readonly string[];
}

const unknown: Message = { name: "Unknown", fields: ["TypeMeta", "Raw", "ContentEncoding", "ContentType"] };
const typeMeta: Message = { name: "TypeMeta", fields: ["APIVersion", "Kind"] };

/** @param visit reads the value of a declared field */
function readFields(reader: Reader, { name, fields }: Message, visit: (tag: number, reader: Reader) => void): void {
  while (!reader.done) {
    const tag = reader.tag();
    const type = wireTypeOf(tag);
    if (type === wire.endGroup || fieldOf(tag) <= 0) throw reader.illegalTag(tag, name);
    const field = fields[fieldOf(tag) - 1];
    if (field === undefined) reader.skip(type);
    else if (type === wire.bytes) visit(tag, reader);
    else throw wrongWireType(type, field);
  }
}

/**
 * The bytes of an envelope before the message; `envelopeTail` follows it.
 * @param rawBytes the size of the message
 */
export function envelopeHead(apiVersion: string, kind: string, rawBytes: number): Buffer {
  const writer = new Writer(apiVersion.length + kind.length + 32);
  writer.varint(rawBytes);
  writer.varint(tags.raw);
  const end = writer.length;
  writer.textField(tags.kind, kind);
  writer.textField(tags.apiVersion, apiVersion);
  writer.closeField(tags.typeMeta, end);
  writer.bytes(magic);
  return writer.finish();
}

/**
 * The bytes of an envelope after the message: an empty contentEncoding and contentType, which
 * upstream writes too.
 */
export const envelopeTail = Buffer.from([tags.contentEncoding, 0, tags.contentType, 0]);

/**
 * Wraps a message in an envelope.
 * @param raw the encoded message of the object
 */
export function wrapInEnvelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  return Buffer.concat([envelopeHead(apiVersion, kind, raw.length), raw, envelopeTail]);
}
