import { indentJson, jsonIndenter } from "../../lib/json/indent.ts";
import type { Encoding } from "./contract.ts";
import { jsonLines } from "./event-framing.ts";
import { jsonListPieces } from "./json-list.ts";
import { encodedPiece, type Piece } from "./piece.ts";
import type { PieceMemory } from "./piece-memory.ts";

const newline = Buffer.from("\n");

const compact: Encoding = {
  mediaType: "application/json",
  alias: false,
  typed: false,
  grouped: false,
  whole: (shown) => shown.line?.() ?? Buffer.concat([shown.json(), newline]),
  list: jsonListPieces,
  document: (pieces) => pieces,
  stream: { mediaType: "application/json;stream=watch", framing: jsonLines, object: (shown) => shown.json() },
};

/** For reading at a terminal: without a newline at the end. */
const indented: Encoding = {
  ...compact,
  whole: (shown) => indentJson(shown.json()),
  list: (view, listed, { memory }) =>
    indentedPieces(jsonListPieces(view, listed, { memory, parts: undefined }), memory),
  document: indentedPieces,
};

/** The encoder of `application/json`. */
export const json: Encoding = { ...compact, pretty: indented };

function* indentedPieces(pieces: Generator<Piece, void, void>, memory: PieceMemory): Generator<Piece, void, void> {
  const indent = jsonIndenter();
  for (const piece of pieces) {
    const bytes = piece.encode();
    const text = indent(piece.last ? bytes.subarray(0, -1) : bytes);
    memory.release(bytes);
    yield encodedPiece(text, piece.last);
  }
}
