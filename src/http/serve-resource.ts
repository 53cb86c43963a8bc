/** Routes resource paths to the endpoint of their verb. */
import { badRequest, methodNotAllowed, resourceNotServed } from "../apimachinery/errors.ts";
import { formatGroupVersion } from "../apimachinery/object.ts";
import type { Resolved, SubresourceDefinition } from "../catalog/contract.ts";
import { isBuiltinGroup } from "../catalog/discovery.ts";
import { pathSegmentNameProblems } from "../lib/names/names.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { RequestContext, RequestInfo } from "./contract.ts";
import { checkObjectName, customEndpoint, isInScope } from "./custom-paths.ts";
import { checkPatchRoute, checkPatchType } from "./endpoints/patch.ts";
import { negotiate } from "./representation/negotiate.ts";
import { pathNotFound } from "./respond.ts";

/** Serves one verb of resources. */
export type Endpoint = (context: RequestContext, registry: RegistryContext) => void | Promise<void>;

/** The endpoints of a server. */
export interface ResourceEndpoints {
  /** By verb: get list watch create update patch delete deletecollection. */
  readonly verbs: Readonly<Record<string, Endpoint>>;
  /**
   * Endpoints by verb for resources whose objects are computed instead of stored, by
   * `group/resource`.
   */
  readonly computed: Readonly<Record<string, Readonly<Record<string, Endpoint>>>>;
  /** Endpoints of subresources with special behavior, by `group/resource/subresource`. */
  readonly subresources: Readonly<Record<string, Endpoint>>;
}

/**
 * Routes a request.
 * @throws ApiError 400, 404, 405, 406, and those of the endpoint
 */
export function serveResource(
  context: RequestContext,
  registry: RegistryContext,
  endpoints: ResourceEndpoints,
): void | Promise<void> {
  const { info } = context;
  const resolved = registry.catalog.find(info.group, info.version, info.resource);
  if (resolved === undefined || !resolved.version.served) {
    if (!isBuiltinGroup(registry.catalog.definitions(), info.group)) return pathNotFound(context);
    throw resourceNotServed();
  }
  const { custom } = resolved.resource.definition;
  if (custom && !isInScope(info, resolved)) return pathNotFound(context);
  context.resolved = resolved;
  return custom
    ? serveCustom(context, resolved, registry, endpoints)
    : serveBuiltin(context, resolved, registry, endpoints);
}

function serveBuiltin(
  context: RequestContext,
  resolved: Resolved,
  registry: RegistryContext,
  endpoints: ResourceEndpoints,
): void | Promise<void> {
  const { info, exchange } = context;
  if (info.verb === "proxy") throw resourceNotServed();
  const special =
    info.verb === "watch" ? undefined : endpoints.subresources[`${info.group}/${info.resource}/${info.subresource}`];
  checkPath(context, resolved);
  if (exchange.method === "HEAD" || exchange.method === "OPTIONS") throw methodNotAllowed();
  if (info.verb === "watch" && exchange.method !== "GET") throw methodNotAllowed(); // `/watch/` paths accept only GET.
  checkName(info.parts[1]);
  const endpoint = special ?? endpointOf(context, resolved, endpoints);
  if (info.verb === "patch" && special === undefined) checkPatchRoute(context, registry);
  warnOfDeprecation(context, resolved);
  auditDeprecation(context, resolved);
  context.representation = negotiate(context, special === undefined ? undefined : withoutTables);
  return endpoint(context, registry);
}

/** Every response of a deprecated version carries its warning, errors included. */
function serveCustom(
  context: RequestContext,
  resolved: Resolved,
  registry: RegistryContext,
  { verbs }: ResourceEndpoints,
): void | Promise<void> {
  warnOfDeprecation(context, resolved);
  const endpoint = customEndpoint(context, resolved, verbs);
  auditDeprecation(context, resolved);
  if (context.info.verb === "update") checkObjectName(context);
  if (context.info.verb === "patch") checkPatchType(context, registry);
  if (context.info.verb !== "create") checkName(context.info.parts[1]);
  context.representation = negotiate(context, undefined);
  return endpoint(context, registry);
}

/** Subresources with special behavior have no tables. */
const withoutTables = { tables: false };

/** @throws ApiError 405 */
function endpointOf(context: RequestContext, resolved: Resolved, { verbs, computed }: ResourceEndpoints): Endpoint {
  const { group, resource, subresource, verb } = context.info;
  const own = subresource === "" ? computed[`${group}/${resource}`] : undefined;
  if (own?.watch !== undefined && verb === "watch") return own.watch; // It throws a specific error.
  const all = own ?? verbs;
  const endpoint = Object.hasOwn(all, verb) ? all[verb] : undefined;
  if (endpoint === undefined || !allowsVerb(context, resolved)) throw methodNotAllowed();
  return endpoint;
}

function warnOfDeprecation(context: RequestContext, resolved: Resolved): void {
  const warning = deprecationWarning(resolved, context.info.subresource);
  if (warning !== undefined) context.warnings.push(warning);
}

function auditDeprecation({ audit, info }: RequestContext, resolved: Resolved): void {
  const { deprecated } = resolved.version;
  if (audit === undefined || deprecationWarning(resolved, info.subresource) === undefined) return;
  audit.annotate("k8s.io/deprecated", "true");
  if (deprecated !== undefined && "removedIn" in deprecated && deprecated.removedIn !== undefined)
    audit.annotate("k8s.io/removed-release", deprecated.removedIn);
}

/** Rejects paths that contain a resource but match no route. */
function checkPath({ info }: RequestContext, { resource, version }: Resolved): void {
  const { namespaced } = resource.definition;
  const [, name] = info.parts;
  const isNamespace = info.resource === "namespaces" && info.group === "";
  if (isWatchPath(info) && !version.verbs.includes("watch")) throw resourceNotServed();
  if (!namespaced && info.namespace !== "" && !isNamespace) throw resourceNotServed();
  if (namespaced && info.namespace === "" && name !== undefined) throw resourceNotServed();
  if (info.subresource === "") return;
  if (name === "") throw resourceNotServed();
  const subresource = version.subresources.find((one) => one.name === info.subresource);
  if (subresource === undefined || (info.parts.length > 3 && info.subresource !== "proxy")) throw resourceNotServed();
}

/** Whether the path contains the verb, such as `/api/v1/watch/pods`. */
function isWatchPath({ path, apiPrefix }: RequestInfo): boolean {
  return path.split("/")[apiPrefix === "api" ? 3 : 4] === "watch";
}

/**
 * Upstream's store validates every name as a path segment.
 * @throws ApiError 400
 */
function checkName(name = ""): void {
  const problems = pathSegmentNameProblems(name);
  if (problems.length > 0) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problems.join(";")}`);
}

function allowsVerb({ info }: RequestContext, { resource, version }: Resolved): boolean {
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

/**
 * The text of the `Warning` header for a deprecated version. Source:
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/deprecation/deprecation.go.
 * @param subresource empty for the main resource; subresources of other kinds (Scale) are
 *   deprecated only for custom resources
 * @returns undefined when the version is not deprecated
 */
export function deprecationWarning(
  { resource: { definition }, version }: Resolved,
  subresource: string,
): string | undefined {
  const { deprecated } = version;
  if (deprecated === undefined) return undefined;
  if ("warning" in deprecated) return deprecated.warning;
  if (subresource !== "" && version.subresources.find(({ name }) => name === subresource)?.kind !== definition.kind)
    return undefined;
  const { since, removedIn, replacement } = deprecated;
  const gone = removedIn === undefined ? "" : `, unavailable in v${removedIn}+`;
  const instead = replacement === undefined ? "" : `; use ${replacement}`;
  return `${formatGroupVersion(definition.group, version.version)} ${definition.kind} is deprecated in v${since}+${gone}${instead}`;
}
