import { parseJson } from "../../lib/json/parse.ts";
import { encodeObject } from "../../lib/schema/encode.ts";
import type { PatchTarget } from "./contract.ts";

/**
 * The object as encoded to JSON: with fields that are always written, null or not, and in that
 * order.
 */
export function asWritten({ current, schema }: PatchTarget): unknown {
  if (schema.custom !== undefined || current === undefined) return current;
  const { json, versionOffset } = encodeObject(current, schema);
  const { resourceVersion } = current.metadata;
  if (resourceVersion === undefined || versionOffset === 0) return parseJson(json).value;
  const splice = Buffer.from(`"resourceVersion":${JSON.stringify(resourceVersion)},`);
  return parseJson(Buffer.concat([json.subarray(0, versionOffset), splice, json.subarray(versionOffset)])).value;
}
