/**
 * Encodes a collection as CBOR, in pieces, with keys in the order kind, items, metadata,
 * apiVersion. The number of items precedes them.
 */

import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { encodeAnyCbor, encodeCbor } from "../../lib/cbor/encode.ts";
import { major, nullByte, selfDescribed } from "../../lib/cbor/wire.ts";
import { Writer } from "../../lib/cbor/writer.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { cborOfJson } from "./cbor-of-json.ts";
import type { Listed, View } from "./contract.ts";
import { encodedPiece, type Piece, pieceBytes } from "./piece.ts";

/**
 * Decoding and encoding an item takes about ten times as long as copying its JSON, so that pieces
 * are smaller.
 */
const cborPieceBytes = pieceBytes / 4;

const listMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/** Yields to other requests while it counts the items, which runs the selectors. */
export async function cborListPieces(view: View, listed: Listed): Promise<Generator<Piece, void, void>> {
  const entries: Entry[] = [];
  for (const entry of listed.entries) {
    entries.push(entry);
    if (entries.length % countedAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return piecesOf(view, listed.meta, entries);
}

const countedAtOnce = 1024;

function* piecesOf(view: View, meta: Listed["meta"], entries: readonly Entry[]): Generator<Piece, void, void> {
  let parts: Buffer[] = [headOf(view, entries.length)];
  let size = 0;
  for (const entry of entries) {
    const item = bare(cborOfJson(itemJson(view, entry), view.schema));
    parts.push(item);
    size += item.length;
    if (size < cborPieceBytes) continue;
    yield encodedPiece(Buffer.concat(parts), false);
    parts = [];
    size = 0;
  }
  yield encodedPiece(Buffer.concat([...parts, tailOf(view, meta)]), true);
}

function headOf({ listKind, noItems }: View, items: number): Buffer {
  const writer = new Writer(64);
  writer.bytes(selfDescribed);
  writer.head(major.map, 4);
  writer.text("kind");
  writer.text(listKind);
  writer.text("items");
  if (items === 0 && noItems === "null") writer.bytes(Buffer.from([nullByte]));
  else writer.head(major.array, items);
  return writer.finish();
}

function tailOf({ apiVersion, sorted }: View, meta: Listed["meta"]): Buffer {
  const writer = new Writer(256);
  writer.text("metadata");
  writer.bytes(bare(sorted ? encodeAnyCbor({ continue: "", ...meta }) : encodeCbor(meta, builtinSchema(listMeta))));
  writer.text("apiVersion");
  writer.text(apiVersion);
  return writer.finish();
}

function itemJson(view: View, entry: Entry): Buffer {
  const { json, itemOffset } = view.item(entry);
  return Buffer.concat([view.itemHead, json.subarray(itemOffset), view.itemTail]);
}

/** Nested items have no tag. */
function bare(item: Buffer): Buffer {
  return item.subarray(selfDescribed.length);
}
