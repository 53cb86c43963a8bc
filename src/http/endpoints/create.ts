/** POST to a collection, and to the name of a custom resource. */

import { methodNotAllowed } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { create } from "../../registry/create.ts";
import { decodeBody, expectedKind, toStorageVersion } from "../../registry/decode-body.ts";
import { parseLarge } from "../../registry/parse-large.ts";
import { checkNamespace } from "../../registry/prepare.ts";
import type { RequestContext } from "../contract.ts";
import {
  bodyBytesMax,
  checkContentType,
  contentType,
  decodeOptions,
  readWriteOptions,
  sendWritten,
  writeRequest,
} from "./write-request.ts";

/**
 * Serves a POST.
 * @throws ApiError 400, 403, 404, 405, 409, 413, 415, 422
 */
export async function createObject(context: RequestContext, registry: RegistryContext): Promise<void> {
  const target = context.resolved as Resolved;
  if (context.info.subresource !== "" || target.resource.store === undefined) throw methodNotAllowed();
  checkContentType(context);
  const body = await context.exchange.body(bodyBytesMax);
  const options = readWriteOptions("CreateOptions", context.info.query);
  const request = writeRequest(context, options);
  const checkNames = (object: KubeObject): void => checkNamespace(object, request.namespace);
  const parsed = request.pause && (await parseLarge(body, contentType(context), request.pause));
  const reading = { ...decodeOptions(context, registry, options), checkNames, parsed };
  const decode = (): KubeObject => toStorageVersion(decodeBody(body, expectedKind(target), reading), target);
  await sendWritten(context, await create(registry, { ...request, decode }));
}
