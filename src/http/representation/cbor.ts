/** CBOR, behind the gate `CBORServingAndStorage`: encoded from JSON, by its schema. */
import { cborSequenceType, cborType } from "../../lib/cbor/media-types.ts";
import { cborListPieces } from "./cbor-list.ts";
import { cborOfJson } from "./cbor-of-json.ts";
import type { Encoding, Shown } from "./contract.ts";
import { cborItems } from "./event-framing.ts";

/** Like upstream, does not encode Tables. */
export const cbor: Encoding = {
  mediaType: cborType,
  alias: false,
  typed: false,
  grouped: true,
  whole: shownCbor,
  list: (view, listed) => cborListPieces(view, listed),
  stream: { mediaType: cborSequenceType, framing: cborItems, object: shownCbor },
};

function shownCbor({ json, schema }: Shown): Buffer {
  return cborOfJson(json(), schema);
}
