import { encodeAnyCbor, encodeCbor } from "../../lib/cbor/encode.ts";
import { parseJson } from "../../lib/json/parse.ts";
import { decodeJson } from "../../lib/schema/decode.ts";
import type { Struct } from "../../lib/schema/schema.ts";

/**
 * Converts an object from JSON to CBOR.
 *
 * @param schema undefined for objects that no schema describes
 */
export function cborOfJson(json: Buffer, schema: Struct | undefined): Buffer {
  if (schema === undefined) return encodeAnyCbor(parseJson(json).value, json.length);
  return encodeCbor(decodeJson(json, schema).object, schema, json.length);
}
