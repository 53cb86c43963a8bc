/** Paths that are not resources. */
import type { FeatureGates, VersionedGates } from "../apimachinery/feature-gates.ts";
import type { Catalog } from "../catalog/contract.ts";
import { reportsStorageVersions } from "../controllers/storage-versions/status.ts";
import type { RequestContext } from "../http/contract.ts";
import { flagsHandler, statusHandler } from "../http/endpoints/debug-pages.ts";
import { createDiscovery } from "../http/endpoints/discovery.ts";
import { type HealthCheck, healthRoutes } from "../http/endpoints/health.ts";
import { createOpenApi } from "../http/endpoints/openapi.ts";
import { type RunningBackup, storeBackupHandler } from "../http/endpoints/store-backup.ts";
import { versionHandler } from "../http/endpoints/version.ts";
import type { HealthMetrics } from "../metrics/health-metrics.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { PathRoute } from "../request/context.ts";
import type { Storage } from "../storage/contract.ts";
import { storeDirectory } from "../storage/options.ts";
import { clustersOf } from "../storage/routed-storage.ts";
import type { ServerAggregation } from "./aggregation.ts";
import { etcdProblem } from "./components.ts";
import type { ServerEncryption } from "./encryption.ts";
import { cachesGate } from "./load-caches.ts";
import type { ServerOptions } from "./options.ts";
import type { ServerPeers } from "./peers.ts";
import { startChecks } from "./start-checks.ts";
import type { ServerState } from "./state.ts";

interface HealthNeeds {
  readonly state: ServerState;
  readonly catalog: Catalog;
  readonly gates: VersionedGates;
  /** The post-start hooks of flow control. */
  readonly hooks: readonly string[];
  readonly encryption: ServerEncryption | undefined;
  readonly options: ServerOptions;
}

/** /livez, /readyz and /healthz with their checks. */
export function serverHealthRoutes(
  storage: Storage,
  { state, catalog, gates, hooks, encryption, options }: HealthNeeds,
  { pending, observe }: Pick<ServerAggregation, "pending"> & Pick<HealthMetrics, "observe">,
): PathRoute<RequestContext>[] {
  const checks: HealthCheck[] = [
    { name: "ping", check: () => undefined },
    { name: "log", check: () => undefined },
    ...storageChecks(storage),
    ...(encryption?.checks ?? []),
    ...startChecks({
      state,
      flowControl: hooks,
      peers: peersOf(gates, options),
      hasIdentity: gates.enabled("APIServerIdentity"),
      waitsForCaches: gates.enabled(cachesGate),
      coordinatesElections: gates.enabled("CoordinatedLeaderElection"),
      reportsStorageVersions: reportsStorageVersions({ catalog, gates }),
      hasDefinitions: catalog.findServed("apiextensions.k8s.io", "v1", "customresourcedefinitions") !== undefined,
      reloadsEncryption: encryption !== undefined && options.reloadsEncryptionConfig === true,
      reloadsProxyCertificate: options.proxyClientCertFile !== undefined && options.proxyClientKeyFile !== undefined,
      autoregistered: { name: "autoregister-completion", check: () => missingApiServices(pending()) },
    }),
    ...(state.electionProblem === undefined
      ? []
      : [{ name: "leaderElection", check: (): string | undefined => state.electionProblem?.() }]),
    {
      name: "shutdown",
      check: () => (state.isStopping ? "process is shutting down" : undefined),
      endpoints: ["readyz"],
    },
  ];
  const isInGracePeriod = (): boolean => options.clock.now() - state.startedAt < options.livezGracePeriodMs;
  return (["livez", "readyz", "healthz"] as const).flatMap((endpoint) =>
    healthRoutes(endpoint, { checks, isInGracePeriod, observe }),
  );
}

/** The main cluster, then each other one of `--etcd-servers-overrides`. */
function storageChecks(storage: Storage): HealthCheck[] {
  const [main, ...others] = clustersOf(storage) as [Storage, ...Storage[]];
  return [
    ...clusterChecks(main, "etcd", "etcd-readiness"),
    ...[...new Set(others)].flatMap((cluster, at) =>
      clusterChecks(cluster, `etcd-override-${at}`, `etcd-override-readiness-${at}`),
    ),
  ];
}

function clusterChecks(cluster: Storage, readable: string, writable: string): HealthCheck[] {
  const passes = async (check: Promise<void>): Promise<undefined> =>
    void (await check.catch((error: Error) => {
      throw cluster.isShared ? new Error(etcdProblem(error), { cause: error }) : error;
    }));
  return [
    { name: readable, group: "etcd", check: () => passes(cluster.checkReadable()) },
    { name: writable, group: "etcd-readiness", check: () => passes(cluster.checkWritable()), endpoints: ["readyz"] },
  ];
}

function peersOf(gates: FeatureGates, { peerCaFile }: ServerOptions): "none" | "announced" | "forwarded" {
  if (!gates.enabled("UnknownVersionInteroperabilityProxy")) return "none";
  return peerCaFile === undefined ? "announced" : "forwarded";
}

function missingApiServices(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `missing APIService: [${names.join(" ")}]`;
}

/** POST /storage/backup, of the engine that has backups. */
export function storeRoutes(
  storage: Pick<Storage, "sizeBytes" | "pin">,
  { storage: engine, dataDir, clock, logger }: ServerOptions,
): PathRoute<RequestContext>[] {
  if (engine !== "lmdb" || dataDir === undefined) return [];
  const start = async (): Promise<RunningBackup> => {
    const { startBackup } = await import("../storage/lmdb/backup/backup-process.ts");
    return startBackup(storeDirectory(dataDir), storage.pin());
  };
  return [
    {
      path: "/storage/backup",
      handler: storeBackupHandler({ start, sizeBytes: () => storage.sizeBytes(), clock, logger }),
    },
  ];
}

interface DebugNeeds extends Pick<DocumentNeeds, "gates" | "state" | "options"> {
  /** Of the other routes. */
  readonly paths: readonly string[];
}

/** A server in another program has no flags. */
function debugRoutes({ gates, state, options, paths }: DebugNeeds): PathRoute<RequestContext>[] {
  const { clock, flags } = options;
  const flagz =
    flags !== undefined && gates.enabled("ComponentFlagz") ? [{ path: "/flagz", handler: flagsHandler(flags) }] : [];
  if (!gates.enabled("ComponentStatusz")) return flagz;
  const all = [...paths, "/statusz", ...flagz.map(({ path }) => path)];
  return [
    ...flagz,
    {
      path: "/statusz",
      handler: statusHandler({
        startedAt: state.startedAt,
        now: () => clock.now(),
        paths: all,
        version: gates.version,
      }),
    },
  ];
}

interface DocumentNeeds extends Pick<RegistryContext, "catalog" | "gates"> {
  readonly aggregation: Pick<ServerAggregation, "services" | "documents" | "observer">;
  readonly peers: Pick<ServerPeers, "groups" | "observeDiscovery"> | undefined;
  readonly serverAddress: () => string;
  /** The issuer's metadata and key set; empty without an issuer that has them. */
  readonly issuer: readonly PathRoute<RequestContext>[];
  readonly health: readonly PathRoute<RequestContext>[];
  readonly state: Pick<ServerState, "startedAt">;
  readonly options: Pick<ServerOptions, "clock" | "flags">;
}

export function documentRoutes({
  catalog,
  gates,
  aggregation,
  peers,
  serverAddress,
  issuer,
  health,
  state,
  options,
}: DocumentNeeds): PathRoute<RequestContext>[] {
  const { services: apiServices, documents, observer } = aggregation;
  const paths = [
    ...[...issuer, ...health].map(({ path }) => path).filter((path) => !path.endsWith("/")),
    "/metrics",
    "/metrics/slis",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/version",
  ];
  const debugPages = debugRoutes({ gates, state, options, paths });
  const discovery = createDiscovery({
    catalog,
    apiServices,
    remote: documents.discovery,
    aggregated: observer.aggregated,
    peers: peers?.groups,
    observe: peers?.observeDiscovery,
    serverAddress,
    paths: [...paths, ...debugPages.map(({ path }) => path)],
  });
  const openApi = createOpenApi({
    catalog,
    version: gates.version,
    cbor: gates.enabled("CBORServingAndStorage"),
    enums: gates.enabled("OpenAPIEnums"),
    issuer: issuer.length > 0,
    remote: documents.openApi,
  });
  return [
    { path: "/", handler: discovery.root },
    { path: "/index.html", handler: discovery.root },
    { path: "/api", handler: discovery.api },
    { path: "/api/*", handler: discovery.api },
    { path: "/apis", handler: discovery.apis },
    { path: "/apis/*", handler: discovery.apis },
    ...debugPages,
    { path: "/version", handler: versionHandler(gates.version) },
    { path: "/version/", handler: versionHandler(gates.version) },
    { path: "/openapi/v2", handler: openApi.v2 },
    { path: "/openapi/v3", handler: openApi.v3 },
    { path: "/openapi/v3/*", handler: openApi.v3 },
  ];
}
