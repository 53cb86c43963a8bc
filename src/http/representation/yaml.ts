import { yamlItemOfJson, yamlOfJson } from "../../lib/yaml/encode.ts";
import { yamlType } from "../../lib/yaml/media-type.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { Encoding, Listed, View } from "./contract.ts";
import { type Piece, pieceBytes } from "./piece-memory.ts";

/** The encoder of `application/yaml`. */
export const yaml: Encoding = {
  mediaType: yamlType,
  alias: false,
  typed: false,
  grouped: false,
  whole: (shown) => Buffer.from(yamlOfJson(shown.json())),
  list: yamlListPieces,
  document: yamlDocument,
};

/** Encodes at once: the members of a Table that are sent first come later in YAML. */
function* yamlDocument(pieces: Generator<Piece, void, void>): Generator<Piece, void, void> {
  yield { bytes: Buffer.from(yamlOfJson(Buffer.concat([...pieces].map(({ bytes }) => bytes)))), last: true };
}

/** Encoding YAML takes about ten times as long as copying JSON, so that pieces are smaller. */
const yamlPieceBytes = pieceBytes / 8;

/** A collection, in pieces, with the keys in the order apiVersion, items, kind, metadata. */
function* yamlListPieces(view: View, { meta, entries }: Listed): Generator<Piece, void, void> {
  let text = yamlOf({ apiVersion: view.apiVersion });
  let first = true;
  for (const entry of entries) {
    if (first) text += "items:\n";
    first = false;
    text += yamlItemOfJson(itemJson(view, entry));
    if (text.length < yamlPieceBytes) continue;
    yield { bytes: Buffer.from(text), last: false };
    text = "";
  }
  if (first) text += `items: ${view.noItems}\n`;
  const metadata = view.sorted ? { continue: "", ...meta } : meta;
  yield { bytes: Buffer.from(text + yamlOf({ kind: view.listKind, metadata })), last: true };
}

function itemJson(view: View, entry: Entry): Buffer {
  const { json, itemOffset } = view.item(entry);
  return Buffer.concat([view.itemHead, json.subarray(itemOffset), view.itemTail]);
}

function yamlOf(value: object): string {
  return yamlOfJson(Buffer.from(JSON.stringify(value)));
}
