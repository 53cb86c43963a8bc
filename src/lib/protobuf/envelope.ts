/** The envelope around every Kubernetes object in protobuf: a magic number and the message `Unknown`. Source: resource-api §2.6. */
import { fieldOf, ProtobufError, Reader, wire, wireTypeOf, wrongWireType } from "./reader.ts";
import { Writer } from "./writer.ts";

export const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The message of the object. */
  readonly raw: Buffer;
  readonly contentEncoding: string;
  readonly contentType: string;
}

export function hasMagic(bytes: Buffer): boolean {
  return bytes.subarray(0, magic.length).equals(magic);
}

/** @throws ProtobufError */
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

/** As upstream calls a message and its fields, which are all of bytes and numbered from 1. */
interface Message {
  readonly name: string;
  readonly fields: readonly string[];
}

const unknown: Message = { name: "Unknown", fields: ["TypeMeta", "Raw", "ContentEncoding", "ContentType"] };
const typeMeta: Message = { name: "TypeMeta", fields: ["APIVersion", "Kind"] };

/** @param visit reads the value of a field that is known */
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

/** @returns what stands before a message of so many bytes; {@link envelopeTail} stands after it */
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

/** Neither encoding nor type of the content; upstream writes both all the same. */
export const envelopeTail = Buffer.from([tags.contentEncoding, 0, tags.contentType, 0]);

/** @param raw the object's message */
export function wrapInEnvelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  return Buffer.concat([envelopeHead(apiVersion, kind, raw.length), raw, envelopeTail]);
}
