/** Encodes the body of a step. */
import { builtinSchema, definitionOf } from "../../src/catalog/builtin-schemas.ts";
import { encodeAnyCbor } from "../../src/lib/cbor/encode.ts";
import { isObject } from "../../src/lib/json/values.ts";
import { encodeProtobuf } from "../../src/lib/protobuf/encode.ts";
import { wrapInEnvelope } from "../../src/lib/protobuf/envelope.ts";
import { yamlOfJson } from "../../src/lib/yaml/encode.ts";
import { formatBody, isOnlyText } from "./body-text.ts";
import type { BodyEncoding } from "./contract.ts";

export interface EncodedBody {
  readonly bytes: Buffer;
  readonly contentType: string;
}

const contentTypes: Readonly<Record<BodyEncoding, string>> = {
  json: "application/json",
  yaml: "application/yaml",
  protobuf: "application/vnd.kubernetes.protobuf",
  cbor: "application/cbor",
};

/**
 * @param body with its references filled
 * @returns JSON if the encoding cannot express the body
 */
export function encodeBody(body: unknown, encoding: BodyEncoding): EncodedBody {
  const bytes = isOnlyText(body) ? undefined : tryEncode(body, encoding);
  return bytes === undefined
    ? { bytes: Buffer.from(formatBody(body)), contentType: contentTypes.json }
    : { bytes, contentType: contentTypes[encoding] };
}

function tryEncode(body: unknown, encoding: BodyEncoding): Buffer | undefined {
  try {
    if (encoding === "json") return Buffer.from(formatBody(body));
    if (encoding === "yaml") return Buffer.from(yamlOfJson(Buffer.from(formatBody(body))));
    if (encoding === "cbor") return encodeAnyCbor(body);
    return isObject(body) ? encodeMessage(body) : undefined;
  } catch {
    return undefined; // A value of another type than the field has.
  }
}

function encodeMessage(body: Record<string, unknown>): Buffer | undefined {
  const { apiVersion = "", kind = "" } = body as { apiVersion?: string; kind?: string };
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const definition = definitionOf(group, version, kind);
  if (definition === undefined) return undefined;
  const { apiVersion: _version, kind: _kind, ...rest } = body;
  return wrapInEnvelope(apiVersion, kind, encodeProtobuf(rest, builtinSchema(definition)));
}
