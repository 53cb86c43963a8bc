/**
 * Encodes a collection as YAML, in pieces, with the keys in the order apiVersion, items, kind,
 * metadata.
 */
import { yamlItemOfJson, yamlOfJson } from "../../lib/yaml/encode.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { Listed, View } from "./contract.ts";
import { encodedPiece, type Piece, pieceBytes } from "./piece.ts";

/** Encoding YAML takes about ten times as long as copying JSON, so that pieces are smaller. */
const yamlPieceBytes = pieceBytes / 8;

export function* yamlListPieces(view: View, { meta, entries }: Listed): Generator<Piece, void, void> {
  let text = yamlOf({ apiVersion: view.apiVersion });
  let first = true;
  for (const entry of entries) {
    if (first) text += "items:\n";
    first = false;
    text += yamlItemOfJson(itemJson(view, entry));
    if (text.length < yamlPieceBytes) continue;
    yield encodedPiece(Buffer.from(text), false);
    text = "";
  }
  if (first) text += `items: ${view.noItems}\n`;
  const metadata = view.sorted ? { continue: "", ...meta } : meta;
  yield encodedPiece(Buffer.from(text + yamlOf({ kind: view.listKind, metadata })), true);
}

function itemJson(view: View, entry: Entry): Buffer {
  const { json, itemOffset } = view.item(entry);
  return Buffer.concat([view.itemHead, json.subarray(itemOffset), view.itemTail]);
}

function yamlOf(value: object): string {
  return yamlOfJson(Buffer.from(JSON.stringify(value)));
}
