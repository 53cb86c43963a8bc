/** DELETE of a collection. */
import { type ApiError, invalid, methodNotAllowed } from "../../apimachinery/errors.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { checkCollection, deleteMany } from "../../registry/delete-collection.ts";
import { deleteOptionFields, readDeleteOptions } from "../../registry/delete-options.ts";
import { parseListOptions } from "../../request/list-options.ts";
import { auditDeleteOptions } from "../audited-objects.ts";
import type { RequestContext } from "../contract.ts";
import type { PieceMemory } from "../representation/piece-memory.ts";
import { sendEntries } from "./list.ts";
import { bodyBytesMax, checkContentType, contentType, writeRequest } from "./write-request.ts";

/**
 * Serves a DELETE of a collection.
 * @throws ApiError 400, 403, 405, 409, 413, 415, 422
 */
export async function deleteCollection(
  context: RequestContext,
  registry: RegistryContext,
  memory: PieceMemory,
): Promise<void> {
  const target = context.resolved as Resolved;
  if (target.resource.store === undefined) throw methodNotAllowed();
  const list = parseListOptions(context.info.query);
  checkCollection(target.resource.definition, list, { initialEvents: registry.gates.enabled("WatchList") });
  const body = await context.exchange.body(bodyBytesMax);
  if (body.length > 0) checkContentType(context);
  const decoded = auditDeleteOptions(context.audit);
  const sent = { query: context.info.query, body, mediaType: contentType(context), decoded };
  const options = readDeleteOptions(sent, {
    ignoreReadError: registry.gates.enabled("AllowUnsafeMalformedObjectDeletion"),
  });
  if (options.ignoreReadError) throw unsafeCollection();
  const request = writeRequest(context, { dryRun: options.dryRun, fieldManager: "" }, () =>
    deleteOptionFields(options),
  );
  const inTurn = context.turnWithSeats;
  await sendEntries(context, await deleteMany(registry, { ...request, options, list, inTurn }), memory);
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
