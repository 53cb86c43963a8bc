import assert from "node:assert/strict";
import type { Resolved } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { type ListMeta, type ListResult, listEntries } from "../../registry/list.ts";
import { parseListOptions } from "../../request/list-options.ts";
import { auditedList } from "../audited-objects.ts";
import type { RequestContext } from "../contract.ts";
import { jsonListPieces } from "../representation/json-list.ts";
import type { ListMemory } from "../representation/list-pieces.ts";
import { objectView } from "../representation/object.ts";
import { checkList, metadataView } from "../representation/partial-metadata.ts";
import type { Piece } from "../representation/piece.ts";
import type { PieceMemory } from "../representation/piece-memory.ts";
import { sendPieces } from "../representation/pieces.ts";
import { tablePieces } from "../representation/table.ts";
import { namespaceOf } from "./get.ts";

/** GET of a collection. */
export async function listObjects(
  context: RequestContext,
  _registry: RegistryContext,
  memory: PieceMemory,
): Promise<void> {
  const { resource, converted } = context.resolved as Resolved;
  const options = parseListOptions(context.info.query);
  const inTurn = converted === undefined ? context.turn : context.turnWithSeats;
  await sendEntries(context, await listEntries(resource, namespaceOf(context), options, converted, inTurn), memory);
}

/**
 * Sends a collection at the request's version, in the negotiated form.
 * @throws ApiError 406 when the client accepts only a single object
 */
export async function sendEntries(context: RequestContext, found: ListResult, memory: PieceMemory): Promise<void> {
  const { shape, encoding } = context.representation;
  const result = shape.kind === "object" ? found : { ...found, meta: withoutShard(found.meta) };
  const requested = context.resolved as Resolved;
  const resolved = requested.converted?.shown ?? requested;
  if (shape.kind === "metadata") checkList(shape, resolved.resource);
  // A webhook can convert the same revision of an object differently at another time.
  const parts = context.gzip && requested.converted === undefined ? memory.deflated : undefined;
  if (shape.kind !== "table") {
    const view = shape.kind === "object" ? objectView(resolved) : metadataView(shape, resolved);
    const listed = isRecorded(context)
      ? auditedList(context, result, (whole) => jsonListPieces(view, whole, { memory, parts: undefined }))
      : result;
    return sendPieces(context, await encoding.list(view, listed, { memory, parts }), memory);
  }
  assert.ok(encoding.document !== undefined, "negotiation finds an encoding that has Tables");
  const tableOf = (whole: ListResult, own: ListMemory): Generator<Piece, void, void> =>
    tablePieces(whole, resolved, shape, context.receivedAt, own);
  const listed = isRecorded(context)
    ? auditedList(context, result, (whole) => tableOf(whole, { memory, parts: undefined }))
    : result;
  await sendPieces(context, encoding.document(tableOf(listed, { memory, parts }), memory), memory);
}

/** As upstream, Tables and lists of metadata do not show the shard. */
function withoutShard({ shardInfo: _shardInfo, ...meta }: ListMeta): ListMeta {
  return meta;
}

/** Whether the audit level includes the response object. */
function isRecorded({ audit }: RequestContext): boolean {
  return audit?.level === "RequestResponse";
}
