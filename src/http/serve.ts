/** The request flow: request info, filters, and the endpoint that the path and the verb select. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../apimachinery/clock.ts";
import { methodNotAllowed, resourceNotServed } from "../apimachinery/errors.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { pathNotFound } from "../request/answer.ts";
import { runGuarded } from "../request/boundary.ts";
import type { Filter, PathHandler, PathRoute } from "../request/context.ts";
import type { Exchange } from "../request/exchange.ts";
import { type RequestInfo, requestInfo } from "../request/request-info.ts";
import type { Endpoint, RequestContext, RequestExtension, ResourceEndpoints } from "./contract.ts";
import { isInScope, serveCustom } from "./custom-paths.ts";
import { auditDeprecation, warnOfDeprecation } from "./deprecation.ts";
import { checkPatchRoute } from "./endpoints/patch.ts";
import { isUnexpected, sendError } from "./errors.ts";
import type { Encoding } from "./representation/contract.ts";
import { checkRoute, negotiate } from "./representation/negotiate.ts";
import { allowsVerb, checkMethod, checkPath, checkPathName, checkSubresource } from "./routes.ts";

/** The dependencies of the request flow. */
interface ServeParts {
  readonly filters: readonly Filter<RequestContext>[];
  readonly registry: RegistryContext;
  readonly endpoints: ResourceEndpoints;
  readonly routes: readonly PathRoute<RequestContext>[];
  /** Finds the handler of a request that another server serves. */
  readonly forwarded?: (context: RequestContext) => PathHandler<RequestContext> | undefined;
  /** The supported encodings; the first is the default. */
  readonly encodings: readonly Encoding[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called for each unexpected error of a request, which is logged, too. */
  readonly failed?: () => void;
  /** See `RequestExtension.entered`. */
  readonly entered?: RequestExtension["entered"] | undefined;
}

const noUser: UserInfo = { name: "", uid: "", groups: [], extra: new Map() };
const noInfo: RequestInfo = requestInfo("", "/");

/** @returns the function that the listener calls for each request; it never throws */
export function createServe(parts: ServeParts): (exchange: Exchange) => void {
  const route = pathRouter(parts.routes);
  const { entered } = parts;
  return (exchange) => {
    if (entered !== undefined) exchange.entered = (stage) => entered(exchange, stage);
    const context = newContext(exchange, parts.clock.now(), parts.encodings);
    const fail = (error: unknown): void => endWithError(context, error, parts);
    exchange.onFailure(fail);
    const returned = (): void => context.execution?.returned();
    void handle(context, parts, route)
      .catch(fail)
      .then(() => runGuarded(exchange, "returned", returned));
  };
}

/**
 * Answers a request that has failed. When this fails, too, such as for a status that HTTP cannot
 * carry, answers with the second error, and when that is not possible either, aborts the response.
 * Never throws.
 */
function endWithError(context: RequestContext, error: unknown, parts: ServeParts): void {
  try {
    report(context, error, parts);
  } catch (second) {
    try {
      context.warnings.length = 0;
      for (const name of Object.keys(context.headers)) delete context.headers[name]; // They may be the cause.
      report(context, second, parts);
    } catch (third) {
      parts.failed?.();
      parts.logger.error("Failed to report an error", { path: context.info.path, error: String(third) });
      context.exchange.abort();
    }
  }
}

function report(context: RequestContext, error: unknown, { logger, failed }: ServeParts): void {
  if (isUnexpected(error)) failed?.();
  sendError(context, error, logger);
}

async function handle(
  context: MutableContext,
  parts: ServeParts,
  route: (path: string) => PathHandler<RequestContext> | undefined,
): Promise<void> {
  const { exchange } = context; // The audit filter replaces it.
  exchange.entered?.("parse");
  context.info = requestInfo(exchange.method, exchange.target);
  for (const filter of parts.filters) {
    exchange.entered?.("filter");
    const pending = filter(context);
    if (pending !== undefined) await pending;
    if (exchange.answered) return;
  }
  exchange.entered?.("route");
  const registry = registryOf(context, parts);
  const forwarded = parts.forwarded?.(context);
  if (forwarded !== undefined) return forwarded(context);
  if (context.info.isResourceRequest && !context.info.isMalformed)
    return serveResource(context, registry, parts.endpoints);
  return (route(context.info.path) ?? pathNotFound)(context);
}

/** The registry reports the stages of a request whose stages are observed. */
function registryOf({ probe, exchange: { entered } }: RequestContext, parts: ServeParts): RegistryContext {
  const registry = probe?.registry ?? parts.registry;
  return entered === undefined ? registry : { ...registry, entered };
}

type MutableContext = { -readonly [K in keyof RequestContext]: RequestContext[K] };

function newContext(exchange: Exchange, receivedAt: number, encodings: readonly Encoding[]): MutableContext {
  const sentId = exchange.header("audit-id");
  return {
    exchange,
    info: noInfo,
    receivedAt,
    endsAt: Number.POSITIVE_INFINITY,
    auditId: sentId !== undefined && /^[\x21-\x7e]{1,64}$/.test(sentId) ? sentId : randomUUID(),
    user: noUser,
    resolved: undefined,
    encodings,
    representation: { shape: { kind: "object" }, encoding: encodings[0] as Encoding },
    audit: undefined,
    annotations: undefined,
    gzip: false,
    explanation: undefined,
    execution: undefined,
    warnings: [],
    headers: {},
  };
}

function pathRouter(
  routes: readonly PathRoute<RequestContext>[],
): (path: string) => PathHandler<RequestContext> | undefined {
  const exact = new Map(routes.filter(({ path }) => !path.endsWith("*")).map(({ path, handler }) => [path, handler]));
  const prefixes = routes
    .filter(({ path }) => path.endsWith("*"))
    .map(({ path, handler }) => ({ prefix: path.slice(0, -1), handler }));
  return (path) => exact.get(path) ?? prefixes.find(({ prefix }) => path.startsWith(prefix))?.handler;
}

/**
 * Routes a request for a resource.
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
    if (!registry.catalog.isBuiltinGroup(info.group)) return pathNotFound(context);
    throw resourceNotServed();
  }
  const { custom } = resolved.resource.definition;
  // Upstream's routes of a group precede those of definitions.
  if (custom && registry.catalog.isBuiltinGroup(info.group)) throw resourceNotServed();
  if (custom && !isInScope(info, resolved)) return pathNotFound(context);
  if (!custom) return serveBuiltin(context, resolved, registry, endpoints);
  context.resolved = resolved;
  return serveCustom(context, resolved, registry, endpoints);
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
  const connects = checkMethod(context, resolved);
  checkSubresource(context, resolved);
  if (info.verb === "watch" && exchange.method !== "GET") throw methodNotAllowed(); // `/watch/` paths accept only GET.
  const endpoint = special ?? endpointOf(context, resolved, endpoints);
  if (info.verb === "patch" && special === undefined) checkPatchRoute(context, registry);
  context.resolved = resolved; // Errors of routes are not in encodings of groups.
  if (!connects) checkRoute(context);
  if (resolved.version.deprecated !== undefined) {
    warnOfDeprecation(context, resolved);
    auditDeprecation(context, resolved);
  }
  if (!connects) context.representation = negotiate(context, special !== undefined);
  checkPathName(context);
  return endpoint(context, registry);
}

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
