/** From the bytes of a body to an object: kinds, field validation, defaults, the storage version. Source: resource-api §4.10; apiserver's endpoint handlers. */
import { ApiError, badRequest, invalid, unsupportedMediaType } from "../apimachinery/errors.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { formatGroupVersion, type KubeObject, parseGroupVersion } from "../apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../catalog/builtin-schemas.ts";
import type { Catalog, Resolved, SubresourceDefinition } from "../catalog/contract.ts";
import { cborTypeMeta, decodeAnyCbor, decodeCbor } from "../lib/cbor/decode.ts";
import { cborType } from "../lib/cbor/media-types.ts";
import { CborError } from "../lib/cbor/wire.ts";
import { encodeSorted } from "../lib/json/encode-any.ts";
import {
  checkRepeatedTypeMeta,
  type Document,
  exactType,
  JsonSyntaxError,
  type TypeMeta,
  TypeMetaError,
} from "../lib/json/parse.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { isObject } from "../lib/json/values.ts";
import { decodeProtobuf } from "../lib/protobuf/decode.ts";
import { type Envelope, readEnvelope } from "../lib/protobuf/envelope.ts";
import { isProtobuf } from "../lib/protobuf/media-types.ts";
import { ProtobufError } from "../lib/protobuf/reader.ts";
import { conform, type Decoded, DecodeError, decodeDocument } from "../lib/schema/decode.ts";
import { applyDefaults } from "../lib/schema/defaults.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { strictYamlError, YamlError } from "../lib/yaml/decode.ts";
import { yamlType } from "../lib/yaml/media-type.ts";
import type { FieldValidation } from "./contract.ts";
import { isToldOfAny, kindProblem, type NamedKind, nullVersion } from "./kind-problem.ts";
import { readText, type TextBody } from "./read-text.ts";

/** The kind a path takes. */
export interface ExpectedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: Struct;
  /** Upstream works on objects of this very version, which is the one of a patched document that names none. */
  readonly isHub?: boolean;
  /** Another version of the group, whose objects are read as if they were of this one. */
  readonly alsoVersion?: string;
}

export interface DecodeOptions {
  /** The body's media type without parameters; empty for JSON. */
  readonly mediaType: string;
  readonly catalog: Catalog;
  readonly fieldValidation: FieldValidation;
  /** Receives what is only warned of. */
  readonly warnings: string[];
  /** Is told of the object; `again` makes another one, which may be changed. */
  readonly decoded?: (object: KubeObject, expected: ExpectedKind, again: () => KubeObject) => void;
  /** Compares the object's name and namespace with those of the path, before the kind of a custom resource is validated. @throws ApiError 400 */
  readonly checkNames?: (object: KubeObject) => void;
}

export function expectedKind({ resource, version }: Resolved): ExpectedKind {
  const { group, kind } = resource.definition;
  return { group, version: version.version, kind, schema: version.schema };
}

/** @returns undefined when the subresource takes no body that the schemas know */
export function expectedSubresourceKind(
  { resource, version }: Resolved,
  subresource: SubresourceDefinition,
): ExpectedKind | undefined {
  const { kind, schema, kindGroupVersion } = subresource;
  if (schema === undefined) return undefined;
  return { ...(kindGroupVersion ?? { group: resource.definition.group, version: version.version }), kind, schema };
}

/**
 * Decodes the body of a create or an update.
 * @returns the object at the expected version, without defaults; its metadata is always there
 * @throws ApiError 400 with upstream's texts
 */
export function decodeBody(bytes: Buffer, expected: ExpectedKind, options: DecodeOptions): KubeObject {
  const { kind, object } = decodeBytes(bytes, expected, options);
  options.decoded?.(object, expected, () => decodeBytes(bytes, expected, { ...options, warnings: [] }).object);
  options.checkNames?.(object);
  checkCustomKind(kind, object, expected);
  return object;
}

interface DecodedBody {
  /** As the body names it. */
  readonly kind: string;
  readonly object: KubeObject;
}

function decodeBytes(bytes: Buffer, expected: ExpectedKind, options: DecodeOptions): DecodedBody {
  if (isProtobuf(options.mediaType))
    return { kind: expected.kind, object: decodeProtobufBody(bytes, expected, options.catalog) };
  if (options.mediaType === cborType) return decodeCborBody(bytes, expected, options);
  const { named, document, strictErrors } = readKind(bytes, expected, options);
  const { kind, version } = named;
  const cannot = (why: string, as = expected.kind): Error =>
    badRequest(`${kind} in version ${quoteGo(version)} cannot be handled as a ${as}: ${why}`);
  if (document.value === null) return { kind, object: { metadata: {} } };
  let decoded: Decoded;
  try {
    decoded = decodeDocument(document, schemaOf(named, expected, options.catalog));
  } catch (error) {
    if (!(error instanceof DecodeError) && !(error instanceof JsonSyntaxError)) throw error;
    checkEachKind(bytes, document, expected);
    throw cannot(error.message);
  }
  if (isOfNoSchema(named, expected)) decoded.problems = decoded.problems.filter(isToldOfAny);
  if (expected.schema.custom !== undefined && decoded.problems.some(isTypeRepetition))
    checkEachKind(bytes, document, expected);
  if (options.fieldValidation === "Strict") {
    // What is wrong with the YAML is one error, of several lines, and a warning each.
    const problems =
      strictErrors.length === 0 ? decoded.problems : [strictYamlError(strictErrors), ...decoded.problems];
    if (problems.length > 0) throw cannot(strictError(problems), expected.schema.custom && kind);
  } else if (options.fieldValidation === "Warn") options.warnings.push(...strictErrors, ...decoded.problems);
  checkCustomVersion(named, expected);
  return { kind, object: withMetadata(decoded.object) };
}

/** Upstream prunes a custom resource as the version that it names, and compares that with the request's afterwards. */
function schemaOf({ group, version }: NamedKind, expected: ExpectedKind, catalog: Catalog): Struct {
  const { custom } = expected.schema;
  if (custom === undefined || (group === expected.group && version === expected.version)) return expected.schema;
  const other = group === expected.group ? catalog.findKind(group, version, expected.kind) : undefined;
  return other?.version.schema ?? custom.metadataOnly;
}

/** Whether upstream finds no schema for what a body names, and prunes nothing but its metadata. */
function isOfNoSchema({ group, kind }: NamedKind, expected: ExpectedKind): boolean {
  return expected.schema.custom !== undefined && (kind !== expected.kind || group !== expected.group);
}

/** @throws ApiError 400 for a custom resource at another version than the request's */
function checkCustomVersion({ group, version }: NamedKind, expected: ExpectedKind): void {
  if (expected.schema.custom === undefined || (group === expected.group && version === expected.version)) return;
  const wanted = formatGroupVersion(expected.group, expected.version);
  throw badRequest(
    `the API version in the data (${formatGroupVersion(group, version)}) does not match the expected API version (${wanted})`,
  );
}

const isTypeRepetition = (problem: string): boolean =>
  problem === 'duplicate field "kind"' || problem === 'duplicate field "apiVersion"';

/** Protobuf has no unknown or repeated fields to tell of: what is not known is skipped. */
function decodeProtobufBody(bytes: Buffer, expected: ExpectedKind, catalog: Catalog): KubeObject {
  if (expected.schema.protobufName === undefined) throw unsupportedMediaType(["application/json", yamlType]); // A custom resource.
  const envelope = openEnvelope(bytes, expected);
  const named = parseGroupVersion(envelope.apiVersion); // One that is malformed is as none at all here.
  const { group, version } = named === undefined || named.version === "" ? expected : named;
  const kind = envelope.kind === "" ? expected.kind : envelope.kind;
  checkKind({ group, version, kind }, expected, catalog);
  try {
    return withMetadata(conform(decodeProtobuf(envelope.raw, expected.schema), expected.schema).object);
  } catch (error) {
    if (!(error instanceof ProtobufError) && !(error instanceof DecodeError) && !(error instanceof JsonSyntaxError))
      throw error;
    throw badRequest(
      `${kind} in version ${quoteGo(version)} cannot be handled as a ${expected.kind}: ${error.message}`,
    );
  }
}

/** Keys that are set twice are refused whatever field validation says. */
function decodeCborBody(bytes: Buffer, expected: ExpectedKind, options: DecodeOptions): DecodedBody {
  const named = readCborKind(bytes, expected, options.catalog);
  const { kind, version } = named;
  const cannot = (why: string): Error =>
    badRequest(`${kind} in version ${quoteGo(version)} cannot be handled as a ${expected.kind}: ${why}`);
  try {
    const read = readCbor(bytes, schemaOf(named, expected, options.catalog), options.fieldValidation !== "Ignore");
    const problems = isOfNoSchema(named, expected) ? read.problems.filter(isToldOfAny) : read.problems;
    if (options.fieldValidation === "Strict" && problems.length > 0) throw cannot(strictError(problems));
    if (options.fieldValidation === "Warn") options.warnings.push(...problems);
    checkCustomVersion(named, expected);
    return { kind, object: withMetadata(read.object) };
  } catch (error) {
    if (error instanceof CborError || error instanceof DecodeError) throw cannot(error.message);
    throw error;
  }
}

/** What is wrong with a custom resource is told as it is of JSON. */
function readCbor(
  bytes: Buffer,
  schema: Struct,
  strict: boolean,
): { readonly object: Record<string, unknown>; readonly problems: readonly string[] } {
  return schema.protobufName === undefined
    ? conform(decodeAnyCbor(bytes), schema)
    : decodeCbor(bytes, schema, { strict });
}

function readCborKind(bytes: Buffer, expected: ExpectedKind, catalog: Catalog): NamedKind {
  try {
    return namedKind(cborTypeMeta(bytes), expected, catalog);
  } catch (error) {
    if (!(error instanceof CborError) && !(error instanceof TypeMetaProblem)) throw error;
    throw unrecognized(
      expected.kind,
      error.message === missingKind ? `${missingKind} in '${bytes}'` : error.message,
      bytes,
    );
  }
}

function openEnvelope(bytes: Buffer, { kind }: ExpectedKind): Envelope {
  try {
    return readEnvelope(bytes);
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw unrecognized(kind, error.message, bytes);
  }
}

/** Upstream quotes the body's start. */
function unrecognized(kind: string, why: string, bytes: Buffer): ApiError {
  const message = `the object provided is unrecognized (must be of type ${kind}): ${why}`;
  return new ApiError({
    code: 400,
    reason: "BadRequest",
    message: `${message} (${summarize(bytes)})`,
    messageWithoutObjects: message,
  });
}

export function strictError(problems: readonly string[]): string {
  return `strict decoding error: ${problems.join(", ")}`;
}

export function withMetadata(object: Record<string, unknown>): KubeObject {
  object.metadata ??= {};
  return object as KubeObject;
}

function readKind(bytes: Buffer, expected: ExpectedKind, options: DecodeOptions) {
  try {
    const body = readText(bytes, options.mediaType);
    return { named: nameOf(bytes, body, expected, options), document: body.document, strictErrors: body.strictErrors };
  } catch (error) {
    if (!(error instanceof TypeMetaError) && !(error instanceof TypeMetaProblem) && !(error instanceof YamlError))
      throw error;
    throw unrecognized(
      expected.kind,
      error.message === missingKind ? `${missingKind} in '${bytes}'` : error.message,
      bytes,
    );
  }
}

/** {@link namedKind}, where kind and version may be set repeatedly: upstream refuses what is no text of all of them first. */
function nameOf(bytes: Buffer, body: TextBody, expected: ExpectedKind, options: DecodeOptions): NamedKind {
  const { document } = body;
  try {
    const given = expected.schema.custom === undefined ? body : customType(bytes, body, expected, options);
    return namedKind(given, expected, options.catalog, document);
  } catch (error) {
    checkEachKind(bytes, document, expected);
    throw error;
  }
}

/** A custom object's own names of kind and version. Those in other cases only show in refusals. @throws as {@link namedKind} */
function customType(
  bytes: Buffer,
  body: TextBody,
  expected: ExpectedKind,
  { mediaType, fieldValidation }: DecodeOptions,
): TypeMeta {
  const given = exactType(body.document.value, body);
  const named = body.apiVersion === "" ? expected : withVersion(parseGroupVersion(body.apiVersion), expected);
  if (named === undefined) throw new TypeMetaProblem(`unexpected GroupVersion string: ${body.apiVersion}`);
  if (given.kind !== "" && isObject(body.document.value) && body.document.value.apiVersion === null) {
    throw badRequest(`${given.kind} in version "" cannot be handled as a ${expected.kind}: ${nullVersion}`);
  }
  if (given.kind !== "" || fieldValidation !== "Ignore") return given;
  const text = mediaType === yamlType ? encodeSorted(body.document.value) : bytes;
  const kind = body.kind === "" ? expected.kind : body.kind;
  throw badRequest(
    `${kind} in version ${quoteGo(named.version)} cannot be handled as a ${expected.kind}: ${missingKind} in '${text}'`,
  );
}

/** Upstream looks at kind and version first, and each time they are set. @throws ApiError 400 */
function checkEachKind(bytes: Buffer, { repeated }: Document, { kind }: ExpectedKind): void {
  if (repeated?.size === 0) return;
  try {
    checkRepeatedTypeMeta(bytes);
  } catch (error) {
    if (error instanceof TypeMetaError) throw unrecognized(kind, error.message, bytes);
    throw error;
  }
}

/**
 * What a body says it is, and where it says nothing, what is expected.
 * @param document the body, where it is text
 * @throws TypeMetaProblem; ApiError 400 when it cannot stand for that
 */
function namedKind(
  { apiVersion, kind: given }: TypeMeta,
  expected: ExpectedKind,
  catalog: Catalog,
  document?: Document,
): NamedKind {
  if (expected.schema.custom !== undefined) return namedCustomKind({ apiVersion, kind: given });
  const named = apiVersion === "" ? expected : withVersion(parseGroupVersion(apiVersion), expected);
  if (named === undefined) throw new TypeMetaProblem(`unexpected GroupVersion string: ${apiVersion}`);
  const kind = { group: named.group, version: named.version, kind: given === "" ? expected.kind : given };
  checkKind(kind, expected, catalog, document);
  return kind;
}

/** An object of a custom kind says what it is. One of another version or kind is rejected once it is read. @throws as {@link namedKind} */
function namedCustomKind({ apiVersion, kind }: TypeMeta): NamedKind {
  if (kind === "") throw new TypeMetaProblem(missingKind);
  const named = apiVersion === "" ? { group: "", version: "" } : parseGroupVersion(apiVersion);
  if (named === undefined) throw new TypeMetaProblem(`unexpected GroupVersion string: ${apiVersion}`);
  return { ...named, kind };
}

const missingKind = "Object 'Kind' is missing";

/** @throws ApiError 422, as upstream's validation of custom resources has it */
function checkCustomKind(kind: string, { metadata }: KubeObject, expected: ExpectedKind): void {
  if (expected.schema.custom !== undefined) checkCustomType({ kind, metadata }, expected);
}

/** @param object where it says nothing, it is of the kind @throws ApiError 422, as upstream's validation of custom resources has it */
export function checkCustomType({ kind, apiVersion, metadata }: Partial<KubeObject>, expected: ExpectedKind): void {
  const errors = new FieldErrors();
  const wanted = formatGroupVersion(expected.group, expected.version);
  const differs = (given: unknown, own: string): given is string =>
    typeof given === "string" && given !== "" && given !== own;
  if (differs(kind, expected.kind)) errors.invalid("kind", kind, `must be ${expected.kind}`);
  const named = typeof apiVersion === "string" && apiVersion !== "" ? parseGroupVersion(apiVersion) : expected;
  if (named === undefined) return; // Told as of any kind.
  if (differs(apiVersion, wanted)) errors.invalid("apiVersion", apiVersion, `must be ${wanted}`);
  if (!errors.empty)
    throw invalid(named.group, typeof kind === "string" ? kind : "", metadata?.name ?? "", errors.causes);
}

type Versioned = Pick<ExpectedKind, "group" | "version">;

/** `policy/`, where something of that group is expected, is of the version that is expected. */
function withVersion(named: Versioned | undefined, expected: ExpectedKind): Versioned | undefined {
  return named?.version === "" && named.group === expected.group ? expected : named;
}

class TypeMetaProblem extends Error {}

/** @throws ApiError 400 when a body of this kind cannot stand for the expected one */
export function checkKind(given: NamedKind, expected: ExpectedKind, catalog: Catalog, document?: Document): void {
  const problem = kindProblem(given, expected, catalog);
  if (problem === undefined) return;
  const misfit = document && problem.isKnown ? misfitOf(given, document) : undefined;
  if (misfit === undefined && problem.converts) throw badRequest(problem.why);
  throw badRequest(
    `${given.kind} in version ${quoteGo(given.version)} cannot be handled as a ${expected.kind}: ${misfit ?? problem.why}`,
  );
}

/** Why a body does not even fit the kind it says it is, which upstream finds out first. */
function misfitOf({ group, version, kind }: NamedKind, document: Document): string | undefined {
  const definition = definitionOf(group, version, kind);
  if (definition === undefined) return undefined;
  try {
    decodeDocument(document, builtinSchema(definition));
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError || error instanceof JsonSyntaxError) return error.message;
    throw error;
  }
}

const summaryBytesMax = 30;

/** The beginning of a body, as text when it looks like JSON, else in hex. */
function summarize(bytes: Buffer): string {
  if (bytes.length === 0) return "<empty>";
  const start = bytes.subarray(0, summaryBytesMax);
  const text = bytes[0] === 0x7b ? start.toString() : start.toString("hex");
  return bytes.length > summaryBytesMax ? `${text} ...` : text;
}

/** Fills in defaults at the request's version and brings the object into the storage version; it is used up. */
export function toStorageVersion(object: KubeObject, { resource, version }: Resolved): KubeObject {
  const { definition, store } = resource;
  applyDefaults(object, version.schema);
  const stored = version.conversion?.toStorage(object) ?? object;
  definition.strategy.setDefaults(stored, store?.gates);
  const {
    group,
    version: storageVersion,
    kind,
  } = store?.form ?? { group: definition.group, version: version.version, kind: definition.kind };
  stored.kind = kind;
  stored.apiVersion = formatGroupVersion(group, storageVersion);
  return stored;
}
