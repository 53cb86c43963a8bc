/** Bodies of text: JSON, or YAML, which becomes JSON before anything else looks at it, as upstream has it. */
import { sortedKeys } from "../lib/json/encode-any.ts";
import { type Document, peekTypeMeta, type TypeMeta, typeMetaOf } from "../lib/json/parse.ts";
import { isObject } from "../lib/json/values.ts";
import { decodeYaml } from "../lib/yaml/decode.ts";
import { yamlType } from "../lib/yaml/media-type.ts";

export interface TextBody extends TypeMeta {
  readonly document: Document;
  /** Keys that YAML sets twice, which the JSON does not show any more: `line 4: key "a" already set in map`. */
  readonly strictErrors: readonly string[];
}

/** @throws TypeMetaError · YamlError */
export function readText(bytes: Buffer, mediaType: string): TextBody {
  if (mediaType !== yamlType) return { ...peekTypeMeta(bytes), strictErrors: [] };
  const { value, strictErrors } = decodeYaml(bytes);
  return { ...typeMetaOf(sortedTop(value)), document: { bytes, value, members: 0, repeated: new Map() }, strictErrors };
}

/** Upstream makes JSON of YAML with all keys sorted, of which the last in any case counts. */
function sortedTop(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(sortedKeys(value).map((key) => [key, value[key]])) : value;
}
