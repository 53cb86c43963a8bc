/** Writes a collection in CBOR, in pieces, its keys in order: kind, items, metadata, apiVersion. How many items there are comes before them. */

import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { encodeAnyCbor, encodeCbor } from "../../lib/cbor/encode.ts";
import { major, nullByte, selfDescribed } from "../../lib/cbor/wire.ts";
import { Writer } from "../../lib/cbor/writer.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { cborOfJson } from "./cbor-of-json.ts";
import type { Listed, View } from "./contract.ts";
import { type Piece, pieceBytes } from "./pieces.ts";

/** An item is read and written anew, which takes some ten times as long as copying its JSON, so that a piece is less. */
const cborPieceBytes = pieceBytes / 4;

const listMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/** Others run while the items are counted, which is when selectors look at them. */
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
    yield { bytes: Buffer.concat(parts), last: false };
    parts = [];
    size = 0;
  }
  yield { bytes: Buffer.concat([...parts, tailOf(view, meta)]), last: true };
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

/** Inside another item the tag does not stand. */
function bare(item: Buffer): Buffer {
  return item.subarray(selfDescribed.length);
}
