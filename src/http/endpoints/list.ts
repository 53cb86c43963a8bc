import type { RegistryContext } from "../../registry/contract.ts";
import { listEntries } from "../../registry/list.ts";
import { parseListOptions } from "../../registry/list-options.ts";
import type { Resolved } from "../../resource/contract.ts";
import type { RequestContext } from "../contract.ts";
import { sendJsonBytes } from "../representation/object.ts";
import { tableBody } from "../representation/table.ts";
import { namespaceOf } from "./get.ts";
import { sendList } from "./list-body.ts";

/** GET of a collection. */
export async function listObjects(context: RequestContext, _registry: RegistryContext): Promise<void> {
  const { representation, receivedAt } = context;
  const resolved = context.resolved as Resolved;
  const result = await listEntries(resolved.resource, namespaceOf(context), parseListOptions(context.info.query));
  if (representation.kind !== "table") return sendList(context, result);
  sendJsonBytes(context, 200, tableBody(result.entries, resolved, representation, result.meta, receivedAt));
}
