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
import { type Piece, type PieceMemory, pieceBytes } from "./piece-memory.ts";

const listMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

export async function messageListPieces(
  view: View,
  { meta, entries, among }: Listed,
  memory: PieceMemory,
): Promise<Generator<Piece, void, void>> {
  const metadata = field(view.listFields.metadata, encodeProtobuf(meta, builtinSchema(listMeta)));
  const { listed, bytes } = await measure(entries, view, among);
  const envelope = envelopeHead(view.apiVersion, view.listKind, metadata.length + bytes);
  const metadataFirst = view.listFields.metadata < view.listFields.items;
  const before = metadataFirst ? Buffer.concat([envelope, metadata]) : envelope;
  const after = metadataFirst ? envelopeTail : Buffer.concat([metadata, envelopeTail]);
  return piecesOf(listed, view, { before, after, memory });
}

/** Bytes of one list whose messages are cached for other requests. */
const keptMax = 16 << 20;
/** … and for this list only, until they are written; the others are encoded twice. */
const heldMax = 1 << 20;

interface ListedMessage {
  readonly entry: Entry;
  readonly message: Buffer | undefined;
}

/** Yields to other requests: this is most of the work of a list. */
async function measure(
  entries: Iterable<Entry>,
  view: View,
  among: number | undefined,
): Promise<{ listed: readonly ListedMessage[]; bytes: number }> {
  const listed: ListedMessage[] = [];
  let bytes = 0;
  let sinceTurn = 0;
  for (const entry of entries) {
    const message = view.message(entry, { among: bytes < keptMax ? among : Number.POSITIVE_INFINITY });
    listed.push({ entry, message: bytes < heldMax ? message : undefined });
    bytes += fieldBytes(message);
    sinceTurn += message.length;
    if (sinceTurn < pieceBytes) continue;
    sinceTurn = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { listed, bytes };
}

interface Packing {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly memory: PieceMemory;
}

function* piecesOf(
  listed: readonly ListedMessage[],
  view: View,
  { before: head, after, memory }: Packing,
): Generator<Piece, void, void> {
  const tag = tagOf(view.listFields.items);
  let before = head;
  let items: Buffer[] = [];
  let bytes = head.length;
  for (const { entry, message = view.message(entry, { among: Number.POSITIVE_INFINITY }) } of listed) {
    items.push(message);
    bytes += message.length;
    if (bytes < pieceBytes) continue;
    yield { bytes: pack(items, tag, { before, after: nothing, memory }), last: false };
    before = nothing;
    items = [];
    bytes = 0;
  }
  yield { bytes: pack(items, tag, { before, after, memory }), last: true };
}

const nothing = Buffer.alloc(0);

function pack(items: readonly Buffer[], tag: number, { before, after, memory }: Packing): Buffer {
  let length = before.length + after.length;
  for (const item of items) length += fieldBytes(item);
  const bytes = memory.take(length);
  let at = before.copy(bytes);
  for (const item of items) at = writeField(bytes, at, tag, item);
  after.copy(bytes, at);
  return bytes;
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
