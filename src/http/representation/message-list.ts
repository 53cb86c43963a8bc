/**
 * Encodes a collection as Protobuf. The total length comes first, so that the objects are visited
 * twice: measured, then written in pieces.
 */

import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import { envelopeHead, envelopeTail } from "../../lib/protobuf/envelope.ts";
import { wire } from "../../lib/protobuf/reader.ts";
import { varintBytes, writeVarint } from "../../lib/protobuf/writer.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { Listed, View } from "./contract.ts";
import { type EncodedItems, type ListFrame, type ListMemory, listPieces } from "./list-pieces.ts";
import { type Piece, pieceBytes } from "./piece.ts";

const listMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
const nothing = Buffer.alloc(0);

export async function messageListPieces(
  view: View,
  { meta, entries, among }: Listed,
  memory: ListMemory,
): Promise<Generator<Piece, void, void>> {
  const metadata = field(view.listFields.metadata, encodeProtobuf(meta, builtinSchema(listMeta)));
  const { listed, held, bytes } = await measure(entries, view, among);
  const envelope = envelopeHead(view.apiVersion, view.listKind, metadata.length + bytes);
  const metadataFirst = view.listFields.metadata < view.listFields.items;
  const head = metadataFirst ? Buffer.concat([envelope, metadata]) : envelope;
  const tail = metadataFirst ? envelopeTail : Buffer.concat([metadata, envelopeTail]);
  const messageOf = (entry: Entry): Buffer =>
    held.get(entry) ?? view.message(entry, { among: Number.POSITIVE_INFINITY });
  const frame: ListFrame = {
    form: { view, encoding: "protobuf" },
    head,
    tail,
    between: nothing,
    empty: () => Buffer.concat([head, tail]),
    items: (some) => encodeItems(some.map(messageOf), tagOf(view.listFields.items)),
  };
  return listPieces(listed, frame, memory);
}

/** Bytes of one list whose messages are cached for other requests. */
const keptMax = 16 << 20;
/** … and for this list only, until they are written; the others are encoded twice. */
const heldMax = 1 << 20;

interface Measured {
  readonly listed: readonly Entry[];
  /** The messages of the first entries. */
  readonly held: ReadonlyMap<Entry, Buffer>;
  readonly bytes: number;
}

/** Yields to other requests: this is most of the work of a list. */
async function measure(entries: Iterable<Entry>, view: View, among: number | undefined): Promise<Measured> {
  const listed: Entry[] = [];
  const held = new Map<Entry, Buffer>();
  let bytes = 0;
  let sinceTurn = 0;
  for (const entry of entries) {
    const message = view.message(entry, { among: bytes < keptMax ? among : Number.POSITIVE_INFINITY });
    listed.push(entry);
    if (bytes < heldMax) held.set(entry, message);
    bytes += fieldBytes(message);
    sinceTurn += message.length;
    if (sinceTurn < pieceBytes) continue;
    sinceTurn = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { listed, held, bytes };
}

function encodeItems(messages: readonly Buffer[], tag: number): EncodedItems {
  let length = 0;
  for (const message of messages) length += fieldBytes(message);
  return {
    length,
    write(bytes, start) {
      let at = start;
      for (const message of messages) at = writeField(bytes, at, tag, message);
      return at;
    },
  };
}

function tagOf(number: number): number {
  return number * 8 + wire.bytes;
}

function field(number: number, message: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(fieldBytes(message));
  writeField(bytes, 0, tagOf(number), message);
  return bytes;
}

/** The length of a message with its tag and length prefix. */
function fieldBytes({ length }: Buffer): number {
  return 1 + varintBytes(length) + length;
}

/** @returns the end offset */
function writeField(bytes: Buffer, at: number, tag: number, message: Buffer): number {
  bytes[at] = tag;
  const start = writeVarint(bytes, at + 1, message.length);
  return start + message.copy(bytes, start);
}
