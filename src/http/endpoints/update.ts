/** PUT of an object, or of a subresource with the object's kind (`/status`, `/scale` …). */

import type { KubeObject } from "../../apimachinery/object.ts";
import type { Authorizer } from "../../authorization/contract.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { decodeBody, expectedKind, toStorageVersion } from "../../registry/decode-body.ts";
import { parseLarge } from "../../registry/parse-large.ts";
import { checkNames, dedupOwnerReferences } from "../../registry/prepare.ts";
import { update } from "../../registry/update.ts";
import type { RequestContext } from "../contract.ts";
import { createCheck } from "./create-check.ts";
import { putScale } from "./scale.ts";
import {
  bodyBytesMax,
  checkContentType,
  checkView,
  contentType,
  decodeOptions,
  readWriteOptions,
  sendWritten,
  writeRequest,
} from "./write-request.ts";

/**
 * Serves a PUT.
 * @throws ApiError 400, 403, 404, 409, 413, 415, 422
 */
export async function updateObject(
  context: RequestContext,
  registry: RegistryContext,
  authorize: Authorizer,
): Promise<void> {
  const target = context.resolved as Resolved;
  checkView(context, target);
  const body = await context.exchange.body(bodyBytesMax);
  const options = readWriteOptions("UpdateOptions", context.info.query);
  checkContentType(context); // Later than for a create, as upstream.
  const request = writeRequest(context, options);
  if (request.subresource === "scale") return putScale(context, registry, request, body, options);
  const reading = {
    ...decodeOptions(context, registry, options),
    parsed: request.pause && (await parseLarge(body, contentType(context), request.pause)),
    checkNames: (object: KubeObject) => checkNames(object, request),
  };
  const decode = (): KubeObject => decodeBody(body, expectedKind(target), reading);
  let decoded: KubeObject | undefined = decode(); // Errors of the body precede errors of the object.
  dedupOwnerReferences(decoded.metadata, request.warnings, "sent"); // Warns even if the object does not exist.
  const uid = decoded.metadata.uid ?? "";
  const next = (): KubeObject => {
    const object = decoded ?? decode();
    decoded = undefined;
    return toStorageVersion(object, target);
  };
  const checkCreate = createCheck(context, authorize);
  await sendWritten(
    context,
    await update(registry, { ...request, uid, ifMatch: context.exchange.header("if-match"), checkCreate, next }),
  );
}
