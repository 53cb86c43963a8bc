/** Reads YAML bodies, which are converted to JSON first, as upstream does. */
import { sortedKeys } from "../lib/json/encode-any.ts";
import { typeMetaOf } from "../lib/json/parse.ts";
import { isObject } from "../lib/json/values.ts";
import { decodeYaml } from "../lib/yaml/decode.ts";
import type { TextBody } from "./decode-body.ts";

/**
 * Reads a body.
 * @throws TypeMetaError, YamlError
 */
export function readYaml(bytes: Buffer): TextBody {
  const { value, strictErrors } = decodeYaml(bytes);
  return { ...typeMetaOf(sortedTop(value)), document: { bytes, value, members: 0, repeated: new Map() }, strictErrors };
}

/**
 * Upstream converts YAML to JSON with sorted keys; of keys that differ in case only, the last one
 * counts.
 */
function sortedTop(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(sortedKeys(value).map((key) => [key, value[key]])) : value;
}
