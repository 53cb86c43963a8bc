import { createPause } from "../../lib/pauses.ts";
import { yamlItemPiecesOfJson, yamlOfJson, yamlPiecesOfJson } from "../../lib/yaml/encode.ts";
import { yamlType } from "../../lib/yaml/media-type.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { Encoding, Listed, Shown, View } from "./contract.ts";
import { encodedPiece, type Piece, pieceBytes } from "./piece.ts";

/** Encoding YAML takes about ten times as long as copying JSON, so that pieces are smaller. */
const yamlPieceLength = pieceBytes / 8;
/** How long encoding keeps the event loop, in milliseconds. */
const sliceMs = 4;

/** The encoder of `application/yaml`. */
export const yaml: Encoding = {
  mediaType: yamlType,
  alias: false,
  typed: false,
  grouped: false,
  whole: (shown) => Buffer.from(yamlOfJson(shown.json())),
  wholeInSlices: yamlInSlices,
  list: yamlListPieces,
  document: yamlDocument,
};

async function yamlInSlices(shown: Shown): Promise<Buffer> {
  const pause = createPause(sliceMs);
  const json = shown.json();
  await pause();
  const pieces: Buffer[] = [];
  for (const text of yamlPiecesOfJson(json, yamlPieceLength)) {
    pieces.push(Buffer.from(text));
    await pause();
  }
  return Buffer.concat(pieces);
}

/** A collection, in pieces, with the keys in the order apiVersion, items, kind, metadata. */
function* yamlListPieces(view: View, { meta, entries }: Listed): Generator<Piece, void, void> {
  let text = yamlOf({ apiVersion: view.apiVersion });
  let first = true;
  for (const entry of entries) {
    if (first) text += "items:\n";
    first = false;
    for (const part of yamlItemPiecesOfJson(itemJson(view, entry), yamlPieceLength)) {
      text += part;
      if (text.length < yamlPieceLength) continue;
      yield encodedPiece(Buffer.from(text), false);
      text = "";
    }
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

/** Reads all of the JSON first: the members of a Table that are sent first come later in YAML. */
function* yamlDocument(pieces: Generator<Piece, void, void>): Generator<Piece, void, void> {
  const json: Buffer[] = [];
  for (const piece of pieces) {
    json.push(piece.encode());
    yield nothingYet;
  }
  let before: string | undefined;
  for (const text of yamlPiecesOfJson(Buffer.concat(json), yamlPieceLength)) {
    if (before !== undefined) yield encodedPiece(Buffer.from(before), false);
    before = text;
  }
  yield encodedPiece(Buffer.from(before as string), true);
}

const nothingYet = encodedPiece(Buffer.alloc(0), false);
