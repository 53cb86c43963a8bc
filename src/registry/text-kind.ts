/** A text body, and the kind that it names, where kind and apiVersion can be repeated, or spelled in another case. */
import { encodeSorted, sortedKeys } from "../lib/json/encode-any.ts";
import {
  checkRepeatedTypeMeta,
  type Document,
  exactType,
  type TypeMeta,
  TypeMetaError,
  typeMetaOf,
} from "../lib/json/parse.ts";
import { isObject } from "../lib/json/values.ts";
import type { Pause } from "../lib/pauses.ts";
import { type DecodedYaml, decodeYaml, decodeYamlInSteps } from "../lib/yaml/decode.ts";
import { yamlType } from "../lib/yaml/media-type.ts";
import {
  type BodyOptions,
  cannotHandle,
  type ExpectedKind,
  groupVersionOf,
  hasNoSchema,
  isReportedWithoutSchema,
  missingKind,
  type NamedKind,
  namedKind,
  nullVersion,
  unrecognized,
} from "./body-kind.ts";

/** A parsed body with its type meta. */
export interface TextBody extends TypeMeta {
  readonly document: Document;
  /**
   * Keys that the YAML sets more than once, which the JSON does not show: `line 4: key "a" already
   * set in map`.
   */
  readonly strictErrors: readonly string[];
}

/** A text body that is parsed already, for the first time that it is decoded, which changes it. */
export interface ParsedText {
  /** @returns undefined after the first call @throws TypeMetaError, YamlError */
  take(): TextBody | undefined;
}

/**
 * Reads a YAML body, which upstream converts to JSON first.
 * @throws TypeMetaError, YamlError
 */
export function readYaml(bytes: Buffer): TextBody {
  return yamlBody(bytes, decodeYaml(bytes));
}

/** As {@link readYaml}, in steps. @param pause called between them */
export async function readYamlInSteps(bytes: Buffer, pause: Pause): Promise<TextBody> {
  return yamlBody(bytes, await decodeYamlInSteps(bytes, pause));
}

function yamlBody(bytes: Buffer, { value, strictErrors }: DecodedYaml): TextBody {
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
 * The kind that a body names. Upstream first rejects every kind and apiVersion that is not a string.
 * @throws as {@link namedKind}
 */
export function namedTextKind(bytes: Buffer, body: TextBody, expected: ExpectedKind, options: BodyOptions): NamedKind {
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
 * @throws ApiError 400 · TypeMetaProblem
 */
function customType(
  bytes: Buffer,
  body: TextBody,
  expected: ExpectedKind,
  { mediaType, fieldValidation }: BodyOptions,
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
export function checkRepeatedKind(bytes: Buffer, { repeated }: Document, expected: ExpectedKind): void {
  if (repeated?.size === 0) return;
  try {
    checkRepeatedTypeMeta(bytes);
  } catch (error) {
    if (error instanceof TypeMetaError) throw unrecognized(expected, error, bytes);
    throw error;
  }
}

const isTypeRepetition = (problem: string): boolean =>
  problem === 'duplicate field "kind"' || problem === 'duplicate field "apiVersion"';

/**
 * The problems of a custom object that are reported.
 * @throws ApiError 400 for a repeated kind or apiVersion that is not a string
 */
export function customProblems(
  problems: string[],
  { named, document }: { readonly named: NamedKind; readonly document: Document },
  bytes: Buffer,
  expected: ExpectedKind,
): string[] {
  const reported = hasNoSchema(named, expected) ? problems.filter(isReportedWithoutSchema) : problems;
  if (reported.some(isTypeRepetition)) checkRepeatedKind(bytes, document, expected);
  return reported;
}
