/** Reads bodies in every encoding of Kubernetes, for a recording. */
import { builtinSchema, definitionOf } from "../../catalog/builtin-schemas.ts";
import { decodeAnyCbor } from "../../lib/cbor/decode.ts";
import { resolveLiterals } from "../../lib/json/number-literal.ts";
import { parseJson } from "../../lib/json/parse.ts";
import { parseMediaType } from "../../lib/media-type/media-type.ts";
import { decodeProtobuf } from "../../lib/protobuf/decode.ts";
import { readEnvelope } from "../../lib/protobuf/envelope.ts";
import { isProtobuf } from "../../lib/protobuf/media-types.ts";
import { retainedDepthMax } from "../../lib/schema/decode.ts";
import { decodeYaml } from "../../lib/yaml/decode.ts";
import { isWithinDepth } from "./depth.ts";
import type { RecordedBody } from "./format.ts";
import { type RedactOptions, redact } from "./redact.ts";
import type { Target } from "./target.ts";

/** A body and its headers. */
export interface Body {
  readonly bytes: Buffer;
  /** The Content-Type; empty if there is none. */
  readonly contentType: string;
  /** The Content-Encoding; empty if there is none. */
  readonly contentEncoding: string;
}

/** Documents that describe an API. They contain no objects. */
const openApi = /^\/openapi\/v[23](?:\/|$)/;

/** @returns undefined for an empty body */
export function recordedBody(body: Body, target: Target, options: RedactOptions): RecordedBody | undefined {
  const { bytes, contentEncoding } = body;
  if (bytes.length === 0) return undefined;
  if (target.isOpaque) return { omitted: "the content of this path is not recorded" };
  if (contentEncoding !== "" && contentEncoding !== "identity") return { omitted: "it is compressed" };
  const type = parseMediaType(body.contentType === "" ? "application/json" : body.contentType) ?? "";
  if (type === "text/plain") return { text: bytes.toString() };
  if (openApi.test(target.path) && !isJson(type)) return { base64: bytes.toString("base64") };
  const value = decoded(bytes, type);
  return value === undefined ? { omitted: "it cannot be decoded" } : { json: redact(value, options) };
}

function isJson(type: string): boolean {
  return type === "application/json" || type.endsWith("+json");
}

/** @returns undefined for an unknown encoding, and for a damaged or too deep body */
function decoded(bytes: Buffer, type: string): unknown {
  try {
    if (isJson(type)) return jsonOf(bytes);
    if (type === "application/yaml" || type.endsWith("+yaml")) return resolveLiterals(decodeYaml(bytes).value);
    if (type === "application/cbor" || type.endsWith("+cbor")) return decodeAnyCbor(bytes);
    return isProtobuf(type) ? protobufOf(bytes) : undefined;
  } catch (error) {
    if (error instanceof Error && decodingErrors.has(error.name)) return undefined;
    throw error;
  }
}

const decodingErrors: ReadonlySet<string> = new Set([
  "CborError",
  "DecodeError",
  "JsonSyntaxError",
  "ProtobufError",
  "YamlError",
]);

function jsonOf(bytes: Buffer): unknown {
  const { value } = parseJson(bytes);
  return isWithinDepth(value, retainedDepthMax) ? value : undefined;
}

/** @returns undefined for kinds whose message is not known */
function protobufOf(bytes: Buffer): unknown {
  const { apiVersion, kind, raw, contentEncoding, contentType } = readEnvelope(bytes);
  if (contentEncoding !== "" || contentType !== "") return undefined;
  const [group, version] = apiVersion.includes("/") ? (apiVersion.split("/") as [string, string]) : ["", apiVersion];
  const definition = definitionOf(group, version, kind);
  return definition && { kind, apiVersion, ...decodeProtobuf(raw, builtinSchema(definition)) };
}
