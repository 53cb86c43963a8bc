/**
 * The kind that a body names, compared with the kind that the path expects, and the messages of
 * upstream's schemes when they differ.
 */
import { ApiError, badRequest, invalid } from "../apimachinery/errors.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { formatGroupVersion, type KubeObject, parseGroupVersion } from "../apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../catalog/builtin-schemas.ts";
import type { Catalog } from "../catalog/contract.ts";
import {
  internalPackage,
  notRegistered,
  notRegisteredInternally,
  ownSchemes,
  unknownConversion,
} from "../catalog/go-scheme.ts";
import { type Document, JsonSyntaxError, type TypeMeta } from "../lib/json/parse.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { DecodeError, decodeDocument } from "../lib/schema/decode.ts";
import type { Struct } from "../lib/schema/schema.ts";
import type { FieldValidation } from "./contract.ts";

/** The kind of the bodies that a path accepts. */
export interface ExpectedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: Struct;
  /**
   * Whether upstream works on objects of this version, which then applies to a patched document
   * without a version.
   */
  readonly isHub?: boolean;
  /** Another version of the group, whose objects are decoded as this one. */
  readonly alsoVersion?: string;
}

/** How the bytes of a body are read. */
export interface BodyOptions {
  /** The body's media type without parameters; empty for JSON. */
  readonly mediaType: string;
  readonly catalog: Catalog;
  readonly fieldValidation: FieldValidation;
  /** Receives the problems that are not errors. */
  readonly warnings: string[];
}

/** What the decoder of an encoding returns. */
export interface DecodedBody {
  /** As the body names it. */
  readonly kind: string;
  readonly object: Record<string, unknown>;
}

/** A body without a kind, or with a malformed apiVersion. */
export class TypeMetaProblem extends Error {}

/** The message for a body without a kind. */
export const missingKind = "Object 'Kind' is missing";

/**
 * The kind that a body names; what it omits is as expected.
 * @param document the body, if it is text
 * @throws TypeMetaProblem; ApiError 400 when the kind is not accepted
 */
export function namedKind(
  { apiVersion, kind: bodyKind }: TypeMeta,
  expected: ExpectedKind,
  catalog: Catalog,
  document?: Document,
): NamedKind {
  if (expected.schema.custom !== undefined) return namedCustomKind({ apiVersion, kind: bodyKind });
  const { group, version } = groupVersionOf(apiVersion, expected);
  const named = { group, version, kind: bodyKind === "" ? expected.kind : bodyKind };
  checkKind(named, expected, catalog, document);
  return named;
}

/** A custom object must name its kind. Another version or kind is rejected after decoding. */
function namedCustomKind({ apiVersion, kind }: TypeMeta): NamedKind {
  if (kind === "") throw new TypeMetaProblem(missingKind);
  const named = apiVersion === "" ? { group: "", version: "" } : parseGroupVersion(apiVersion);
  if (named === undefined) throw malformedVersion(apiVersion);
  return { ...named, kind };
}

type GroupVersion = Pick<ExpectedKind, "group" | "version">;

/**
 * The group and version of a body. An empty apiVersion, and one without a version such as
 * `policy/`, is the expected one.
 * @throws TypeMetaProblem
 */
export function groupVersionOf(apiVersion: string, expected: ExpectedKind): GroupVersion {
  if (apiVersion === "") return expected;
  const named = parseGroupVersion(apiVersion);
  if (named === undefined) throw malformedVersion(apiVersion);
  return named.version === "" && named.group === expected.group ? expected : named;
}

function malformedVersion(apiVersion: string): TypeMetaProblem {
  return new TypeMetaProblem(`unexpected GroupVersion string: ${apiVersion}`);
}

/**
 * Checks that a body of one kind is accepted as the expected kind.
 * @param document the body, if it is text
 * @throws ApiError 400
 */
export function checkKind(named: NamedKind, expected: ExpectedKind, catalog: Catalog, document?: Document): void {
  const problem = kindProblem(named, expected, catalog);
  if (problem === undefined) return;
  const decodeProblem = document && problem.isKnown ? decodeProblemOf(named, document) : undefined;
  if (decodeProblem === undefined && problem.converts) throw badRequest(problem.why);
  throw cannotHandle(named, expected.kind, decodeProblem ?? problem.why);
}

/** Why a body does not fit the kind that it names, which upstream finds first. */
function decodeProblemOf({ group, version, kind }: NamedKind, document: Document): string | undefined {
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

/**
 * The schema to decode with. Upstream prunes a custom resource as the version that it names, and
 * compares that with the request's afterwards.
 */
export function schemaOf({ group, version }: NamedKind, expected: ExpectedKind, catalog: Catalog): Struct {
  const { custom } = expected.schema;
  if (custom === undefined || (group === expected.group && version === expected.version)) return expected.schema;
  const other = group === expected.group ? catalog.findKind(group, version, expected.kind) : undefined;
  return other?.version.schema ?? custom.metadataOnly;
}

/**
 * Whether upstream finds no schema for a custom object of another kind or group, and prunes only
 * its metadata.
 */
export function hasNoSchema({ group, kind }: NamedKind, expected: ExpectedKind): boolean {
  return expected.schema.custom !== undefined && (kind !== expected.kind || group !== expected.group);
}

/**
 * Checks the version of a custom object after decoding.
 * @throws ApiError 400 for another version than the request's
 */
export function checkCustomVersion({ group, version }: NamedKind, expected: ExpectedKind): void {
  if (expected.schema.custom === undefined || (group === expected.group && version === expected.version)) return;
  const expectedVersion = formatGroupVersion(expected.group, expected.version);
  throw badRequest(
    `the API version in the data (${formatGroupVersion(group, version)}) does not match the expected API version (${expectedVersion})`,
  );
}

/**
 * Validates kind and apiVersion of a custom object, if it has them.
 * @throws ApiError 422, as upstream's validation of custom resources
 */
export function checkCustomType({ kind, apiVersion, metadata }: Partial<KubeObject>, expected: ExpectedKind): void {
  const errors = new FieldErrors();
  const expectedVersion = formatGroupVersion(expected.group, expected.version);
  const differs = (sent: unknown, own: string): sent is string =>
    typeof sent === "string" && sent !== "" && sent !== own;
  if (differs(kind, expected.kind)) errors.invalid("kind", kind, `must be ${expected.kind}`);
  const named = typeof apiVersion === "string" && apiVersion !== "" ? parseGroupVersion(apiVersion) : expected;
  if (named === undefined) return; // Reported as for built-in kinds.
  if (differs(apiVersion, expectedVersion)) errors.invalid("apiVersion", apiVersion, `must be ${expectedVersion}`);
  if (!errors.empty)
    throw invalid(named.group, typeof kind === "string" ? kind : "", metadata?.name ?? "", errors.causes);
}

/** The error for a body that names a kind, but cannot be decoded as the expected one. */
export function cannotHandle(
  { kind, version }: Pick<NamedKind, "kind" | "version">,
  as: string,
  why: string,
): ApiError {
  return badRequest(`${kind} in version ${quoteGo(version)} cannot be handled as a ${as}: ${why}`);
}

/**
 * The error for a body whose kind cannot be read. Like upstream's, it quotes the start of the body.
 */
export function unrecognized({ kind }: ExpectedKind, error: Error, bytes: Buffer): ApiError {
  const why = error.message === missingKind ? `${missingKind} in '${bytes}'` : error.message;
  const message = `the object provided is unrecognized (must be of type ${kind}): ${why}`;
  return new ApiError({
    code: 400,
    reason: "BadRequest",
    message: `${message} (${summarize(bytes)})`,
    messageWithoutObjects: message,
  });
}

const summaryBytesMax = 30;

/** The start of a body, as text if it looks like JSON, otherwise in hexadecimal. */
function summarize(bytes: Buffer): string {
  if (bytes.length === 0) return "<empty>";
  const start = bytes.subarray(0, summaryBytesMax);
  const text = bytes[0] === 0x7b ? start.toString() : start.toString("hex");
  return bytes.length > summaryBytesMax ? `${text} ...` : text;
}

/** The message for unknown and repeated fields at level Strict. */
export function strictError(problems: readonly string[]): string {
  return `strict decoding error: ${problems.join(", ")}`;
}

/** The kind that a body names. */
export interface NamedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The error for a custom object whose apiVersion is null. */
export const nullVersion = ".apiVersion accessor error: <nil> is of the type <nil>, expected string";

/**
 * Whether a problem is reported for a custom object of another kind or group than expected, for
 * which no schema is found.
 */
export const isReportedWithoutSchema = (problem: string): boolean =>
  problem.startsWith("duplicate field") || problem.startsWith('unknown field "metadata.');

interface KindProblem {
  readonly why: string;
  /** Whether the kinds differ only in version. */
  readonly converts: boolean;
  /** Whether upstream has a Go type for the kind, into which it decodes the body first. */
  readonly isKnown: boolean;
}

/** @returns why the named kind is not accepted as the expected one; undefined when it is */
export function kindProblem(named: NamedKind, expected: ExpectedKind, catalog: Catalog): KindProblem | undefined {
  const isVersion = named.version === expected.version || named.version === expected.alsoVersion;
  if (named.kind === expected.kind && isVersion && named.group === expected.group) return undefined;
  const groupVersion = formatGroupVersion(named.group, named.version);
  const expectedVersion = formatGroupVersion(expected.group, expected.version);
  const type = isRegistered(named, expected) ? goTypeOf(named, catalog) : undefined;
  if (type === undefined) {
    return {
      why: notRegistered(named),
      converts: false,
      isKnown: false,
    };
  }
  const ours = catalog.findKind(expected.group, expected.version, expected.kind)?.resource.store?.form;
  const theirs = catalog.findKind(named.group, named.version, named.kind)?.resource.store?.form;
  const isEarlier = ownSchemes.has(named.group) && named.group === expected.group && named.kind === expected.kind;
  if (isEarlier || (ours !== undefined && ours.prefix === theirs?.prefix)) {
    return {
      why: `the API version in the data (${groupVersion}) does not match the expected API version (${expectedVersion})`,
      converts: true,
      isKnown: true,
    };
  }
  return {
    why: unknownConversion(type, `${internalPackage(ours?.group ?? expected.group)}.${expected.kind}`),
    converts: false,
    isKnown: true,
  };
}

/**
 * {@link kindProblem} for a document without a version, which upstream decodes as an internal type.
 */
export function internalKindProblem(named: NamedKind, expected: ExpectedKind, catalog: Catalog): string | undefined {
  if (named.kind === expected.kind) return undefined;
  if (!isRegistered(named, expected) || goTypeOf(named, catalog) === undefined) return notRegisteredInternally(named);
  const internalType = ({ group, kind }: NamedKind): string => `${internalPackage(group)}.${kind}`;
  return unknownConversion(internalType(named), internalType(expected));
}

function isRegistered({ group, version, kind }: NamedKind, expected: ExpectedKind): boolean {
  const schemeOf = (name: string): string => (ownSchemes.has(name) ? name : "");
  if (schemeOf(group) === schemeOf(expected.group)) return true;
  return group === "" && definitionOf(group, version, kind)?.startsWith("io.k8s.apimachinery.") === true;
}

/** Kinds of the core group that have no OpenAPI definition. */
const undescribedCore: ReadonlySet<string> = new Set([
  "List",
  "PodStatusResult",
  "RangeAllocation",
  "SerializedReference",
]);

/** For example `v1.Secret`; undefined for an unknown kind. */
function goTypeOf({ group, version, kind }: NamedKind, catalog: Catalog): string | undefined {
  if (group === "" && version === "v1" && undescribedCore.has(kind)) return `v1.${kind}`;
  if (ownSchemes.has(group) && version === "v1beta1" && definitionOf(group, "v1", kind) !== undefined)
    return `v1beta1.${kind}`; // Registered, but no longer served.
  const definition = definitionOf(group, version, kind);
  if (definition !== undefined) return builtinSchema(definition).goType;
  const found = catalog.findKind(group, version, kind);
  return found?.resource.definition.custom === false ? found.version.schema.goType : undefined;
}
