/** Writes a collection in protobuf. The length of the whole comes first, so the objects are looked at twice: measured, then written in pieces. */
import { formatGroupVersion } from "../../api/object.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import { envelopeHead, envelopeTail } from "../../lib/protobuf/envelope.ts";
import { varintBytes, writeVarint } from "../../lib/protobuf/writer.ts";
import type { ListResult } from "../../registry/list.ts";
import { builtinSchema } from "../../resource/builtin-schemas.ts";
import type { Resolved } from "../../resource/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { RequestContext } from "../contract.ts";
import { type Piece, type PieceMemory, pieceBytes, type Sending, sendPieces } from "../representation/pieces.ts";
import { entryMessage } from "../representation/protobuf.ts";

/** `{ListMeta metadata = 1; repeated items = 2}`, the same in the lists of all kinds. */
const tags = { metadata: 0x0a, items: 0x12 } as const;
const listMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/** @param contentType the name of protobuf that was asked for */
export async function sendMessageList(
  context: RequestContext,
  { meta, entries }: ListResult,
  { memory, contentType }: Required<Sending>,
): Promise<void> {
  const resolved = context.resolved as Resolved;
  const { definition } = resolved.resource;
  const metadata = encodeProtobuf(meta, builtinSchema(listMeta));
  const { listed, bytes } = await measure(entries, resolved);
  const apiVersion = formatGroupVersion(definition.group, resolved.version.version);
  const envelope = envelopeHead(apiVersion, definition.listKind, fieldBytes(metadata) + bytes);
  const head = Buffer.allocUnsafe(envelope.length + fieldBytes(metadata));
  writeField(head, envelope.copy(head), tags.metadata, metadata);
  await sendPieces(context, piecesOf(listed, resolved, head, memory), { memory, contentType });
}

/** Bytes of one list whose messages are kept for others; what follows is made twice. */
const keptMax = 16 << 20;

/** Others run in between: most of the work of a list is done here. */
async function measure(entries: Iterable<Entry>, resolved: Resolved): Promise<{ listed: readonly Entry[]; bytes: number }> {
  const listed: Entry[] = [];
  let bytes = 0;
  let sinceTurn = 0;
  for (const entry of entries) {
    const message = entryMessage(entry, resolved, { keep: bytes < keptMax });
    listed.push(entry);
    bytes += fieldBytes(message);
    sinceTurn += message.length;
    if (sinceTurn < pieceBytes) continue;
    sinceTurn = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { listed, bytes };
}

function* piecesOf(entries: readonly Entry[], resolved: Resolved, head: Buffer, memory: PieceMemory): Generator<Piece, void, void> {
  let before = head;
  let items: Buffer[] = [];
  let bytes = head.length;
  let all = 0;
  for (const entry of entries) {
    const message = entryMessage(entry, resolved, { keep: all < keptMax });
    items.push(message);
    bytes += message.length;
    all += fieldBytes(message);
    if (bytes < pieceBytes) continue;
    yield { bytes: pack(items, { before, after: nothing, memory }), last: false };
    before = nothing;
    items = [];
    bytes = 0;
  }
  yield { bytes: pack(items, { before, after: envelopeTail, memory }), last: true };
}

const nothing = Buffer.alloc(0);

interface Packing {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly memory: PieceMemory;
}

function pack(items: readonly Buffer[], { before, after, memory }: Packing): Buffer {
  let length = before.length + after.length;
  for (const item of items) length += fieldBytes(item);
  const bytes = memory.take(length);
  let at = before.copy(bytes);
  for (const item of items) at = writeField(bytes, at, tags.items, item);
  after.copy(bytes, at);
  return bytes;
}

/** Of a message with its tag and its length. */
function fieldBytes({ length }: Buffer): number {
  return 1 + varintBytes(length) + length;
}

/** @returns where it ends */
function writeField(bytes: Buffer, at: number, tag: number, message: Buffer): number {
  bytes[at] = tag;
  const start = writeVarint(bytes, at + 1, message.length);
  return start + message.copy(bytes, start);
}
