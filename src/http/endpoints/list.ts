import type { RegistryContext } from "../../registry/contract.ts";
import { type ListResult, listEntries } from "../../registry/list.ts";
import { parseListOptions } from "../../registry/list-options.ts";
import type { Resolved, ResourceStore } from "../../resource/contract.ts";
import type { RequestContext } from "../contract.ts";
import { sendJsonBytes } from "../representation/object.ts";
import { tableBody } from "../representation/table.ts";
import { namespaceOf } from "./get.ts";
import { sendList } from "./list-body.ts";

/** GET of a collection. */
export async function listObjects(context: RequestContext, _registry: RegistryContext): Promise<void> {
  const { resource } = context.resolved as Resolved;
  await sendEntries(context, await listEntries(resource, namespaceOf(context), parseListOptions(context.info.query)));
}

/** Answers with a collection in the form that was asked for. */
export async function sendEntries(context: RequestContext, result: ListResult): Promise<void> {
  if (context.representation.kind === "table") sendTable(context, result);
  else await sendList(context, result);
}

function sendTable(context: RequestContext, { entries, meta }: ListResult): void {
  const { resolved, representation, receivedAt } = context as RequestContext & { resolved: Resolved };
  if (representation.kind !== "table") return;
  const { decode } = resolved.resource.store as ResourceStore;
  sendJsonBytes(context, 200, tableBody(entries, resolved, representation, meta, receivedAt, decode));
}
