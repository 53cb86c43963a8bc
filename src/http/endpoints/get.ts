import { badRequest } from "../../apimachinery/errors.ts";
import { parseQueryBool } from "../../apimachinery/parse-bool.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { getEntry } from "../../registry/get.ts";
import type { RequestContext } from "../contract.ts";
import { sendEntry } from "../representation/object.ts";
import { getScale } from "./scale.ts";

/** GET of one object. */
/** GET of one object. */
export async function getObject(context: RequestContext, _registry: RegistryContext): Promise<void> {
  if (context.info.subresource === "scale") return getScale(context);
  const { info, resolved } = context;
  const { resource } = resolved as Resolved;
  checkNoExport(info.query);
  const request = {
    namespace: namespaceOf(context),
    name: info.name,
    resourceVersion: info.query.get("resourceVersion") ?? "",
  };
  await sendEntry(context, await getEntry(resource, request), 200, { cached: request.resourceVersion !== "" });
}

/**
 * Rejects the removed parameter `export`.
 * @throws ApiError 400
 */
export function checkNoExport(query: URLSearchParams): void {
  if (parseQueryBool(query.get("export")) === true)
    throw badRequest("the export parameter, deprecated since v1.14, is no longer supported");
}

/**
 * The namespace of a request. Empty for cluster-scoped resources, also for namespaces, whose path
 * contains one.
 */
export function namespaceOf({ info, resolved }: RequestContext): string {
  return (resolved as Resolved).resource.definition.namespaced ? info.namespace : "";
}
