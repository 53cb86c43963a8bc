import { yamlOfJson } from "../../lib/yaml/encode.ts";
import { yamlType } from "../../lib/yaml/media-type.ts";
import type { Encoding } from "./contract.ts";
import { encodedPiece, type Piece } from "./piece.ts";
import { yamlListPieces } from "./yaml-list.ts";

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
  yield encodedPiece(Buffer.from(yamlOfJson(Buffer.concat([...pieces].map((piece) => piece.encode())))), true);
}
