/** The request flow: request info, filters, route, endpoint. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { Exchange, Filter, RequestContext, RequestInfo } from "./contract.ts";
import type { Encoding } from "./representation/contract.ts";
import { requestInfo } from "./request-info.ts";
import { pathNotFound, sendError } from "./respond.ts";
import { type ResourceEndpoints, serveResource } from "./serve-resource.ts";

/** Serves a path that names no resource. */
export type PathHandler = (context: RequestContext) => void | Promise<void>;

/** A path and its handler. */
export interface PathRoute {
  /** The exact path; with a `*` at the end, a prefix. */
  readonly path: string;
  readonly handler: PathHandler;
}

/** The dependencies of the request flow. */
interface ServeParts {
  readonly filters: readonly Filter[];
  readonly registry: RegistryContext;
  readonly endpoints: ResourceEndpoints;
  readonly routes: readonly PathRoute[];
  /** The supported encodings; the first is the default. */
  readonly encodings: readonly Encoding[];
  readonly clock: Clock;
  readonly logger: Logger;
}

const noUser: UserInfo = { name: "", uid: "", groups: [], extra: new Map() };
const noInfo: RequestInfo = requestInfo("", "/");

/** @returns the function that the listener calls for each request; it never throws */
export function createServe(parts: ServeParts): (exchange: Exchange) => void {
  const route = pathRouter(parts.routes);
  return (exchange) => {
    const context = newContext(exchange, parts.clock.now(), parts.encodings);
    handle(context, parts, route).catch((error: unknown) => sendError(context, error, parts.logger));
  };
}

async function handle(
  context: MutableContext,
  parts: ServeParts,
  route: (path: string) => PathHandler | undefined,
): Promise<void> {
  context.info = requestInfo(context.exchange.method, context.exchange.target);
  for (const filter of parts.filters) {
    const pending = filter(context);
    if (pending !== undefined) await pending;
  }
  if (context.info.isResourceRequest) return serveResource(context, parts.registry, parts.endpoints);
  const handler = route(context.info.path);
  if (handler === undefined) return pathNotFound(context);
  return handler(context);
}

type MutableContext = { -readonly [K in keyof RequestContext]: RequestContext[K] };

function newContext(exchange: Exchange, receivedAt: number, encodings: readonly Encoding[]): MutableContext {
  const sentId = exchange.header("audit-id");
  return {
    exchange,
    info: noInfo,
    receivedAt,
    auditId: sentId !== undefined && /^[\x21-\x7e]{1,64}$/.test(sentId) ? sentId : randomUUID(),
    user: noUser,
    resolved: undefined,
    encodings,
    representation: { shape: { kind: "object" }, encoding: encodings[0] as Encoding },
    audit: undefined,
    annotations: undefined,
    gzip: false,
    warnings: [],
    headers: {},
  };
}

function pathRouter(routes: readonly PathRoute[]): (path: string) => PathHandler | undefined {
  const exact = new Map(routes.filter(({ path }) => !path.endsWith("*")).map(({ path, handler }) => [path, handler]));
  const prefixes = routes
    .filter(({ path }) => path.endsWith("*"))
    .map(({ path, handler }) => ({ prefix: path.slice(0, -1), handler }));
  return (path) => exact.get(path) ?? prefixes.find(({ prefix }) => path.startsWith(prefix))?.handler;
}
