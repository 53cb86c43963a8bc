/**
 * Decodes the body of a create or an update, and converts the object to the storage version. Text is decoded
 * here, CBOR and Protobuf in files of their own.
 */
import { formatGroupVersion, type KubeObject } from "../apimachinery/object.ts";
import type { Resolved, SubresourceDefinition } from "../catalog/contract.ts";
import { cborType } from "../lib/cbor/media-types.ts";
import { type Document, JsonSyntaxError, peekTypeMeta, type TypeMeta, TypeMetaError } from "../lib/json/parse.ts";
import { isProtobuf } from "../lib/protobuf/media-types.ts";
import { type Decoded, DecodeError, decodeDocument } from "../lib/schema/decode.ts";
import { applyDefaults } from "../lib/schema/defaults.ts";
import { strictYamlError, YamlError } from "../lib/yaml/decode.ts";
import { yamlType } from "../lib/yaml/media-type.ts";
import {
  type BodyOptions,
  cannotHandle,
  checkCustomType,
  checkCustomVersion,
  type DecodedBody,
  type ExpectedKind,
  type NamedKind,
  schemaOf,
  strictError,
  TypeMetaProblem,
  unrecognized,
} from "./body-kind.ts";
import { decodeCborBody } from "./decode-cbor.ts";
import { decodeProtobufBody } from "./decode-protobuf.ts";
import { checkRepeatedKind, customProblems, namedTextKind, readYaml, type TextBody } from "./text-kind.ts";

/** The kind of the main resource. */
export function expectedKind({ resource, version }: Resolved): ExpectedKind {
  const { group, kind } = resource.definition;
  return { group, version: version.version, kind, schema: version.schema };
}

/**
 * The kind of a subresource.
 * @returns undefined when the subresource accepts no body with a schema
 */
export function expectedSubresourceKind(
  { resource, version }: Resolved,
  subresource: SubresourceDefinition,
): ExpectedKind | undefined {
  const { kind, schema, kindGroupVersion } = subresource;
  if (schema === undefined) return undefined;
  return { ...(kindGroupVersion ?? { group: resource.definition.group, version: version.version }), kind, schema };
}

/** How the body of a request is decoded. */
export interface DecodeOptions extends BodyOptions {
  /** Receives the object; `again` decodes another copy, which may be changed. */
  readonly decoded?: (object: KubeObject, expected: ExpectedKind, again: () => KubeObject) => void;
  /** What `parseLarge` has returned. */
  readonly parsed?: { take(): TextBody | undefined } | undefined;
  /**
   * Compares the object's name and namespace with those of the path, before the kind of a custom
   * resource is validated.
   * @throws ApiError 400
   */
  readonly checkNames?: (object: KubeObject) => void;
}

/**
 * Decodes the body of a create or an update.
 * @returns the object at the expected version, without defaults, with metadata
 * @throws ApiError 400 with upstream's texts; 415 for a custom resource in Protobuf
 */
export function decodeBody(bytes: Buffer, expected: ExpectedKind, options: DecodeOptions): KubeObject {
  const { kind, object: decoded } = decodeBytes(bytes, expected, options);
  const object = withMetadata(decoded);
  options.decoded?.(object, expected, () =>
    withMetadata(decodeBytes(bytes, expected, { ...options, warnings: [] }).object),
  );
  options.checkNames?.(object);
  if (expected.schema.custom !== undefined) checkCustomType({ kind, metadata: object.metadata }, expected);
  return object;
}

function decodeBytes(bytes: Buffer, expected: ExpectedKind, options: DecodeOptions): DecodedBody {
  const { mediaType, catalog } = options;
  if (isProtobuf(mediaType)) return { kind: expected.kind, object: decodeProtobufBody(bytes, expected, catalog) };
  return mediaType === cborType ? decodeCborBody(bytes, expected, options) : decodeText(bytes, expected, options);
}

/**
 * Parses a text body.
 * @throws TypeMetaError, YamlError
 */
export function readText(bytes: Buffer, mediaType: string): TextBody {
  return mediaType === yamlType ? readYaml(bytes) : { ...peekTypeMeta(bytes), strictErrors: [] };
}

/** @throws ApiError 400 */
function decodeText(bytes: Buffer, expected: ExpectedKind, options: DecodeOptions): DecodedBody {
  const body = readKind(bytes, expected, options);
  const { named, document, strictErrors } = body;
  const { kind } = named;
  if (document.value === null) return { kind, object: {} };
  const isCustom = expected.schema.custom !== undefined;
  const decoded = decodeAs(named, bytes, document, expected, options);
  const problems = isCustom ? customProblems(decoded.problems, body, bytes, expected) : decoded.problems;
  if (options.fieldValidation === "Strict") {
    // The problems of the YAML are one error, of several lines, but a warning each.
    const errors = strictErrors.length === 0 ? problems : [strictYamlError(strictErrors), ...problems];
    if (errors.length > 0) throw cannotHandle(named, isCustom ? kind : expected.kind, strictError(errors));
  } else if (options.fieldValidation === "Warn") options.warnings.push(...strictErrors, ...problems);
  if (isCustom) checkCustomVersion(named, expected);
  return { kind, object: decoded.object };
}

function decodeAs(
  named: NamedKind,
  bytes: Buffer,
  document: Document,
  expected: ExpectedKind,
  { catalog }: DecodeOptions,
): Decoded {
  const { schema } = expected;
  try {
    return decodeDocument(document, schema.custom === undefined ? schema : schemaOf(named, expected, catalog));
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
    const body = options.parsed?.take() ?? readText(bytes, options.mediaType);
    return { ...body, named: isExpected(body, expected) ? expected : namedTextKind(bytes, body, expected, options) };
  } catch (error) {
    if (!(error instanceof TypeMetaError) && !(error instanceof TypeMetaProblem) && !(error instanceof YamlError))
      throw error;
    throw unrecognized(expected, error, bytes);
  }
}

/** Whether a body names exactly the expected kind. Of a custom kind, other spellings must be excluded, too. */
function isExpected({ kind, apiVersion }: TypeMeta, { group, version, kind: expected, schema }: ExpectedKind): boolean {
  return schema.custom === undefined && kind === expected && apiVersion === formatGroupVersion(group, version);
}

/** Adds empty metadata to an object without any. */
export function withMetadata(object: Record<string, unknown>): KubeObject {
  object.metadata ??= {};
  return object as KubeObject;
}

/**
 * Sets the defaults of the request's version and converts the object to the storage version.
 * @param object must not be used afterwards
 */
export function toStorageVersion(object: KubeObject, { resource, version }: Resolved): KubeObject {
  const { definition, store } = resource;
  applyDefaults(object, version.schema);
  const stored = version.conversion?.toStorage(object) ?? object;
  definition.strategy.setDefaults(stored, store?.gates, store?.now());
  const {
    group,
    version: storageVersion,
    kind,
  } = store?.form ?? { group: definition.group, version: version.version, kind: definition.kind };
  stored.kind = kind;
  stored.apiVersion = formatGroupVersion(group, storageVersion);
  return stored;
}
