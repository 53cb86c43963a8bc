/** DELETE of a collection. Source: resource-api §4.2. */
import { type ApiError, invalid, methodNotAllowed } from "../../api/errors.ts";
import { FieldErrors } from "../../api/field-errors.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { deleteMany } from "../../registry/delete-collection.ts";
import { parseListOptions } from "../../registry/list-options.ts";
import { readDeleteOptions } from "../../registry/options.ts";
import type { Resolved } from "../../resource/contract.ts";
import { auditDeleteOptions } from "../audited-objects.ts";
import type { RequestContext } from "../contract.ts";
import type { PieceMemory } from "../representation/pieces.ts";
import { sendEntries } from "./list.ts";
import { bodyBytesMax, checkContentType, contentType, writeRequest } from "./write-request.ts";

/** @throws ApiError 400, 403, 409, 413, 415, 422 */
export async function deleteCollection(context: RequestContext, registry: RegistryContext, memory: PieceMemory): Promise<void> {
  const target = context.resolved as Resolved;
  if (target.resource.store === undefined) throw methodNotAllowed();
  const list = parseListOptions(context.info.query);
  const body = await context.exchange.body(bodyBytesMax);
  if (body.length > 0) checkContentType(context);
  const options = readDeleteOptions(context.info.query, body, contentType(context));
  if (context.audit !== undefined && body.length > 0) auditDeleteOptions(context.audit, body, contentType(context));
  if (options.ignoreReadError && registry.gates.enabled("AllowUnsafeMalformedObjectDeletion")) throw unsafeCollection();
  const request = writeRequest(context, { dryRun: options.dryRun, fieldManager: "" });
  await sendEntries(context, await deleteMany(registry, { ...request, options, list }), memory);
}

function unsafeCollection(): ApiError {
  const errors = new FieldErrors();
  errors.invalid(
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    true,
    "is not allowed with DELETECOLLECTION, try again after removing the option",
  );
  return invalid("meta.k8s.io", "DeleteOptions", "", errors.causes);
}
