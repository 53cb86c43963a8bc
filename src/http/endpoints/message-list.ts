/** Writes a collection in protobuf. The length of the whole comes first, so the objects are looked at twice: measured, then written in pieces. */
import { formatGroupVersion } from "../../api/object.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import { envelopeHead, envelopeTail } from "../../lib/protobuf/envelope.ts";
import { varintBytes, Writer } from "../../lib/protobuf/writer.ts";
import type { ListResult } from "../../registry/list.ts";
import { builtinSchema } from "../../resource/builtin-schemas.ts";
import type { Resolved } from "../../resource/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { RequestContext } from "../contract.ts";
import { type Piece, pieceBytes, sendPieces } from "../representation/pieces.ts";
import { entryMessage } from "../representation/protobuf.ts";

/** `{ListMeta metadata = 1; repeated items = 2}`, the same in the lists of all kinds. */
const tags = { metadata: 0x0a, items: 0x12 } as const;
const listMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/** @param mediaType the name of protobuf that was asked for */
export async function sendMessageList(context: RequestContext, { meta, entries }: ListResult, mediaType: string): Promise<void> {
  const resolved = context.resolved as Resolved;
  const { definition } = resolved.resource;
  const metadata = delimited(tags.metadata, encodeProtobuf(meta, builtinSchema(listMeta)));
  const { listed, bytes } = await measure(entries, resolved);
  const apiVersion = formatGroupVersion(definition.group, resolved.version.version);
  const head = Buffer.concat([envelopeHead(apiVersion, definition.listKind, metadata.length + bytes), metadata]);
  await sendPieces(context, piecesOf(listed, resolved, head), mediaType);
}

function delimited(tag: number, message: Buffer): Buffer {
  return Buffer.concat([itemHead(tag, message.length), message]);
}

/** What stands before a message of so many bytes. */
function itemHead(tag: number, bytes: number): Buffer {
  const writer = new Writer(16);
  writer.varint(bytes);
  writer.varint(tag);
  return writer.finish();
}

/** Others run in between: most of the work of a list is done here. */
async function measure(entries: Iterable<Entry>, resolved: Resolved): Promise<{ listed: readonly Entry[]; bytes: number }> {
  const listed: Entry[] = [];
  let bytes = 0;
  let sinceTurn = 0;
  for (const entry of entries) {
    const { length } = entryMessage(entry, resolved);
    listed.push(entry);
    bytes += 1 + varintBytes(length) + length;
    sinceTurn += length;
    if (sinceTurn < pieceBytes) continue;
    sinceTurn = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { listed, bytes };
}

function* piecesOf(entries: readonly Entry[], resolved: Resolved, head: Buffer): Generator<Piece, void, void> {
  let parts = [head];
  let bytes = head.length;
  for (const entry of entries) {
    const message = entryMessage(entry, resolved);
    parts.push(itemHead(tags.items, message.length), message);
    bytes += message.length;
    if (bytes < pieceBytes) continue;
    yield { bytes: Buffer.concat(parts), last: false };
    parts = [];
    bytes = 0;
  }
  yield { bytes: Buffer.concat([...parts, envelopeTail]), last: true };
}
