/** The routes of built-in resources: which paths exist, and which verbs and methods they have. */
import { methodNotAllowed, resourceNotServed } from "../apimachinery/errors.ts";
import type { Resolved, SubresourceDefinition } from "../catalog/contract.ts";
import { checkName, checkObjectName, type RequestInfo, verbOfMethod } from "../request/request-info.ts";
import type { RequestContext } from "./contract.ts";

/**
 * @returns whether the path is that of a connection, whose response has any form
 * @throws ApiError 405
 */
export function checkMethod({ info, exchange: { method } }: RequestContext, { version }: Resolved): boolean {
  const connect = version.subresources.find(({ name }) => name === info.subresource)?.connect;
  const isAllowed = connect === undefined ? method !== "HEAD" && method !== "OPTIONS" : connect.includes(method);
  if (!isAllowed) throw methodNotAllowed();
  return connect !== undefined;
}

/** Rejects paths that contain a resource but match no route. @throws ApiError 404 */
export function checkPath({ info }: RequestContext, { resource, version }: Resolved): void {
  const { namespaced } = resource.definition;
  const [, name] = info.parts;
  const isNamespace = info.resource === "namespaces" && info.group === "";
  if (isWatchPath(info) && !version.verbs.includes("watch")) throw resourceNotServed();
  if (!namespaced && info.namespace !== "" && !isNamespace) throw resourceNotServed();
  if (namespaced && info.namespace === "" && name !== undefined) throw resourceNotServed();
  if (info.subresource === "") {
    if (info.parts.length > 2) throw resourceNotServed(); // An empty segment after the name.
    const ofCollection = namespaced && info.namespace === "" ? acrossNamespacesVerbs : collectionVerbs;
    if (!hasVerb(name === undefined ? ofCollection : itemVerbs, version)) throw resourceNotServed();
    return;
  }
  const subresource = version.subresources.find((one) => one.name === info.subresource);
  if (subresource === undefined || (info.parts.length > 3 && info.subresource !== "proxy")) throw resourceNotServed();
}

/**
 * Rejects methods that a subresource does not have, and a subresource of no object, such as `pods//log`.
 * @throws ApiError 400, 405
 */
export function checkSubresource({ info, exchange: { method } }: RequestContext, { version }: Resolved): void {
  if (info.subresource === "") return;
  const { connect, verbs = [] } = version.subresources.find(({ name }) => name === info.subresource) ?? {};
  if (connect === undefined && !verbs.includes(verbOfMethod[method] ?? "")) throw methodNotAllowed();
  checkObjectName(info);
}

/** Rejects a name that no object has. `/watch/` paths select by any name. @throws ApiError 400 */
export function checkPathName({ info }: RequestContext): void {
  if (!isWatchPath(info)) checkName(info);
}

const itemVerbs = ["get", "update", "patch", "delete"];
const collectionVerbs = ["list", "create"];
/** Objects with a namespace are not created across all namespaces. */
const acrossNamespacesVerbs = ["list"];

/** A path without a verb has no route, as those of objects that are not stored. */
function hasVerb(verbs: readonly string[], version: Resolved["version"]): boolean {
  return verbs.some((verb) => version.verbs.includes(verb));
}

/** Whether the path contains the verb, such as `/api/v1/watch/pods`. */
function isWatchPath({ path, apiPrefix }: RequestInfo): boolean {
  return path.split("/")[apiPrefix === "api" ? 3 : 4] === "watch";
}

/** Whether the path has the verb, if it has a route. */
export function allowsVerb({ info }: RequestContext, { resource, version }: Resolved): boolean {
  const [, name] = info.parts;
  const subresource: SubresourceDefinition | undefined = version.subresources.find(
    (one) => one.name === info.subresource,
  );
  if (subresource !== undefined) return subresource.verbs.includes(info.verb);
  const onCollection = name === undefined;
  const needsCollection = info.verb === "create" || info.verb === "list" || info.verb === "deletecollection";
  if (info.verb !== "watch" && needsCollection !== onCollection) return false;
  const acrossNamespaces = resource.definition.namespaced && info.namespace === "";
  if (acrossNamespaces && (info.verb === "create" || info.verb === "deletecollection")) return false;
  return version.verbs.includes(info.verb);
}
