/** The envelope around every Kubernetes object in protobuf. Source: resource-api §2.6. */
import { ProtobufError, Reader, wire } from "./reader.ts";

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
  if (!hasMagic(bytes)) throw new ProtobufError("provided data does not appear to be a protobuf message, expected prefix 6b 38 73 00");
  if (bytes.length === magic.length) throw new ProtobufError("empty body");
  const found = { apiVersion: "", kind: "", raw: Buffer.alloc(0) as Buffer, contentEncoding: "", contentType: "" };
  for (const { field, reader } of delimited(new Reader(bytes, magic.length))) {
    if (field === 1) Object.assign(found, readTypeMeta(reader.bytes()));
    else if (field === 2) found.raw = reader.bytes();
    else if (field === 3) found.contentEncoding = reader.bytes().toString();
    else if (field === 4) found.contentType = reader.bytes().toString();
    else reader.bytes();
  }
  return found;
}

function readTypeMeta(bytes: Buffer): { apiVersion?: string; kind?: string } {
  const found: { apiVersion?: string; kind?: string } = {};
  for (const { field, reader } of delimited(new Reader(bytes))) {
    const text = reader.bytes().toString();
    if (field === 1) found.apiVersion = text;
    else if (field === 2) found.kind = text;
  }
  return found;
}

/** The length-delimited fields, whose bytes the caller reads; others are skipped. */
function* delimited(reader: Reader): Generator<{ field: number; reader: Reader }> {
  while (!reader.done) {
    const { field, type } = reader.tag();
    if (type === wire.bytes) yield { field, reader };
    else reader.skip(type);
  }
}
