/** DELETE of an object. */
import { forbidden, internalError, methodNotAllowed } from "../../apimachinery/errors.ts";
import { attributesOf } from "../../authorization/attributes-of.ts";
import type { Authorizer } from "../../authorization/contract.ts";
import type { Resolved, Resource } from "../../catalog/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { Deleted, RegistryContext } from "../../registry/contract.ts";
import { deleteOne } from "../../registry/delete.ts";
import { deleteOptionFields, readDeleteOptions } from "../../registry/delete-options.ts";
import { deleteUnreadable } from "../../registry/delete-unreadable.ts";
import { storedResource } from "../../registry/resource-names.ts";
import { auditDeleteOptions } from "../audited-objects.ts";
import type { RequestContext } from "../contract.ts";
import { sendStatus } from "../errors.ts";
import { sendEntry, sendObject } from "../representation/object.ts";
import { bodyBytesMax, checkContentType, contentType, writeRequest } from "./write-request.ts";

/**
 * Serves a DELETE of an object.
 * @throws ApiError 400, 403, 404, 405, 409, 413, 415, 422; 500 for an unsafe deletion of a namespace
 */
export async function deleteObject(
  context: RequestContext,
  registry: RegistryContext,
  authorize: Authorizer,
): Promise<void> {
  const target = context.resolved as Resolved;
  if (context.info.subresource !== "" || target.resource.store === undefined) throw methodNotAllowed();
  const body = await context.exchange.body(bodyBytesMax);
  context.exchange.entered?.("decode");
  if (body.length > 0) checkContentType(context);
  const decoded = auditDeleteOptions(context.audit);
  const sent = { query: context.info.query, body, mediaType: contentType(context), decoded };
  const options = readDeleteOptions(sent, {
    ignoreReadError: registry.gates.enabled("AllowUnsafeMalformedObjectDeletion"),
  });
  const request = writeRequest(context, { dryRun: options.dryRun, fieldManager: "" }, () =>
    deleteOptionFields(options),
  );
  if (options.ignoreReadError) {
    if (isNamespace(target.resource))
      throw internalError("no unsafe deleter provided, can not honor ignoreStoreReadErrorWithClusterBreakingPotential");
    await checkUnsafeDeletion(context, target.resource, authorize);
    await deleteUnreadable(registry, { ...request, options });
    const details = { name: context.info.name, kind: target.resource.definition.kind };
    return sendStatus(context, 200, {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details,
      code: 200,
    });
  }
  const deleted = await deleteOne(registry, { ...request, options, ifMatch: context.exchange.header("if-match") });
  const waits = deleted.kind === "dryRun" ? deleted.pending : deleted.kind === "pending";
  const status = waits && options.orphanDependents === false ? 202 : 200;
  await sendDeleted(context, target, deleted, status);
}

/** Upstream does not support unsafe deletion of namespaces. */
function isNamespace({ definition: { group, resource } }: Resource): boolean {
  return group === "" && resource === "namespaces";
}

const unsafeVerb = "unsafe-delete-ignore-read-errors";

/**
 * Requires permission for the unsafe verb in addition to delete.
 * @throws ApiError 403 with upstream's message
 */
async function checkUnsafeDeletion(context: RequestContext, resource: Resource, authorize: Authorizer): Promise<void> {
  const { decision, reason } = await authorize({ ...attributesOf(context), verb: unsafeVerb });
  if (decision !== "allow")
    throw forbidden(
      storedResource(resource),
      context.info.name,
      `not permitted to do ${quoteGo(unsafeVerb)}, reason: ${reason}`,
    );
}

/**
 * Sends the object if it remains for now or the kind returns deleted objects, otherwise a Status.
 */
async function sendDeleted(
  context: RequestContext,
  { resource }: Resolved,
  deleted: Deleted,
  status: number,
): Promise<void> {
  const { deleteReturnsObject } = resource.definition;
  if (deleted.kind === "dryRun") {
    const { object, pending } = deleted;
    if (object === undefined) sendObject(context, resource.definition.strategy.blank(), status);
    else if (!pending && !deleteReturnsObject) sendSuccess(context, resource, object.metadata.uid ?? "");
    else sendObject(context, object, status);
  } else if (deleted.kind === "gone" && !deleteReturnsObject) sendSuccess(context, resource, deleted.uid);
  else await sendEntry(context, deleted.entry, status);
}

function sendSuccess(context: RequestContext, resource: Resource, uid: string): void {
  const { group, resource: kind } = storedResource(resource);
  const details = { name: context.info.name, ...(group !== "" && { group }), kind, uid };
  sendStatus(context, 200, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details });
}
