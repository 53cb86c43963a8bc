/**
 * Paths of custom resources. Source:
 * `k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/customresource_handler.go`
 */
import { badRequest, methodNotSupported, notFound } from "../apimachinery/errors.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { RequestContext, RequestInfo } from "./contract.ts";
import type { Endpoint } from "./serve-resource.ts";

/**
 * Whether the path matches the kind's scope: a namespace for namespaced kinds, or none to list and
 * watch all namespaces.
 */
export function isInScope({ verb, namespace }: RequestInfo, { resource }: Resolved): boolean {
  if (!resource.definition.namespaced) return namespace === "";
  return namespace !== "" || verb === "list" || verb === "watch";
}

/**
 * The endpoint of a custom resource. Further path segments are ignored.
 * @param verbs endpoints by verb
 * @throws ApiError 404 when the version has no such subresource, 405 when that does not support the
 *   verb
 */
export function customEndpoint(
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

/** @throws ApiError 400 for a path without a name, which only updates of custom resources reach */
export function checkObjectName({ info }: RequestContext): void {
  if (info.name === "") throw badRequest("name must be provided");
}
