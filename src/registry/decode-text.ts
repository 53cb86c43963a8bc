/** Decodes text bodies: JSON, and YAML, which is converted to JSON first, as upstream does. */

import { encodeSorted, sortedKeys } from "../lib/json/encode-any.ts";
import {
  checkRepeatedTypeMeta,
  type Document,
  exactType,
  JsonSyntaxError,
  peekTypeMeta,
  type TypeMeta,
  TypeMetaError,
  typeMetaOf,
} from "../lib/json/parse.ts";
import { isObject } from "../lib/json/values.ts";
import { type Decoded, DecodeError, decodeDocument } from "../lib/schema/decode.ts";
import { decodeYaml, strictYamlError, YamlError } from "../lib/yaml/decode.ts";
import { yamlType } from "../lib/yaml/media-type.ts";
import {
  cannotHandle,
  checkCustomVersion,
  type ExpectedKind,
  groupVersionOf,
  hasNoSchema,
  isReportedWithoutSchema,
  missingKind,
  type NamedKind,
  namedKind,
  nullVersion,
  schemaOf,
  strictError,
  TypeMetaProblem,
  unrecognized,
} from "./body-kind.ts";
import type { DecodedBody, DecodeOptions } from "./decode-body.ts";

/** A parsed body with its type meta. */
interface TextBody extends TypeMeta {
  readonly document: Document;
  /**
   * Keys that the YAML sets more than once, which the JSON does not show: `line 4: key "a" already
   * set in map`.
   */
  readonly strictErrors: readonly string[];
}

/**
 * Parses a body.
 * @throws TypeMetaError, YamlError
 */
export function readText(bytes: Buffer, mediaType: string): TextBody {
  if (mediaType !== yamlType) return { ...peekTypeMeta(bytes), strictErrors: [] };
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

/**
 * Decodes a body of the expected kind.
 * @throws ApiError 400
 */
export function decodeTextBody(bytes: Buffer, expected: ExpectedKind, options: DecodeOptions): DecodedBody {
  const { named, document, strictErrors } = readKind(bytes, expected, options);
  const { kind } = named;
  if (document.value === null) return { kind, object: {} };
  const decoded = decodeAs(named, bytes, document, expected, options);
  if (hasNoSchema(named, expected)) decoded.problems = decoded.problems.filter(isReportedWithoutSchema);
  if (expected.schema.custom !== undefined && decoded.problems.some(isTypeRepetition))
    checkRepeatedKind(bytes, document, expected);
  if (options.fieldValidation === "Strict") {
    // The problems of the YAML are one error, of several lines, but a warning each.
    const problems =
      strictErrors.length === 0 ? decoded.problems : [strictYamlError(strictErrors), ...decoded.problems];
    const as = expected.schema.custom === undefined ? expected.kind : kind;
    if (problems.length > 0) throw cannotHandle(named, as, strictError(problems));
  } else if (options.fieldValidation === "Warn") options.warnings.push(...strictErrors, ...decoded.problems);
  checkCustomVersion(named, expected);
  return { kind, object: decoded.object };
}

const isTypeRepetition = (problem: string): boolean =>
  problem === 'duplicate field "kind"' || problem === 'duplicate field "apiVersion"';

function decodeAs(
  named: NamedKind,
  bytes: Buffer,
  document: Document,
  expected: ExpectedKind,
  { catalog }: DecodeOptions,
): Decoded {
  try {
    return decodeDocument(document, schemaOf(named, expected, catalog));
  } catch (error) {
    if (!(error instanceof DecodeError) && !(error instanceof JsonSyntaxError)) throw error;
    checkRepeatedKind(bytes, document, expected);
    throw cannotHandle(named, expected.kind, error.message);
  }
}

function readKind(
  bytes: Buffer,
  expected: ExpectedKind,
  options: DecodeOptions,
): Pick<TextBody, "document" | "strictErrors"> & { readonly named: NamedKind } {
  try {
    const body = readText(bytes, options.mediaType);
    return { ...body, named: nameOf(bytes, body, expected, options) };
  } catch (error) {
    if (!(error instanceof TypeMetaError) && !(error instanceof TypeMetaProblem) && !(error instanceof YamlError))
      throw error;
    throw unrecognized(expected, error, bytes);
  }
}

/**
 * {@link namedKind} for text, where kind and apiVersion can be repeated: upstream first rejects any
 * that is not a string.
 */
function nameOf(bytes: Buffer, body: TextBody, expected: ExpectedKind, options: DecodeOptions): NamedKind {
  const { document } = body;
  try {
    const type = expected.schema.custom === undefined ? body : customType(bytes, body, expected, options);
    return namedKind(type, expected, options.catalog, document);
  } catch (error) {
    checkRepeatedKind(bytes, document, expected);
    throw error;
  }
}

/**
 * Kind and apiVersion of a custom object, whose case must be exact. Other spellings appear in
 * errors only.
 * @throws as {@link namedKind}
 */
function customType(
  bytes: Buffer,
  body: TextBody,
  expected: ExpectedKind,
  { mediaType, fieldValidation }: DecodeOptions,
): TypeMeta {
  const type = exactType(body.document.value, body);
  const { version } = groupVersionOf(body.apiVersion, expected);
  if (type.kind !== "" && isObject(body.document.value) && body.document.value.apiVersion === null)
    throw cannotHandle({ kind: type.kind, version: "" }, expected.kind, nullVersion);
  if (type.kind !== "" || fieldValidation !== "Ignore") return type;
  const text = mediaType === yamlType ? encodeSorted(body.document.value) : bytes;
  const kind = body.kind === "" ? expected.kind : body.kind;
  throw cannotHandle({ kind, version }, expected.kind, `${missingKind} in '${text}'`);
}

/**
 * Checks every occurrence of kind and apiVersion, which upstream does before it decodes anything
 * else.
 * @throws ApiError 400
 */
function checkRepeatedKind(bytes: Buffer, { repeated }: Document, expected: ExpectedKind): void {
  if (repeated?.size === 0) return;
  try {
    checkRepeatedTypeMeta(bytes);
  } catch (error) {
    if (error instanceof TypeMetaError) throw unrecognized(expected, error, bytes);
    throw error;
  }
}
