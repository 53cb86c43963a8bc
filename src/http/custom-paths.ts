/**
 * Paths of custom resources. Source:
 * `k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/customresource_handler.go`
 */
import { methodNotSupported, notFound } from "../apimachinery/errors.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { checkName, checkObjectName } from "../request/request-info.ts";
import type { Endpoint, RequestContext, ResourceEndpoints } from "./contract.ts";
import { auditDeprecation, warnOfDeprecation } from "./deprecation.ts";
import { checkPatchType } from "./endpoints/patch.ts";
import { negotiate } from "./representation/negotiate.ts";

/**
 * Whether the path matches the kind's scope: a namespace for namespaced kinds, or none to list and
 * watch all namespaces.
 */
export function isInScope({ verb, namespace }: RequestInfo, { resource }: Resolved): boolean {
  if (!resource.definition.namespaced) return namespace === "";
  return namespace !== "" || verb === "list" || verb === "watch";
}

/**
 * Routes a request for a custom resource.
 * @throws ApiError 400, 404, 405, 406, and those of the endpoint
 */
export function serveCustom(
  context: RequestContext,
  resolved: Resolved,
  registry: RegistryContext,
  { verbs }: ResourceEndpoints,
): void | Promise<void> {
  warnOfDeprecation(context, resolved);
  const endpoint = customEndpoint(context, resolved, verbs);
  auditDeprecation(context, resolved);
  if (context.info.verb === "patch") checkPatchType(context, registry);
  context.representation = negotiate(context, false);
  if (context.info.verb === "update") checkObjectName(context.info);
  if (context.info.verb !== "create") checkName(context.info);
  return endpoint(context, registry);
}

/**
 * The endpoint of a custom resource. Further path segments are ignored.
 * @param verbs endpoints by verb
 * @throws ApiError 404 when the version has no such subresource, 405 when that does not support the
 *   verb
 */
function customEndpoint(
  { info }: RequestContext,
  { resource, version }: Resolved,
  verbs: Readonly<Record<string, Endpoint>>,
): Endpoint {
  const { verb, name, subresource } = info;
  const view = version.subresources.find((one) => one.name === subresource);
  if (subresource !== "" && view === undefined) throw notFound(resource.definition, name);
  const isServed = (view ?? version).verbs.includes(verb);
  const endpoint = isServed ? verbs[verb] : undefined;
  if (endpoint === undefined) throw methodNotSupported(resource.definition, verb);
  return endpoint;
}
