/**
 * Decodes configurations that have no kind, as Go's encoding/json and sigs.k8s.io/yaml do.
 * Source: k8s.io/apimachinery@v0.36.0/pkg/util/yaml/decoder.go.
 */
import { ConfigurationError } from "../../apimachinery/configuration-file.ts";
import { JsonSyntaxError, parseJson } from "../../lib/json/parse.ts";
import { isObject } from "../../lib/json/values.ts";
import { conform, DecodeError } from "../../lib/schema/decode.ts";
import type { Struct, Type } from "../../lib/schema/schema.ts";
import { decodeYaml, YamlError } from "../../lib/yaml/decode.ts";

/**
 * Decodes JSON, or the first document of YAML. Unknown fields are ignored, the case of field names
 * too, and scalars of YAML become text where the schema requires it.
 *
 * @returns an object without fields for an empty document
 * @throws ConfigurationError with upstream's message
 */
export function decodePlainConfiguration(bytes: Buffer, schema: Struct): Record<string, unknown> {
  if (bytes.length === 0) throw new ConfigurationError("EOF");
  const isYaml = !/^\s*\{/.test(bytes.subarray(0, 1024).toString());
  const value = isYaml ? yamlValue(bytes) : jsonValue(bytes);
  try {
    return conform(withFieldNames(isYaml ? withTexts(value ?? {}, schema) : value, schema), schema).object;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new ConfigurationError(
      isYaml ? `error unmarshaling JSON: while decoding JSON: ${error.message}` : error.message,
    );
  }
}

function jsonValue(bytes: Buffer): unknown {
  try {
    return parseJson(bytes).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new ConfigurationError(error.message.replace("unexpected end of JSON input", "unexpected EOF"));
  }
}

function yamlValue(bytes: Buffer): unknown {
  try {
    return decodeYaml(bytes).value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new ConfigurationError(`error converting YAML to JSON: ${error.message}`);
  }
}

/**
 * Renames fields to those of the schema that differ only in case, as Go's encoding/json finds them.
 * The depth of the schema bounds the recursion.
 */
export function withFieldNames(value: unknown, type: Type): unknown {
  if (type.kind === "list") return Array.isArray(value) ? value.map((item) => withFieldNames(item, type.items)) : value;
  if (type.kind !== "struct" || !isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]): [string, unknown] => {
    const field = type.byName.get(key) ?? type.fields.find(({ name }) => name.toLowerCase() === key.toLowerCase());
    return field === undefined ? [key, member] : [field.name, withFieldNames(member, field.type)];
  });
  return Object.fromEntries(members);
}

/** Converts numbers and booleans of YAML where the schema requires text. */
function withTexts(value: unknown, type: Type): unknown {
  if (type.kind === "string") return isScalar(value) ? String(value) : value;
  if (!isObject(value) || (type.kind !== "struct" && type.kind !== "map")) return value;
  const memberType = (key: string): Type | undefined =>
    type.kind === "map" ? type.values : type.byName.get(key)?.type;
  const members = Object.entries(value).map(([key, member]): [string, unknown] => {
    const expected = memberType(key);
    return [key, expected === undefined ? member : withTexts(member, expected)];
  });
  return Object.fromEntries(members);
}

function isScalar(value: unknown): boolean {
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean";
}
