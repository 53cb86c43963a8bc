/** PATCH of an object, or of a subresource with the object's kind (`/status`, `/scale` …). */
import { ApiError, unsupportedMediaType } from "../../apimachinery/errors.ts";
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { parseQueryBool } from "../../apimachinery/parse-bool.ts";
import type { Authorizer } from "../../authorization/contract.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { applyPatchCborType } from "../../lib/cbor/media-types.ts";
import { apply } from "../../registry/apply.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { throwInvalidOptions } from "../../registry/options.ts";
import type { Patcher } from "../../registry/patch/contract.ts";
import { jsonPatcher } from "../../registry/patch/json-patch.ts";
import { mergePatcher } from "../../registry/patch/merge-patch.ts";
import { strategicMergePatcher } from "../../registry/patch/strategic-merge-patch.ts";
import { patch } from "../../registry/patch.ts";
import { checkObjectName } from "../../request/request-info.ts";
import { auditDocument } from "../audited-objects.ts";
import type { RequestContext } from "../contract.ts";
import { createCheck } from "./create-check.ts";
import { applyScale, patchScale } from "./scale.ts";
import {
  bodyBytesMax,
  checkView,
  contentType,
  readCommonOptions,
  sendWritten,
  type WriteOptions,
  writeRequest,
} from "./write-request.ts";

/** Creates a patcher from a body, by media type. */
const patchers: Readonly<Record<string, (body: Buffer, options: WriteOptions) => Patcher>> = {
  "application/json-patch+json": (body, { fieldValidation }) => jsonPatcher(body, fieldValidation),
  "application/merge-patch+json": (body, { fieldValidation }) => mergePatcher(body, fieldValidation),
  "application/strategic-merge-patch+json": (body) => strategicMergePatcher(body),
};

const applyPatchType = "application/apply-patch+yaml";

/** In the order of upstream's errors. */
const patchTypes = [...Object.keys(patchers), applyPatchType, applyPatchCborType];

/** The body's media type as written: upstream removes only the parameters. */
function patchType({ exchange }: RequestContext): string {
  const header = exchange.header("content-type") ?? "";
  const end = header.indexOf(";");
  return end > 0 ? header.slice(0, end) : header;
}

/**
 * Checks the type of a patch before Accept is read and warnings are collected, as upstream's router
 * does for built-in resources. It accepts a list of types.
 *
 * @throws ApiError 415 when none of them is supported
 */
export function checkPatchRoute({ exchange }: RequestContext, { gates }: RegistryContext): void {
  const header = exchange.header("content-type") ?? "";
  if (Object.hasOwn(patchers, header)) return;
  const types = header.split(",").map((type) => (type.split(";")[0] as string).trim());
  if (!types.some((type) => servedTypes(gates).includes(type))) throw unsupportedPatchType();
}

/**
 * @throws ApiError 415, which lists the accepted types, when the kind does not support the patch
 *   type
 */
export function checkPatchType(context: RequestContext, { gates }: RegistryContext): void {
  const { custom } = (context.resolved as Resolved).resource.definition;
  // They have no merge keys.
  const types = servedTypes(gates).filter((type) => !(custom && type.includes("strategic")));
  if (!types.includes(patchType(context))) throw unsupportedMediaType(types);
}

function servedTypes(gates: FeatureGates): readonly string[] {
  return gates.enabled("CBORServingAndStorage") ? patchTypes : patchTypes.filter((type) => type !== applyPatchCborType);
}

/**
 * Serves a PATCH.
 * @throws ApiError 400, 403, 404, 409, 413, 415, 422
 */
export async function patchObject(
  context: RequestContext,
  registry: RegistryContext,
  authorize: Authorizer,
): Promise<void> {
  const target = context.resolved as Resolved;
  checkView(context, target);
  checkPatchType(context, registry);
  const make = patchers[patchType(context)];
  if (make === undefined) return applyObject(context, registry, authorize);
  checkObjectName(context.info);
  const body = await context.exchange.body(bodyBytesMax);
  context.exchange.entered?.("decode");
  if (context.audit !== undefined) auditDocument(context.audit, body, contentType(context));
  const options = readPatchOptions(context.info.query, { apply: false });
  const { fieldValidation } = options;
  const request = {
    ...writeRequest(context, options),
    patcher: make(body, options),
    fieldValidation,
    ifMatch: context.exchange.header("if-match"),
  };
  if (request.subresource === "scale") await patchScale(context, registry, request);
  else await sendWritten(context, await patch(registry, request));
}

async function applyObject(context: RequestContext, registry: RegistryContext, authorize: Authorizer): Promise<void> {
  checkObjectName(context.info);
  const body = await context.exchange.body(bodyBytesMax);
  context.exchange.entered?.("decode");
  if (context.audit !== undefined) auditDocument(context.audit, body, contentType(context));
  const options = readPatchOptions(context.info.query, { apply: true });
  const { fieldValidation, force } = options;
  const isCbor = patchType(context) === applyPatchCborType;
  const ifMatch = context.exchange.header("if-match");
  const checkCreate = createCheck(context, authorize);
  const request = { ...writeRequest(context, options), body, isCbor, force, fieldValidation, ifMatch, checkCreate };
  if (request.subresource === "scale") await applyScale(context, registry, request);
  else await sendWritten(context, await apply(registry, request));
}

/** The error of upstream's router for a patch of an unknown type. */
function unsupportedPatchType(): ApiError {
  return new ApiError({
    code: 415,
    reason: "UnsupportedMediaType",
    message: "415: Unsupported Media Type",
    details: {},
  });
}

/** @throws ApiError 422 */
function readPatchOptions(query: URLSearchParams, { apply }: { readonly apply: boolean }): WriteOptions {
  const errors = new FieldErrors();
  if (apply && (query.get("fieldManager") ?? "") === "") errors.required("fieldManager", "is required for apply patch");
  if (!apply && query.has("force")) errors.forbidden("force", "may not be specified for non-apply patch");
  const options = readCommonOptions(query, errors);
  throwInvalidOptions("PatchOptions", errors);
  return { ...options, force: parseQueryBool(query.get("force")) === true };
}
