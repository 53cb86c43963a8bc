/** CBOR, behind the gate `CBORServingAndStorage`: made from the JSON of what is shown, by its schema. Source: resource-api §4.4; apimachinery's serializer. */
import { cborSequenceType, cborType } from "../../lib/cbor/media-types.ts";
import { cborListPieces } from "./cbor-list.ts";
import { cborOfJson } from "./cbor-of-json.ts";
import type { Encoding, Shown } from "./contract.ts";
import { cborItems } from "./event-framing.ts";

/** Tables have no such form, as upstream's have none. */
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
