/**
 * Decodes an object that a webhook or policy has changed. Source: `Decode` in
 * k8s.io/apimachinery@v0.36.0/pkg/runtime/serializer/json/json.go.
 */
import { internalError, plainError } from "../../apimachinery/errors.ts";
import {
  formatGroupVersion,
  type GroupVersionKind,
  type KubeObject,
  parseGroupVersion,
} from "../../apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../../catalog/builtin-schemas.ts";
import { internalPackage, unknownConversion } from "../../catalog/go-scheme.ts";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { parseEncoded, peekTypeMeta, type TypeMeta } from "../../lib/json/parse.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { cloneJson } from "../../lib/json/values.ts";
import { conform, DecodeError, decodeDocument, decodeJson } from "../../lib/schema/decode.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { checkCustomType } from "../../registry/body-kind.ts";
import { withMetadata } from "../../registry/decode-body.ts";

/**
 * Decodes an object without defaults. Custom resources are not pruned.
 *
 * @throws ApiError 500 if the JSON is not an object of the kind, 422 for another custom kind
 */
export function decodeChanged(json: Buffer, schema: Struct, expected: GroupVersionKind): KubeObject {
  try {
    return schema.custom === undefined ? decodeBuiltin(json, schema, expected) : decodeCustom(json, schema, expected);
  } catch (error) {
    if (error instanceof DecodeError) throw internalError(error.message);
    throw error;
  }
}

/**
 * As {@link decodeChanged}, for an object that is parsed already.
 *
 * @param object is not changed
 * @throws ApiError 500, 422 as {@link decodeChanged}
 */
export function conformChanged(object: KubeObject, schema: Struct, expected: GroupVersionKind): KubeObject {
  const { apiVersion, kind } = object;
  const isExpected = apiVersion === formatGroupVersion(expected.group, expected.version) && kind === expected.kind;
  if (!isExpected || schema.custom !== undefined)
    return decodeChanged(Buffer.from(encodeAny(object)), schema, expected);
  try {
    return completed(conform(cloneJson(object), schema).object, schema);
  } catch (error) {
    if (error instanceof DecodeError) throw internalError(error.message);
    throw error;
  }
}

function completed(object: Record<string, unknown>, schema: Struct): KubeObject {
  return schema.byName.has("metadata") ? withMetadata(object) : (object as KubeObject);
}

function decodeBuiltin(json: Buffer, schema: Struct, expected: GroupVersionKind): KubeObject {
  const { document, ...sent } = peekTypeMeta(json);
  checkBuiltinKind(json, sent, expected);
  return completed(decodeDocument(document, schema).object, schema);
}

/** @throws ApiError 500, DecodeError */
function checkBuiltinKind(json: Buffer, sent: TypeMeta, expected: GroupVersionKind): void {
  const expectedVersion = formatGroupVersion(expected.group, expected.version);
  const apiVersion = sent.apiVersion === "" ? expectedVersion : sent.apiVersion;
  const kind = sent.kind === "" ? expected.kind : sent.kind;
  if (apiVersion === expectedVersion && kind === expected.kind) return;
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: "", version: apiVersion };
  const definition = definitionOf(group, version, kind);
  if (definition === undefined)
    throw internalError(
      `no kind ${quoteGo(kind)} is registered for version ${quoteGo(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  const other = builtinSchema(definition);
  decodeJson(json, other); // Its errors come first.
  throw plainError(unknownConversion(other.goType, `${internalPackage(expected.group)}.${expected.kind}`));
}

function decodeCustom(json: Buffer, schema: Struct, expected: GroupVersionKind): KubeObject {
  const { apiVersion, kind } = peekTypeMeta(json);
  if (kind === "") throw internalError(`Object 'Kind' is missing in '${json}'`);
  const expectedVersion = formatGroupVersion(expected.group, expected.version);
  if (parseGroupVersion(apiVersion)?.group !== expected.group)
    throw plainError(
      `${apiVersion}, Kind=${kind} is unstructured and is not suitable for converting to ${quoteGo(expectedVersion)}`,
    );
  const object = parseEncoded(json) as KubeObject;
  checkCustomType({ kind, metadata: object.metadata }, { ...expected, schema });
  schema.custom?.complete(object);
  return withMetadata(object);
}
