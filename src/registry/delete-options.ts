/** The options of a deletion, from the body or the query. */
import { dryRunOfQuery } from "../apimachinery/dry-run.ts";
import { badRequest } from "../apimachinery/errors.ts";
import { FieldErrors, typedText } from "../apimachinery/field-errors.ts";
import { parseGroupVersion } from "../apimachinery/object.ts";
import { parseQueryBool } from "../apimachinery/parse-bool.ts";
import { builtinSchema } from "../catalog/builtin-schemas.ts";
import { cborTypeMeta, decodeCbor } from "../lib/cbor/decode.ts";
import { cborType } from "../lib/cbor/media-types.ts";
import { CborError } from "../lib/cbor/wire.ts";
import { JsonSyntaxError, type TypeMeta, TypeMetaError } from "../lib/json/parse.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { decodeProtobuf } from "../lib/protobuf/decode.ts";
import { readEnvelope } from "../lib/protobuf/envelope.ts";
import { isProtobuf } from "../lib/protobuf/media-types.ts";
import { ProtobufError } from "../lib/protobuf/reader.ts";
import { conform, DecodeError, decodeDocument } from "../lib/schema/decode.ts";
import { encodeObject } from "../lib/schema/encode.ts";
import { YamlError } from "../lib/yaml/decode.ts";
import type { DeleteOptions } from "./contract.ts";
import { readText } from "./decode-body.ts";
import { throwInvalidOptions, validateDryRun } from "./options.ts";

/** The options as a body or a query has them, not yet validated. */
export interface RawDeleteOptions {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly gracePeriodSeconds?: number | bigint;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  readonly dryRun?: readonly string[];
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

/** A request whose options are read. */
export interface SentOptions {
  readonly query: URLSearchParams;
  readonly body: Buffer;
  /** Of the body. */
  readonly mediaType: string;
  /** Is called with the options of a body before they are checked. */
  readonly decoded?: ((options: RawDeleteOptions) => void) | undefined;
}

/**
 * The options of a deletion: from the body if there is one, otherwise from the query. `dryRun` is
 * read from both: the deletion is a dry run when either sets it (in 1.36 a body hides the query).
 * @param allowed `ignoreReadError`: the gate AllowUnsafeMalformedObjectDeletion; without it the
 *   option is ignored
 * @throws ApiError 400 when they cannot be parsed, 422 when they are not valid
 */
export function readDeleteOptions(sent: SentOptions, allowed: { readonly ignoreReadError: boolean }): DeleteOptions {
  const { query, body } = sent;
  if (body.length === 0 && query.size === 0) return plainDelete;
  const read = body.length > 0 ? withQueryDryRun(decodeSent(sent), query) : deleteOptionsOfQuery(query);
  return checkDeleteOptions(
    allowed.ignoreReadError ? read : { ...read, ignoreStoreReadErrorWithClusterBreakingPotential: false },
  );
}

function decodeSent({ body, mediaType, decoded }: SentOptions): RawDeleteOptions {
  const options = decodeDeleteOptions(body, mediaType);
  decoded?.(options);
  return options;
}

/**
 * Validates options.
 * @param raw with fields of the right types
 * @throws ApiError 422
 */
export function checkDeleteOptions(raw: RawDeleteOptions): DeleteOptions {
  const errors = new FieldErrors();
  validateDeleteOptions(raw, errors);
  throwInvalidOptions("DeleteOptions", errors);
  const { gracePeriodSeconds, preconditions, orphanDependents, propagationPolicy, dryRun = [] } = raw;
  return {
    dryRun: dryRun.length > 0,
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds: Number(gracePeriodSeconds) }),
    ...(preconditions !== undefined && { preconditions }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(raw.ignoreStoreReadErrorWithClusterBreakingPotential === true && { ignoreReadError: true }),
  };
}

/** The fields of DeleteOptions that a request sets, for admission. */
export function deleteOptionFields(options: DeleteOptions): Record<string, unknown> {
  const { gracePeriodSeconds, preconditions, orphanDependents, propagationPolicy, ignoreReadError, dryRun } = options;
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(preconditions !== undefined && { preconditions }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(dryRun && { dryRun: ["All"] }),
    ...(ignoreReadError && { ignoreStoreReadErrorWithClusterBreakingPotential: true }),
  };
}

/** Encodes options as upstream's audit events have them: in field order, and at the version to which it decodes them. */
export function auditedOptions(fields: object): string {
  const options = { ...fields, kind: "DeleteOptions", apiVersion: "meta.k8s.io/__internal" };
  return encodeObject(options, builtinSchema(deleteOptionsType)).json.toString();
}

const plainDelete: DeleteOptions = { dryRun: false };

/** The OpenAPI definition name of DeleteOptions. */
export const deleteOptionsType = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

const unreadable = [TypeMetaError, JsonSyntaxError, YamlError, DecodeError, ProtobufError, CborError];

/** @throws ApiError 400 */
export function decodeDeleteOptions(body: Buffer, mediaType: string): RawDeleteOptions {
  const schema = builtinSchema(deleteOptionsType);
  try {
    if (isProtobuf(mediaType)) {
      const envelope = readEnvelope(body);
      const isMalformed = parseGroupVersion(envelope.apiVersion) === undefined; // Counts as none at all.
      checkOptionsKind({ kind: envelope.kind, apiVersion: isMalformed ? "" : envelope.apiVersion });
      return conform(decodeProtobuf(envelope.raw, schema), schema).object;
    }
    if (mediaType === cborType) {
      checkOptionsKind(cborTypeMeta(body));
      return decodeCbor(body, schema, { strict: false }).object;
    }
    const { kind, apiVersion, document } = readText(body, mediaType);
    checkOptionsKind({ kind, apiVersion });
    if (document.value === null) return {};
    return decodeDocument(document, schema).object;
  } catch (error) {
    if (unreadable.some((kind) => error instanceof kind)) throw badRequest((error as Error).message);
    throw error;
  }
}

const metaVersion = "meta.k8s.io/v1";

/**
 * Other kinds that upstream's scheme registers for all versions, and those only for
 * `meta.k8s.io/v1`.
 */
const anyVersionKinds = [
  "APIGroup",
  "APIGroupList",
  "APIResourceList",
  "APIVersions",
  "CreateOptions",
  "Status",
  "UpdateOptions",
];
const metaKinds = [
  "GetOptions",
  "ListOptions",
  "PartialObjectMetadata",
  "PartialObjectMetadataList",
  "PatchOptions",
  "Table",
  "TableOptions",
  "WatchEvent",
];

/**
 * Accepts DeleteOptions of every group and version.
 * @throws ApiError 400
 */
function checkOptionsKind({ kind, apiVersion }: TypeMeta): void {
  if (parseGroupVersion(apiVersion) === undefined) throw badRequest(`unexpected GroupVersion string: ${apiVersion}`);
  if (kind === "" || kind === "DeleteOptions") return;
  const version = apiVersion === "" ? metaVersion : apiVersion;
  const isRegistered = anyVersionKinds.includes(kind) || (version === metaVersion && metaKinds.includes(kind));
  if (isRegistered) throw badRequest(`converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`);
  throw badRequest(
    `no kind ${quoteGo(kind)} is registered for version ${quoteGo(version)} in scheme "pkg/runtime/scheme.go:111"`,
  );
}

function withQueryDryRun(options: RawDeleteOptions, query: URLSearchParams): RawDeleteOptions {
  const dryRunOfUrl = dryRunOfQuery(query);
  return dryRunOfUrl.length === 0 ? options : { ...options, dryRun: [...(options.dryRun ?? []), ...dryRunOfUrl] };
}

function deleteOptionsOfQuery(query: URLSearchParams): RawDeleteOptions {
  const grace = query.get("gracePeriodSeconds");
  const policy = query.get("propagationPolicy");
  const orphan = parseQueryBool(query.get("orphanDependents"));
  const ignore = parseQueryBool(query.get("ignoreStoreReadErrorWithClusterBreakingPotential"));
  const preconditions = preconditionsOfQuery(query);
  return {
    dryRun: dryRunOfQuery(query),
    ...(grace !== null && { gracePeriodSeconds: parseInt64(grace) }),
    ...(preconditions !== undefined && { preconditions }),
    ...(policy !== null && { propagationPolicy: policy }),
    ...(orphan !== undefined && { orphanDependents: orphan }),
    ...(ignore !== undefined && { ignoreStoreReadErrorWithClusterBreakingPotential: ignore }),
  };
}

/** Empty values are no preconditions. */
function preconditionsOfQuery(query: URLSearchParams): RawDeleteOptions["preconditions"] {
  const uid = query.get("uid") ?? "";
  const resourceVersion = query.get("resourceVersion") ?? "";
  if (uid === "" && resourceVersion === "") return undefined;
  return { ...(uid !== "" && { uid }), ...(resourceVersion !== "" && { resourceVersion }) };
}

/** @throws ApiError 400 with Go's text */
function parseInt64(text: string): bigint {
  if (!/^[+-]?[0-9]{1,40}$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: invalid syntax`);
  const value = BigInt(text.replace("+", ""));
  if (BigInt.asIntN(64, value) !== value)
    throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: value out of range`);
  return value;
}

const propagationPolicies = ["Foreground", "Background", "Orphan"];

function validateDeleteOptions(options: RawDeleteOptions, errors: FieldErrors): void {
  const { orphanDependents, propagationPolicy, dryRun = [] } = options;
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    errors.invalid(
      "propagationPolicy",
      typedText(propagationPolicy),
      "orphanDependents and deletionPropagation cannot be both set",
    );
  }
  if (propagationPolicy !== undefined && !propagationPolicies.includes(propagationPolicy)) {
    errors.notSupported("propagationPolicy", propagationPolicy, [...propagationPolicies, "nil"]);
  }
  validateDryRun(dryRun, errors);
  validateUnsafeDelete(options, errors);
}

const excludedByUnsafeDelete = [
  "dryRun",
  "propagationPolicy",
  "orphanDependents",
  "gracePeriodSeconds",
  "preconditions",
] as const;

function validateUnsafeDelete(options: RawDeleteOptions, errors: FieldErrors): void {
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential !== true) return;
  for (const field of excludedByUnsafeDelete) {
    const value = options[field];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    errors.invalid("ignoreStoreReadErrorWithClusterBreakingPotential", true, `cannot be set together with .${field}`);
  }
}
