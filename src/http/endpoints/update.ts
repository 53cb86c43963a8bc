/** PUT of an object, or of a view of it (`/status`, `/scale` …). Source: resource-api §4.2, §4.5. */
import { badRequest } from "../../api/errors.ts";
import type { KubeObject } from "../../api/object.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { decodeBody, type ExpectedKind, expectedKind, expectedSubresourceKind, toStorageVersion } from "../../registry/decode-body.ts";
import { readWriteOptions, type WriteOptions } from "../../registry/options.ts";
import { checkNames } from "../../registry/preconditions.ts";
import { updateScale } from "../../registry/scale.ts";
import { update } from "../../registry/update.ts";
import type { Resolved, SubresourceDefinition } from "../../resource/contract.ts";
import type { RequestContext } from "../contract.ts";
import { sendJsonBytes } from "../representation/object.ts";
import { encodeWithVersion } from "../representation/version.ts";
import { bodyBytesMax, checkContentType, sendWritten, viewOf, writeRequest } from "./write-request.ts";

/** @throws ApiError 400, 403, 404, 409, 413, 415, 422 */
export async function updateObject(context: RequestContext, registry: RegistryContext): Promise<void> {
  const target = context.resolved as Resolved;
  const view = viewOf(context, target);
  checkContentType(context);
  const body = await context.exchange.body(bodyBytesMax);
  const options = readWriteOptions("UpdateOptions", context.info.query);
  if (view?.name === "scale") return putScale(context, registry, { body, options, view });
  const request = writeRequest(context, options);
  const decode = decoder(context, registry, body, options, expectedKind(target));
  let decoded: KubeObject | undefined = decode(); // What is wrong with the body comes before what is wrong with the object.
  checkNames(decoded, request);
  const uid = decoded.metadata.uid ?? "";
  const next = (): KubeObject => {
    const object = decoded ?? decode();
    decoded = undefined;
    return toStorageVersion(object, target);
  };
  sendWritten(context, await update(registry, { ...request, uid, ifMatch: context.exchange.header("if-match"), next }));
}

interface ScaleBody {
  readonly body: Buffer;
  readonly options: WriteOptions;
  readonly view: SubresourceDefinition;
}

async function putScale(context: RequestContext, registry: RegistryContext, { body, options, view }: ScaleBody): Promise<void> {
  const expected = scaleKind(context, view);
  const decode = decoder(context, registry, body, options, expected);
  const request = writeRequest(context, options);
  checkNames(decode(), request);
  const ifMatch = context.exchange.header("if-match");
  sendScale(context, await updateScale(registry, { ...request, ifMatch, next: decode }), expected);
}

export function scaleKind(context: RequestContext, view: SubresourceDefinition): ExpectedKind {
  const expected = expectedSubresourceKind(context.resolved as Resolved, view);
  if (expected === undefined) throw badRequest(`no schema for ${view.kind}`);
  return expected;
}

export function sendScale(context: RequestContext, scale: KubeObject, expected: ExpectedKind): void {
  sendJsonBytes(context, 200, encodeWithVersion(scale, expected.schema).json);
}

function decoder(
  context: RequestContext,
  { catalog }: RegistryContext,
  body: Buffer,
  options: WriteOptions,
  expected: ExpectedKind,
): () => KubeObject {
  return () => decodeBody(body, expected, { catalog, fieldValidation: options.fieldValidation, warnings: context.warnings });
}
