/** What the query, or the body of a deletion, says about how to write. Source: resource-api §2.8, §4.3, §4.9, §4.10; apimachinery's validation. */
import { badRequest, invalid } from "../api/errors.ts";
import { FieldErrors } from "../api/field-errors.ts";
import { validateFieldManager } from "../api/validation/metadata.ts";
import { cborTypeMeta, decodeCbor } from "../lib/cbor/decode.ts";
import { cborType } from "../lib/cbor/media-types.ts";
import { CborError } from "../lib/cbor/wire.ts";
import { JsonSyntaxError, TypeMetaError } from "../lib/json/parse.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { decodeProtobuf } from "../lib/protobuf/decode.ts";
import { readEnvelope } from "../lib/protobuf/envelope.ts";
import { isProtobuf } from "../lib/protobuf/media-types.ts";
import { ProtobufError } from "../lib/protobuf/reader.ts";
import { conform, DecodeError, decodeDocument } from "../lib/schema/decode.ts";
import { YamlError } from "../lib/yaml/decode.ts";
import { builtinSchema } from "../resource/builtin-schemas.ts";
import type { DeleteOptions, FieldValidation } from "./contract.ts";
import { readText } from "./read-text.ts";

export interface WriteOptions {
  readonly dryRun: boolean;
  /** Empty when not given. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** Of apply. */
  readonly force: boolean;
}

const plainWrite: WriteOptions = { dryRun: false, fieldManager: "", fieldValidation: "Warn", force: false };

/** @throws ApiError 422 */
export function readWriteOptions(kind: "CreateOptions" | "UpdateOptions", query: URLSearchParams): WriteOptions {
  if (query.size === 0) return plainWrite;
  const errors = new FieldErrors();
  const options = readCommon(query, errors);
  throwInvalidOptions(kind, errors);
  return options;
}

/** @throws ApiError 422 */
export function readPatchOptions(query: URLSearchParams, { apply }: { readonly apply: boolean }): WriteOptions {
  const errors = new FieldErrors();
  if (apply && (query.get("fieldManager") ?? "") === "") errors.required("fieldManager", "is required for apply patch");
  if (!apply && query.has("force")) errors.forbidden("force", "may not be specified for non-apply patch");
  const options = readCommon(query, errors);
  throwInvalidOptions("PatchOptions", errors);
  return { ...options, force: readBoolean(query, "force") === true };
}

const levels = ["", "Ignore", "Strict", "Warn"];

function readCommon(query: URLSearchParams, errors: FieldErrors): WriteOptions {
  const fieldManager = query.get("fieldManager") ?? "";
  validateFieldManager(fieldManager, "fieldManager", errors);
  const dryRun = query.getAll("dryRun");
  validateDryRun(dryRun, errors);
  const level = query.get("fieldValidation") ?? "";
  if (!levels.includes(level)) errors.notSupported("fieldValidation", level, levels);
  return { dryRun: dryRun.length > 0, fieldManager, fieldValidation: (level || "Warn") as FieldValidation, force: false };
}

function validateDryRun(values: readonly string[], errors: FieldErrors): void {
  if (values.some((value) => value !== "All")) errors.notSupported("dryRun", values, ["All"]);
}

function throwInvalidOptions(kind: string, errors: FieldErrors): void {
  if (!errors.empty) throw invalid("meta.k8s.io", kind, "", errors.causes);
}

/** As upstream reads a boolean: present means true unless it says `false` or `0`. */
export function readBoolean(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  return value === null ? undefined : value !== "0" && value.toLowerCase() !== "false";
}

/** The options as they stand in a body or a query, not yet checked. */
interface RawDeleteOptions {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly gracePeriodSeconds?: number | bigint;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  readonly dryRun?: readonly string[];
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

/**
 * The options of a deletion: from the body when there is one, and then from it alone, else from the query.
 * @throws ApiError 400 when they cannot be read, 422 when they are not valid
 */
export function readDeleteOptions(query: URLSearchParams, body: Buffer, mediaType = ""): DeleteOptions {
  if (body.length === 0 && query.size === 0) return plainDelete;
  const raw = body.length > 0 ? decodeDeleteOptions(body, mediaType) : deleteOptionsOfQuery(query);
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

const plainDelete: DeleteOptions = { dryRun: false };

export const deleteOptionsType = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

const unreadable = [TypeMetaError, JsonSyntaxError, YamlError, DecodeError, ProtobufError, CborError];

/** @throws ApiError 400 */
export function decodeDeleteOptions(body: Buffer, mediaType: string): RawDeleteOptions {
  const schema = builtinSchema(deleteOptionsType);
  try {
    if (isProtobuf(mediaType)) return conform(decodeProtobuf(readEnvelope(body).raw, schema), schema).object;
    if (mediaType === cborType) {
      checkOptionsKind(cborTypeMeta(body).kind);
      return decodeCbor(body, schema, { strict: false }).object;
    }
    const { kind, document } = readText(body, mediaType);
    checkOptionsKind(kind);
    if (document.value === null) return {};
    return decodeDocument(document, schema).object;
  } catch (error) {
    if (unreadable.some((kind) => error instanceof kind)) throw badRequest((error as Error).message);
    throw error;
  }
}

/** Any group's DeleteOptions will do, whatever the version. @throws ApiError 400 */
function checkOptionsKind(kind: string): void {
  if (kind !== "" && kind !== "DeleteOptions") throw badRequest("decoded object cannot be converted to DeleteOptions");
}

function deleteOptionsOfQuery(query: URLSearchParams): RawDeleteOptions {
  const grace = query.get("gracePeriodSeconds");
  const policy = query.get("propagationPolicy");
  const orphan = readBoolean(query, "orphanDependents");
  const ignore = readBoolean(query, "ignoreStoreReadErrorWithClusterBreakingPotential");
  const preconditions = preconditionsOfQuery(query);
  return {
    dryRun: query.getAll("dryRun"),
    ...(grace !== null && { gracePeriodSeconds: parseInt64(grace) }),
    ...(preconditions !== undefined && { preconditions }),
    ...(policy !== null && { propagationPolicy: policy }),
    ...(orphan !== undefined && { orphanDependents: orphan }),
    ...(ignore !== undefined && { ignoreStoreReadErrorWithClusterBreakingPotential: ignore }),
  };
}

/** Empty values demand nothing. */
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
  if (BigInt.asIntN(64, value) !== value) throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: value out of range`);
  return value;
}

const propagationPolicies = ["Foreground", "Background", "Orphan"];

function validateDeleteOptions(options: RawDeleteOptions, errors: FieldErrors): void {
  const { orphanDependents, propagationPolicy, dryRun = [] } = options;
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    errors.invalid("propagationPolicy", propagationPolicy, "orphanDependents and deletionPropagation cannot be both set");
  }
  if (propagationPolicy !== undefined && !propagationPolicies.includes(propagationPolicy)) {
    errors.notSupported("propagationPolicy", propagationPolicy, [...propagationPolicies, "nil"]);
  }
  validateDryRun(dryRun, errors);
  validateUnsafeDelete(options, errors);
}

const excludedByUnsafeDelete = ["dryRun", "propagationPolicy", "orphanDependents", "gracePeriodSeconds", "preconditions"] as const;

function validateUnsafeDelete(options: RawDeleteOptions, errors: FieldErrors): void {
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential !== true) return;
  for (const field of excludedByUnsafeDelete) {
    const value = options[field];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    errors.invalid("ignoreStoreReadErrorWithClusterBreakingPotential", true, `cannot be set together with .${field}`);
  }
}
