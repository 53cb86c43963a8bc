/** PATCH of an object, or of a view of it (`/status`, `/scale` …). Source: resource-api §4.2, §4.5. */
import { unsupportedMediaType } from "../../api/errors.ts";
import { applyPatchCborType } from "../../lib/cbor/media-types.ts";
import { apply } from "../../registry/apply.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { readPatchOptions, type WriteOptions } from "../../registry/options.ts";
import type { Patcher } from "../../registry/patch/contract.ts";
import { jsonPatcher } from "../../registry/patch/json-patch.ts";
import { mergePatcher } from "../../registry/patch/merge-patch.ts";
import { strategicMergePatcher } from "../../registry/patch/strategic-merge-patch.ts";
import { patch } from "../../registry/patch.ts";
import type { Resolved } from "../../resource/contract.ts";
import { auditDocument } from "../audited-objects.ts";
import type { RequestContext } from "../contract.ts";
import { applyScale, patchScale } from "./scale.ts";
import { bodyBytesMax, checkView, contentType, sendWritten, unsupportedPatchType, writeRequest } from "./write-request.ts";

/** What makes a patcher of a body, by media type. */
const patchers: Readonly<Record<string, (body: Buffer, options: WriteOptions) => Patcher>> = {
  "application/json-patch+json": (body, { fieldValidation }) => jsonPatcher(body, fieldValidation),
  "application/merge-patch+json": (body, { fieldValidation }) => mergePatcher(body, fieldValidation),
  "application/strategic-merge-patch+json": (body) => strategicMergePatcher(body),
};

const applyPatchType = "application/apply-patch+yaml";

/** What custom resources take, as their refusal names it: nothing says which of their lists merge. */
const customPatchTypes = ["application/json-patch+json", "application/merge-patch+json", applyPatchType, applyPatchCborType];

/** Whether the media type is that of a server-side apply; in CBOR it is only where that is served. */
function isApplyPatch(type: string, { gates }: RegistryContext): boolean {
  return type === applyPatchType || (type === applyPatchCborType && gates.enabled("CBORServingAndStorage"));
}

/** @throws ApiError 400, 403, 404, 409, 413, 415, 422 */
export async function patchObject(context: RequestContext, registry: RegistryContext): Promise<void> {
  const target = context.resolved as Resolved;
  checkView(context, target);
  const type = contentType(context);
  const { custom } = target.resource.definition;
  if (isApplyPatch(type, registry)) return applyObject(context, registry);
  const make = Object.hasOwn(patchers, type) && !(custom && type.includes("strategic")) ? patchers[type] : undefined;
  if (make === undefined)
    throw custom
      ? unsupportedMediaType(customPatchTypes.filter((name) => name !== applyPatchCborType || isApplyPatch(name, registry)))
      : unsupportedPatchType();
  const body = await context.exchange.body(bodyBytesMax);
  if (context.audit !== undefined) auditDocument(context.audit, body, contentType(context));
  const options = readPatchOptions(context.info.query, { apply: false });
  const { fieldValidation } = options;
  const request = { ...writeRequest(context, options), patcher: make(body, options), fieldValidation, ifMatch: context.exchange.header("if-match") };
  if (request.subresource === "scale") await patchScale(context, registry, request);
  else await sendWritten(context, await patch(registry, request));
}

async function applyObject(context: RequestContext, registry: RegistryContext): Promise<void> {
  const body = await context.exchange.body(bodyBytesMax);
  if (context.audit !== undefined) auditDocument(context.audit, body, contentType(context));
  const options = readPatchOptions(context.info.query, { apply: true });
  const { fieldValidation, force } = options;
  const isCbor = contentType(context) === applyPatchCborType;
  const request = { ...writeRequest(context, options), body, isCbor, force, fieldValidation, ifMatch: context.exchange.header("if-match") };
  if (request.subresource === "scale") await applyScale(context, registry, request);
  else await sendWritten(context, await apply(registry, request));
}
