/** The envelope around every Kubernetes object in protobuf: a magic number and the message `Unknown`. Source: resource-api §2.6. */
import { ProtobufError, Reader, wire } from "./reader.ts";
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
    throw new ProtobufError(`provided data does not appear to be a protobuf message, expected prefix [${magic.join(" ")}]`);
  }
  if (bytes.length === magic.length) throw new ProtobufError("empty body");
  const found = { apiVersion: "", kind: "", raw: Buffer.alloc(0) as Buffer, contentEncoding: "", contentType: "" };
  const reader = new Reader(bytes, magic.length);
  while (!reader.done) {
    const tag = reader.tag();
    if (tag === tags.typeMeta) Object.assign(found, readTypeMeta(reader.bytes()));
    else if (tag === tags.raw) found.raw = reader.bytes();
    else if (tag === tags.contentEncoding) found.contentEncoding = reader.text();
    else if (tag === tags.contentType) found.contentType = reader.text();
    else reader.skip(tag & 7);
  }
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

function readTypeMeta(bytes: Buffer): { apiVersion?: string; kind?: string } {
  const found: { apiVersion?: string; kind?: string } = {};
  const reader = new Reader(bytes);
  while (!reader.done) {
    const tag = reader.tag();
    if (tag === tags.apiVersion) found.apiVersion = reader.text();
    else if (tag === tags.kind) found.kind = reader.text();
    else reader.skip(tag & 7);
  }
  return found;
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
