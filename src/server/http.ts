/** Builds the request path: filters, endpoints and the listener. */

import type { ApiError } from "../apimachinery/errors.ts";
import { randomFraction } from "../apimachinery/random.ts";
import type { OpenAudit } from "../audit/open-audit.ts";
import { pendingBeforeReport } from "../controllers/storage-versions/own-versions.ts";
import { reportsStorageVersions } from "../controllers/storage-versions/status.ts";
import { forwardedRequests } from "../forwarding/aggregator/aggregated-requests.ts";
import type { Connect } from "../forwarding/contract.ts";
import type { FindNodeKubelet, ResourceProxies } from "../forwarding/proxy/resource-proxies.ts";
import type { RequestContext, RequestExtension } from "../http/contract.ts";
import { type OpenWatches, openWatches } from "../http/endpoints/open-watches.ts";
import { sendError } from "../http/errors.ts";
import { admissionExplanationFilter } from "../http/filters/admission-explanation.ts";
import { authorizationFilter } from "../http/filters/authorization.ts";
import { compressionFilter } from "../http/filters/compression.ts";
import { goawayFilter } from "../http/filters/goaway.ts";
import { httpLogFilter } from "../http/filters/http-log.ts";
import { impersonationFilter } from "../http/filters/impersonation.ts";
import { type OpenRequests, openRequests } from "../http/filters/open-requests.ts";
import { crossOriginFilter, strictTransportFilter } from "../http/filters/response-headers.ts";
import { endedWatchesFilter, retryAfterFilter } from "../http/filters/retry-after.ts";
import { storageVersionBarrier } from "../http/filters/storage-version-barrier.ts";
import { timeoutParameterFilter } from "../http/filters/timeout-parameter.ts";
import type { RequestedUpgrade } from "../http/listener/contract.ts";
import { type Listener, listen } from "../http/listener/listen.ts";
import { debugFlagsRoutes } from "../http/profiling/debug-flags.ts";
import { profilingRoutes } from "../http/profiling/profiling-routes.ts";
import { cbor } from "../http/representation/cbor.ts";
import { json } from "../http/representation/json.ts";
import { protobuf } from "../http/representation/protobuf.ts";
import { yaml } from "../http/representation/yaml.ts";
import { createServe } from "../http/serve.ts";
import type { RequestTracing } from "../http/tracing/request-tracing.ts";
import { handshakeMetrics } from "../metrics/certificate-metrics.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { Filter } from "../request/context.ts";
import { infoOfTarget, isConnectTarget, isWatchTarget } from "../request/request-info.ts";
import { clustersOf } from "../storage/routed-storage.ts";
import { reachedAt } from "./addresses.ts";
import type { ServerAggregation } from "./aggregation.ts";
import type { ServerAuthentication } from "./authentication.ts";
import type { ServerAuthorization } from "./authorization.ts";
import type { AllowedOrigins } from "./browsers.ts";
import type { Closers } from "./closers.ts";
import { componentProbes } from "./components.ts";
import { openDebugSocket } from "./debug-socket.ts";
import type { ServerEncryption } from "./encryption.ts";
import { resourceEndpoints } from "./endpoints.ts";
import type { ServerFlowControl } from "./flow-control.ts";
import { openKubelet } from "./kubelet.ts";
import { watchLoop } from "./loop-watch.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import type { ServerPeers } from "./peers.ts";
import { documentRoutes, serverHealthRoutes, storeRoutes } from "./routes.ts";
import type { ServingSetup } from "./serving/serving-setup.ts";
import type { ServerState } from "./state.ts";

interface HttpNeeds {
  readonly registry: RegistryContext;
  readonly audit: OpenAudit;
  readonly authentication: ServerAuthentication;
  readonly authorization: ServerAuthorization;
  readonly aggregation: ServerAggregation;
  readonly peers: ServerPeers | undefined;
  readonly flowControl: ServerFlowControl;
  readonly metrics: ServerMetrics;
  readonly encryption: ServerEncryption | undefined;
  readonly allowedOrigins: AllowedOrigins;
  readonly serving: ServingSetup;
  readonly state: ServerState;
  readonly closers: Closers;
  readonly tracing: RequestTracing | undefined;
  readonly extension: RequestExtension | undefined;
}

export interface ServerHttp {
  readonly listener: Listener;
  readonly watches: OpenWatches;
  readonly open: OpenRequests;
}

/** Listens from here on. @throws Error when the port is taken */
export async function openHttp(options: ServerOptions, needs: HttpNeeds): Promise<ServerHttp> {
  const { bindAddress: host, securePort, minRequestTimeoutMs: timeoutMinMs, clock, logger } = options;
  const { registry, metrics, serving, state, closers } = needs;
  const kubelet = await openKubelet(options, { observer: metrics.kubelet, closers });
  const watches = openWatches({ timeoutMinMs, ...metrics.watches });
  const timing = requestTiming(options, metrics);
  const open = openRequests(timing);
  closers.add(() => open.close());
  await openDebugSocket(options, { registry, routes: profilingOf(options), closers });
  const serve = createServe({
    filters: filtersOf(options, needs, timing, open),
    registry,
    endpoints: resourceEndpoints({
      watches,
      clock,
      connections: { ...proxies(options, kubelet.findKubelet), ...kubelet.connections },
      components: componentProbes(clustersOf(registry.storage)),
      ...needs,
    }),
    routes: routesOf(options, needs),
    forwarded: forwardedRequests(needs.aggregation.find, needs.peers?.requests),
    encodings: [json, yaml, ...protobuf, ...(registry.gates.enabled("CBORServingAndStorage") ? [cbor] : [])],
    clock,
    logger,
    failed: metrics.unexpected.ofRequest,
    entered: needs.extension?.entered,
  });
  const listener = await listen({
    host,
    port: securePort,
    serving: serving.material(),
    tls: serving.limits,
    http2: !options.disableHttp2Serving,
    reusePort: options.permitPortSharing,
    ...(options.http2MaxStreamsPerConnection > 0 && { limits: { streamsMax: options.http2MaxStreamsPerConnection } }),
    onExchange: needs.tracing?.serve(serve) ?? serve,
    work: watchLoop(logger, needs),
    acceptsUpgrade: (requested) => acceptsUpgrade(requested, needs),
    clock,
    logger,
  });
  closers.add(() => listener.close());
  state.port = listener.port;
  metrics.add(handshakeMetrics(() => listener.handshakeErrors));
  return { listener, watches, open };
}

/** Watches over a WebSocket, and connections and other servers over any protocol. */
function acceptsUpgrade(
  { method, target, protocol }: RequestedUpgrade,
  { aggregation, peers }: Pick<HttpNeeds, "aggregation" | "peers">,
): boolean {
  const info = infoOfTarget(target);
  if (info === undefined) return false;
  if (isConnectTarget(target) || aggregation.find(info.path) !== undefined || peers?.requests?.isElsewhere(info))
    return true;
  return method === "GET" && protocol === "websocket" && isWatchTarget(target);
}

type Timing = Parameters<typeof timeoutParameterFilter>[0];

function requestTiming({ clock, logger, requestTimeoutMs: timeoutMs }: ServerOptions, metrics: ServerMetrics): Timing {
  const expire = (context: RequestContext, error: ApiError): void => {
    metrics.requests.terminated(context);
    sendError(context, error, logger);
  };
  return { clock, timeoutMs, expire, late: metrics.requests.terminated };
}

type ServeOptions = Parameters<typeof createServe>[0];

/** In the order in which a request passes them. */
function filtersOf(
  options: ServerOptions,
  needs: HttpNeeds,
  timing: Timing,
  open: OpenRequests,
): ServeOptions["filters"] {
  const { explain: explains } = options.admission;
  const { registry, audit, authentication, authorization, flowControl, metrics } = needs;
  const { gates, clock } = registry;
  const { authorize, attempted } = authorization;
  const fraction = (): number => randomFraction(registry.random);
  const authenticate = metrics.authentication.around(authentication.filter);
  const authenticateAudited = audit.filters?.authentication(authenticate) ?? authenticate;
  const constrained = gates.enabled("ConstrainedImpersonation");
  const { extension, tracing } = needs;
  const traced = tracing?.filter ?? ((_name, filter) => filter);
  return [
    ...(extension === undefined ? [] : [probeFilter(extension)]),
    ...(options.shutdownSendRetryAfter ? [retryAfterFilter(() => needs.state.isDraining)] : []),
    endedWatchesFilter(() => needs.state.isDraining),
    ...logFilters(options),
    open.filter,
    metrics.requests.filter,
    ...(options.goawayChance > 0 ? [goawayFilter(options.goawayChance, fraction)] : []),
    ...browserFilters(options, needs),
    ...(gates.enabled("APIResponseCompression") ? [compressionFilter] : []),
    timeoutParameterFilter(timing),
    tracing?.authentication(authenticateAudited) ?? authenticateAudited,
    ...(audit.filters === undefined ? [] : [traced("audit", audit.filters.filter)]),
    traced(
      constrained ? "constrainedimpersonation" : "impersonation",
      impersonationFilter(authorize, { constrained, observer: metrics.impersonation }),
    ),
    ...flowControl.filters.map((filter) => traced("priorityandfairness", filter)),
    traced("authorization", authorizationFilter(authorize, { attempted, clock })),
    ...(reportsStorageVersions(registry) ? [storageVersionBarrier(pendingVersions(needs))] : []),
    ...(explains ? [admissionExplanationFilter(registry.findDenial)] : []),
    ...(extension === undefined ? [] : [(context: RequestContext) => context.probe?.enter(context, registry)]),
  ];
}

/** Until the first report begins, all versions are pending. */
function pendingVersions({ registry, state }: HttpNeeds): Parameters<typeof storageVersionBarrier>[0] {
  const all = pendingBeforeReport(registry.catalog);
  return () => state.pendingVersions ?? all;
}

function logFilters({ verbosity, logger }: ServerOptions): Filter<RequestContext>[] {
  return verbosity === undefined ? [] : [httpLogFilter(verbosity, logger, () => performance.now())];
}

/** Browsers ask without credentials what they may do. */
function browserFilters(
  { strictTransportSecurity = [] }: ServerOptions,
  { allowedOrigins }: Pick<HttpNeeds, "allowedOrigins">,
): Filter<RequestContext>[] {
  return [
    ...(strictTransportSecurity.length > 0 ? [strictTransportFilter(strictTransportSecurity)] : []),
    ...(allowedOrigins === undefined ? [] : [crossOriginFilter(allowedOrigins)]),
  ];
}

function probeFilter(extension: RequestExtension): Filter<RequestContext> {
  const probe = (context: RequestContext): void => {
    context.probe = extension.probe(context);
  };
  return (context) => {
    const pending = extension.ready(context);
    return pending === undefined ? probe(context) : pending.then(() => probe(context));
  };
}

function routesOf(options: ServerOptions, needs: HttpNeeds): ServeOptions["routes"] {
  const { registry, authentication, flowControl, metrics, state } = needs;
  const { storage, catalog, gates } = registry;
  const serverAddress = (): string => reachedAt(options, state);
  const health = serverHealthRoutes(
    storage,
    { state, catalog, gates, hooks: flowControl.healthChecks, encryption: needs.encryption, options },
    { ...needs.aggregation, ...metrics.health },
  );
  return [
    ...health,
    ...storeRoutes(storage, options),
    ...documentRoutes({ ...needs, catalog, gates, serverAddress, health, options, issuer: authentication.routes }),
    ...authentication.routes,
    ...flowControl.routes,
    ...(needs.extension?.routes ?? []),
    ...(options.profiling ? profilingOf(options) : []),
    { path: "/metrics", handler: metrics.handler },
    { path: "/metrics/slis", handler: metrics.sliHandler },
  ];
}

/** As upstream, both by one flag; a debug socket has them in any case. */
function profilingOf({ verbosity, clock }: ServerOptions): ServeOptions["routes"] {
  return [...profilingRoutes(clock), ...(verbosity === undefined ? [] : debugFlagsRoutes(verbosity))];
}

/** @returns the connections by `resource/subresource` of the core group */
function proxies(
  { proxiedAddresses, maxConnectionBytesPerSec }: Pick<ServerOptions, "proxiedAddresses" | "maxConnectionBytesPerSec">,
  findKubelet: FindNodeKubelet,
): Readonly<Record<string, Connect>> {
  let opened: Promise<ResourceProxies> | undefined;
  const open = async (): Promise<ResourceProxies> => {
    const { resourceProxies } = await import("../forwarding/proxy/resource-proxies.ts");
    return resourceProxies({
      policy: proxiedAddresses,
      findKubelet,
      bytesPerSecondMax: maxConnectionBytesPerSec,
    });
  };
  const through =
    (resource: keyof ResourceProxies): Connect =>
    async (...request) => {
      opened ??= open();
      return (await opened)[resource](...request);
    };
  return { "pods/proxy": through("pods"), "services/proxy": through("services"), "nodes/proxy": through("nodes") };
}
