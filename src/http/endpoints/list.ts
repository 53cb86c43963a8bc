import type { RegistryContext } from "../../registry/contract.ts";
import { type ListResult, listEntries } from "../../registry/list.ts";
import { parseListOptions } from "../../registry/list-options.ts";
import type { Resolved } from "../../resource/contract.ts";
import type { RequestContext } from "../contract.ts";
import { type PieceMemory, sendPieces } from "../representation/pieces.ts";
import { tablePieces } from "../representation/table.ts";
import { namespaceOf } from "./get.ts";
import { sendList } from "./list-body.ts";
import { sendMessageList } from "./message-list.ts";
import { sendYamlList } from "./yaml-list.ts";

/** GET of a collection. */
export async function listObjects(context: RequestContext, _registry: RegistryContext, memory: PieceMemory): Promise<void> {
  const { resource } = context.resolved as Resolved;
  await sendEntries(context, await listEntries(resource, namespaceOf(context), parseListOptions(context.info.query)), memory);
}

/** Answers with a collection in the form that was asked for. */
export async function sendEntries(context: RequestContext, result: ListResult, memory: PieceMemory): Promise<void> {
  const { representation, receivedAt } = context;
  if (representation.kind === "json") return sendList(context, result, memory);
  if (representation.kind === "yaml") return sendYamlList(context, result, memory);
  if (representation.kind === "protobuf") return sendMessageList(context, result, { memory, contentType: representation.mediaType });
  await sendPieces(context, tablePieces(result.entries, context.resolved as Resolved, representation, result.meta, receivedAt), { memory });
}
