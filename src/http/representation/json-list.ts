/**
 * Encodes a collection as JSON: slices of cached bytes, in pieces, so that memory does not grow
 * with the number of objects.
 */
import type { ListMeta } from "../../registry/list.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { Listed, View } from "./contract.ts";
import { type EncodedItems, type ListMemory, listPieces } from "./list-pieces.ts";
import type { Piece } from "./piece.ts";

const comma = Buffer.from(",");

export function jsonListPieces(
  view: View,
  { meta, entries }: Listed,
  memory: ListMemory,
): Generator<Piece, void, void> {
  const { head, tail } = envelope(view, meta);
  const frame = {
    form: { view, encoding: "json" },
    head,
    tail,
    between: comma,
    empty: () => Buffer.concat([head.subarray(0, -1), Buffer.from(view.noItems), tail.subarray(1)]),
    items: (some: readonly Entry[]) => encodeItems(some, view),
  };
  return listPieces(entries, frame, memory);
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

function encodeItems(entries: readonly Entry[], { itemHead, itemTail, item }: View): EncodedItems {
  const items = entries.map(item);
  let length = items.length * (comma.length + itemHead.length + itemTail.length) - comma.length;
  for (const { json, itemOffset } of items) length += json.length - itemOffset;
  return {
    length,
    write(bytes, start) {
      let at = start;
      for (const { json, itemOffset } of items) {
        if (at > start) at += comma.copy(bytes, at);
        at += itemHead.copy(bytes, at);
        at += json.copy(bytes, at, itemOffset);
        at += itemTail.copy(bytes, at);
      }
      return at;
    },
  };
}
