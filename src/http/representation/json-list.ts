/**
 * Encodes a collection as JSON: slices of cached bytes, in pieces, so that memory does not grow
 * with the number of objects.
 */
import type { ListMeta } from "../../registry/list.ts";
import type { Listed, View } from "./contract.ts";
import { type Piece, type PieceMemory, pieceBytes } from "./piece-memory.ts";

type Item = ReturnType<View["item"]>;

const comma = 0x2c;

export function* jsonListPieces(
  view: View,
  { meta, entries }: Listed,
  memory: PieceMemory,
): Generator<Piece, void, void> {
  const { head, tail } = envelope(view, meta);
  const around = view.itemHead.length + view.itemTail.length + 1;
  let items: Item[] = [];
  let size = head.length;
  let before: Buffer | undefined = head;
  for (const entry of entries) {
    const item = view.item(entry);
    items.push(item);
    size += item.json.length + around;
    if (size < pieceBytes) continue;
    yield { bytes: pack(items, view, { before, after: undefined, memory }), last: false };
    items = [];
    size = 0;
    before = undefined;
  }
  const isEmpty = before !== undefined && items.length === 0;
  yield { bytes: isEmpty ? emptyList(view, meta) : pack(items, view, { before, after: tail, memory }), last: true };
}

function emptyList(view: View, meta: ListMeta): Buffer {
  const { head, tail } = envelope(view, meta);
  return Buffer.concat([head.subarray(0, -1), Buffer.from(view.noItems), tail.subarray(1)]);
}

/** The bytes before and after the items, with their brackets. */
function envelope({ apiVersion, listKind, sorted }: View, meta: ListMeta): { head: Buffer; tail: Buffer } {
  if (sorted) {
    const { resourceVersion, continue: next = "", remainingItemCount } = meta;
    const metadata = {
      continue: next,
      ...(remainingItemCount !== undefined && { remainingItemCount }),
      resourceVersion,
    };
    return {
      head: Buffer.from(`{"apiVersion":${JSON.stringify(apiVersion)},"items":[`),
      tail: Buffer.from(`],"kind":${JSON.stringify(listKind)},"metadata":${JSON.stringify(metadata)}}\n`),
    };
  }
  const head = `{"kind":${JSON.stringify(listKind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":${JSON.stringify(meta)},"items":[`;
  return { head: Buffer.from(head), tail: Buffer.from("]}\n") };
}

interface Packing {
  /** The bytes before the first item; undefined if the piece follows another one. */
  readonly before: Buffer | undefined;
  readonly after: Buffer | undefined;
  readonly memory: PieceMemory;
}

function pack(items: readonly Item[], { itemHead, itemTail }: View, { before, after, memory }: Packing): Buffer {
  let length = (before?.length ?? 0) + (after?.length ?? 0) + items.length * (1 + itemHead.length + itemTail.length);
  for (const { json, itemOffset } of items) length += json.length - itemOffset;
  if (before !== undefined && items.length > 0) length -= 1;
  const bytes = memory.take(length);
  let at = before?.copy(bytes) ?? 0;
  let follows = before === undefined;
  for (const { json, itemOffset } of items) {
    if (follows) bytes[at++] = comma;
    follows = true;
    at += itemHead.copy(bytes, at);
    at += json.copy(bytes, at, itemOffset);
    at += itemTail.copy(bytes, at);
  }
  after?.copy(bytes, at);
  return bytes;
}
