/** Builds every part and hands it to the next, top to bottom; the only file that names implementations. */
import { randomUUID } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { createAdmission } from "./admission/chain.ts";
import { namespaceLifecycle } from "./admission/namespace-lifecycle.ts";
import { nodeRestriction } from "./admission/node-restriction/node-restriction.ts";
import { chooseAdmissionPlugins } from "./admission/options.ts";
import type { Clock } from "./api/clock.ts";
import { pooledRandom } from "./api/random.ts";
import { customKinds } from "./apis/apiextensions/custom-kinds.ts";
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from "./apis/authorization/access-reviews.ts";
import { tokenRequests } from "./apis/core/service-account-token.ts";
import { openServiceAddresses } from "./apis/core/service-addresses.ts";
import { builtinConversions, strategiesWith } from "./apis/index.ts";
import { connectSubresources, createActions, refuseConnect } from "./apis/subresources.ts";
import { openAudit } from "./audit/open-audit.ts";
import { bearerTokenAuthenticator } from "./authentication/bearer-token.ts";
import { clientCertificateAuthenticator } from "./authentication/client-certificate.ts";
import type { TokenAuthenticator } from "./authentication/contract.ts";
import { extendedExpirationSeconds, secretTokenClaims, tokenClaims, watchedExpirationSeconds } from "./authentication/service-account/claims.ts";
import { type TokenIssuer, tokenIssuer } from "./authentication/service-account/issuer.ts";
import { issuerMetadata, keySet } from "./authentication/service-account/keys.ts";
import { liveObjects } from "./authentication/service-account/live-objects.ts";
import { checkServiceAccountOptions } from "./authentication/service-account/options.ts";
import { serviceAccountTokens } from "./authentication/service-account/token.ts";
import { tokenCache } from "./authentication/token-cache.ts";
import { tokenFileAuthenticator } from "./authentication/token-file.ts";
import { tokenUnion } from "./authentication/token-union.ts";
import { authenticate } from "./authentication/union.ts";
import { type AbacPolicy, parseAbacPolicies } from "./authorization/abac/policy-file.ts";
import type { Authorizer } from "./authorization/contract.ts";
import {
  type AuthorizationMode,
  abacModule,
  alwaysAllowModule,
  alwaysDenyModule,
  authorizerOf,
  nodeModule,
  parseAuthorizationModes,
  rbacModule,
  ruleResolverOf,
} from "./authorization/modes.ts";
import { followRelations } from "./authorization/node/follow-relations.ts";
import { NodeRelations } from "./authorization/node/relations.ts";
import { rbacEscalation } from "./authorization/rbac/escalation.ts";
import { followPolicy } from "./authorization/rbac/follow-policy.ts";
import { ensureBootState } from "./boot/boot-state.ts";
import { ensureRbacPolicy } from "./boot/rbac/ensure.ts";
import { nodeRules } from "./boot/rbac/policy.ts";
import { definitionRules } from "./cel-environment/definition-rules.ts";
import { objectRules } from "./cel-environment/object-rules.ts";
import { writeWhole } from "./cli/certificates.ts";
import { parseFeatureGates } from "./cli/feature-gates.ts";
import { formatKubeconfig } from "./cli/kubeconfig.ts";
import { parseRuntimeConfig } from "./cli/runtime-config.ts";
import { type ServiceAccountKeys, serviceAccountKeys } from "./cli/service-account-keys.ts";
import { servingSetup } from "./cli/serving-setup.ts";
import { definitionController } from "./controllers/crd/definitions.ts";
import { enabledControllers } from "./controllers/enabled.ts";
import { garbageCollector } from "./controllers/garbage-collector/garbage-collector.ts";
import { namespaceController } from "./controllers/namespace.ts";
import { roleAggregation } from "./controllers/role-aggregation.ts";
import { rootCaPublisher } from "./controllers/root-ca.ts";
import { serviceAccountController } from "./controllers/service-account.ts";
import { serviceAccountTokensController } from "./controllers/service-account-tokens.ts";
import { type HealthCheck, healthHandler } from "./health/health.ts";
import { createObject } from "./http/endpoints/create.ts";
import { deleteObject } from "./http/endpoints/delete.ts";
import { deleteCollection } from "./http/endpoints/delete-collection.ts";
import { createDiscovery } from "./http/endpoints/discovery.ts";
import { getObject } from "./http/endpoints/get.ts";
import { listObjects } from "./http/endpoints/list.ts";
import { openWatches } from "./http/endpoints/open-watches.ts";
import { createOpenApi } from "./http/endpoints/openapi.ts";
import { openIdRoutes } from "./http/endpoints/openid.ts";
import { patchObject } from "./http/endpoints/patch.ts";
import { reviewEndpoint } from "./http/endpoints/review.ts";
import { selfSubjectReview } from "./http/endpoints/self-subject-review.ts";
import { subresourceEndpoints } from "./http/endpoints/subresources.ts";
import { type TokenRequests, tokenRequestEndpoint } from "./http/endpoints/token-request.ts";
import { updateObject } from "./http/endpoints/update.ts";
import { versionBody, versionHandler } from "./http/endpoints/version.ts";
import { watchObjects } from "./http/endpoints/watch.ts";
import { authenticationFilter } from "./http/filters/authentication.ts";
import { authorizationFilter } from "./http/filters/authorization.ts";
import { compressionFilter } from "./http/filters/compression.ts";
import { impersonationFilter } from "./http/filters/impersonation.ts";
import { listen } from "./http/listener/listen.ts";
import { openRequests } from "./http/open-requests.ts";
import { cbor } from "./http/representation/cbor.ts";
import { json } from "./http/representation/json.ts";
import { PieceMemory } from "./http/representation/pieces.ts";
import { protobuf } from "./http/representation/protobuf.ts";
import { yaml } from "./http/representation/yaml.ts";
import { isWatchTarget } from "./http/request-info.ts";
import { sendError } from "./http/respond.ts";
import { createServe, type PathRoute, requestTimedOut } from "./http/serve.ts";
import type { ResourceEndpoints } from "./http/serve-resource.ts";
import { addressAt, parseIpRange } from "./lib/ip-range/ip-range.ts";
import { createMetrics } from "./metrics/metrics.ts";
import type { RunningServer, ServerOptions } from "./options.ts";
import type { RegistryContext } from "./registry/contract.ts";
import { builtinDefinitions, builtinVersions } from "./resource/builtin-definitions.ts";
import { openCatalog } from "./resource/catalog.ts";
import { createInstaller } from "./resource/install.ts";
import type { Storage } from "./storage/contract.ts";
import { valueBytesMaxDefault } from "./storage/options.ts";

/** How long open requests may take to finish at shutdown. */
const drainMs = 10_000;

/** @throws Error when an option is not valid, the port is taken, or the data directory is in use */
export async function openServer(options: ServerOptions): Promise<RunningServer> {
  const undo: Undo[] = [];
  try {
    return await buildServer(options, undo);
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  }
}

/** Takes back one thing that was opened, when a later one fails. */
type Undo = () => void | Promise<void>;

async function buildServer(options: ServerOptions, undo: Undo[]): Promise<RunningServer> {
  const { clock, logger } = options;
  const range = parseIpRange(options.serviceClusterIpRange);
  if (range === undefined)
    throw new Error(`invalid argument ${JSON.stringify(options.serviceClusterIpRange)} for service-cluster-ip-range: not a CIDR`);
  const authorizationModes = parseAuthorizationModes(options.authorizationModes);
  const abacPolicies = await readAbacPolicies(options.authorizationPolicyFile, authorizationModes);
  const running = enabledControllers(options.controllers);
  const plugins = chooseAdmissionPlugins(options.admission);
  const { gates, warnings: gateWarnings } = parseFeatureGates(options.featureGates);
  const served = parseRuntimeConfig(options.runtimeConfig, builtinVersions(builtinConversions));
  for (const warning of [...gateWarnings, ...served.warnings, ...plugins.warnings]) logger.warn(warning);

  const audit = await openAudit(options.audit, { clock, logger });
  undo.push(() => audit.close());
  const tokenFile = await tokenFileAuthenticators(options);
  checkServiceAccountOptions(options.serviceAccountIssuers, options.serviceAccountMaxTokenExpirationMs);
  const audiences = options.apiAudiences.length > 0 ? options.apiAudiences : options.serviceAccountIssuers;
  // The store first: it locks the data directory, in which certificates may be renewed.
  const storage = await openStorage(options);
  undo.push(() => storage.close());
  const setup = await servingSetup(options, certificateNames(options, addressAt(range, 1)));
  const keys = await serviceAccountKeys(options);
  const issuer = tokenIssuer(keys.signing, options.serviceAccountIssuers[0] as string);
  const installer = createInstaller({ storage, clock, gates });
  const strategies = strategiesWith({ eventTtlSeconds: options.eventTtlSeconds, ruleChecker: definitionRules });
  const catalog = openCatalog(builtinDefinitions({ strategies, conversions: builtinConversions, served }), installer.install);
  const serviceAddresses = openServiceAddresses({ catalog, clock, range });
  undo.push(() => serviceAddresses.close());
  const rbac = followPolicy({ catalog, clock, logger });
  undo.push(() => rbac.stop());
  const nodes = authorizationModes.includes("Node") ? followRelations({ catalog, clock, logger }) : undefined;
  undo.push(() => nodes?.stop());
  const modules = {
    ABAC: abacModule(abacPolicies),
    AlwaysAllow: alwaysAllowModule,
    AlwaysDeny: alwaysDenyModule,
    Node: nodeModule(nodes?.relations ?? new NodeRelations(), { rules: nodeRules(), enabled: gates.enabled }),
    RBAC: rbacModule(rbac.policy),
  };
  const chosen = authorizationModes.map((mode) => modules[mode]);
  const authorize = authorizerOf(chosen);
  const admission = createAdmission([
    ...[namespaceLifecycle(catalog), nodeRestriction({ catalog, authorize, enabled: gates.enabled })].filter(({ name }) => plugins.names.has(name)),
    serviceAddresses,
    rbacEscalation(rbac.policy, authorize),
  ]);
  const registry: RegistryContext = { storage, catalog, clock, gates, admission, random: pooledRandom() };

  const state = { startedAt: clock.now(), booted: false, stopping: false };
  const metrics = createMetrics(clock, {
    audit: audit.counts,
    storageSizeBytes: () => storage.sizeBytes(),
    build: versionBody(),
    objectCounts: () =>
      catalog.definitions().flatMap(({ group, resource, storage: form }) => {
        const cache = form === undefined ? undefined : installer.caches().get(form.prefix);
        return cache === undefined ? [] : [[{ group, resource }, cache.latest().size] as const];
      }),
  });
  const watches = openWatches({ timeoutMinMs: options.minRequestTimeoutMs, counterOf: metrics.watches.counterOf });
  const open = openRequests({ clock, timeoutMs: options.requestTimeoutMs, expire: (context) => sendError(context, requestTimedOut(), logger) });
  undo.push(() => open.close());
  const address = (): string => `${options.advertiseAddress ?? options.bindAddress}:${listener.port}`;
  const authenticateToken = tokenCache(
    tokenUnion([
      ...tokenFile,
      serviceAccountTokens({
        keys: keys.accepted,
        issuers: options.serviceAccountIssuers,
        apiAudiences: audiences,
        lookup: options.serviceAccountLookup,
        live: liveObjects(catalog),
        clock,
      }),
    ]),
    { clock },
  );
  const identify = authenticationFilter(
    authenticate([clientCertificateAuthenticator(), bearerTokenAuthenticator(authenticateToken, audiences)], options),
  );
  const serve = createServe({
    filters: [
      metrics.requests.filter,
      ...(gates.enabled("APIResponseCompression") ? [compressionFilter] : []),
      audit.filters?.authentication(identify) ?? identify,
      ...(audit.filters === undefined ? [] : [audit.filters.filter]),
      impersonationFilter(authorize, { constrained: gates.enabled("ConstrainedImpersonation") }),
      authorizationFilter(authorize),
    ],
    registry,
    endpoints: resourceEndpoints({ watches, clock, authorize, tokens: tokenRequestsOf(options, issuer, audiences), rulesOf: ruleResolverOf(chosen) }),
    routes: [
      ...healthRoutes(storage, state, options),
      ...documentRoutes({ catalog, gates }, address),
      ...issuerRoutes(options, keys, address),
      { path: "/metrics", handler: metrics.handler },
    ],
    encodings: [json, yaml, ...protobuf, ...(gates.enabled("CBORServingAndStorage") ? [cbor] : [])],
    open,
    clock,
    logger,
  });
  const listener = await listen({
    host: options.bindAddress,
    port: options.securePort,
    certificate: setup.serving,
    clientCa: setup.clientCa,
    onExchange: serve,
    takesWebSocket: isWatchTarget,
    clock,
    logger,
  });
  undo.push(() => listener.close());

  await ensureBootState(registry, { ...options, advertiseAddress: advertisedAddress(options), port: listener.port });
  await ensureRbacPolicy(registry);
  await rbac.tried;
  await rbac.reached(await storage.current());
  const definitions = definitionController({ registry, catalog, rules: customKinds({ objectRules }), release: installer.release, logger });
  const controllers = [
    definitions,
    ...(running.has("namespace-controller") ? [namespaceController({ registry, logger })] : []),
    ...(running.has("serviceaccount-controller") ? [serviceAccountController({ registry, logger })] : []),
    ...(running.has("root-ca-certificate-publisher-controller") ? [rootCaPublisher({ registry, logger, caBundle: setup.caBundle })] : []),
    ...(running.has("serviceaccount-token-controller")
      ? [
          serviceAccountTokensController({
            registry,
            logger,
            caBundle: setup.caBundle,
            issue: (namespace, account, secret) => issuer.issueForSecret(secretTokenClaims(namespace, account, secret)),
          }),
        ]
      : []),
    ...(running.has("clusterrole-aggregation-controller") ? [roleAggregation({ registry, logger })] : []),
    ...(running.has("garbage-collector-controller") ? [garbageCollector({ registry, logger })] : []),
  ];
  for (const controller of controllers) {
    controller.start();
    undo.push(() => controller.stop());
  }
  await definitions.ready;
  state.booted = true;

  const url = `https://${hostOf(options.bindAddress)}:${listener.port}`;
  const kubeconfig = formatKubeconfig(url, { caBundle: setup.caBundle, admin: setup.admin });
  const kubeconfigFile = options.dataDir === undefined ? undefined : join(options.dataDir, "kubeconfig");
  if (kubeconfigFile !== undefined) await writeWhole(kubeconfigFile, kubeconfig, 0o600);
  logger.info("serving", { url });

  const close = async (): Promise<void> => {
    state.stopping = true;
    if (options.shutdownDelayMs > 0) await new Promise<void>((resolve) => clock.after(options.shutdownDelayMs, resolve));
    listener.stop();
    watches.endAll();
    await open.idle(drainMs);
    open.close();
    await Promise.all(controllers.map((controller) => controller.stop()));
    await listener.close();
    serviceAddresses.close();
    rbac.stop();
    nodes?.stop();
    for (const cache of installer.caches().values()) cache.close();
    await storage.close();
    await audit.close();
    logger.info("stopped");
  };
  let closing: Promise<void> | undefined;
  return {
    url,
    port: listener.port,
    kubeconfig,
    kubeconfigFile,
    servingCertificate: setup.serving,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** @throws Error when the mode and its file are not given together, or the file is not right */
async function readAbacPolicies(file: string | undefined, modes: readonly AuthorizationMode[]): Promise<AbacPolicy[]> {
  if (file === undefined && modes.includes("ABAC")) throw new Error("authorization-mode ABAC's authorization policy file not passed");
  if (file !== undefined && !modes.includes("ABAC")) throw new Error("cannot specify --authorization-policy-file without mode ABAC");
  return file === undefined ? [] : parseAbacPolicies(await readFile(file, "utf8"), file);
}

async function openStorage(options: ServerOptions): Promise<Storage> {
  const common = { ...options, valueBytesMax: valueBytesMaxDefault };
  if (options.storage === "memory") {
    const { openMemoryStorage } = await import("./storage/memory.ts");
    return openMemoryStorage(common);
  }
  if (options.dataDir === undefined) throw new Error("storage lmdb needs a data directory");
  const dir = join(options.dataDir, "storage");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const { openLmdbStorage } = await import("./storage/lmdb/lmdb.ts");
  return openLmdbStorage({ ...common, dir });
}

/** @throws Error that names the line which is wrong */
async function tokenFileAuthenticators({ tokenAuthFile }: ServerOptions): Promise<TokenAuthenticator[]> {
  return tokenAuthFile === undefined ? [] : [tokenFileAuthenticator(await readFile(tokenAuthFile, "utf8"), tokenAuthFile)];
}

function tokenRequestsOf(options: ServerOptions, issuer: TokenIssuer, apiAudiences: readonly string[]): TokenRequests {
  return tokenRequests({
    apiAudiences,
    maxExpirationSeconds: Math.floor(options.serviceAccountMaxTokenExpirationMs / 1000),
    extendExpiration: options.serviceAccountExtendTokenExpiration,
    watchedExpirationSeconds,
    extendedExpirationSeconds,
    issue: (grant) => issuer.issue(tokenClaims({ ...grant, jti: randomUUID() })),
  });
}

/** Only an issuer that is an https URL is one whom others can ask. */
function issuerRoutes({ serviceAccountIssuers: [issuer = ""] }: ServerOptions, { accepted }: ServiceAccountKeys, address: () => string): PathRoute[] {
  const isAddress = URL.canParse(issuer) && /^https:[^?#]*$/.test(issuer);
  const metadata = isAddress ? (): object => issuerMetadata(issuer, `https://${address()}/openid/v1/jwks`, accepted) : undefined;
  return openIdRoutes({ metadata, keySet: () => keySet(accepted) });
}

interface EndpointNeeds {
  readonly watches: ReturnType<typeof openWatches>;
  readonly clock: Clock;
  readonly authorize: Authorizer;
  readonly tokens: TokenRequests;
  readonly rulesOf: ReturnType<typeof ruleResolverOf>;
}

function resourceEndpoints({ watches, clock, authorize, tokens, rulesOf }: EndpointNeeds): ResourceEndpoints {
  const memory = new PieceMemory();
  return {
    verbs: {
      get: getObject,
      list: (context, registry) => listObjects(context, registry, memory),
      watch: (context, registry) => watchObjects(context, registry, watches),
      create: createObject,
      update: updateObject,
      patch: patchObject,
      delete: (context, registry) => deleteObject(context, registry, authorize),
      deletecollection: (context, registry) => deleteCollection(context, registry, memory),
    },
    subresources: {
      ...subresourceEndpoints({ createActions, connectSubresources, refuseConnect }),
      "/serviceaccounts/token": tokenRequestEndpoint(tokens),
      "authentication.k8s.io/selfsubjectreviews/": reviewEndpoint(selfSubjectReview(clock)),
      "authorization.k8s.io/selfsubjectaccessreviews/": reviewEndpoint(selfSubjectAccessReview(authorize)),
      "authorization.k8s.io/subjectaccessreviews/": reviewEndpoint(subjectAccessReview(authorize)),
      "authorization.k8s.io/localsubjectaccessreviews/": reviewEndpoint(localSubjectAccessReview(authorize)),
      "authorization.k8s.io/selfsubjectrulesreviews/": reviewEndpoint(selfSubjectRulesReview(rulesOf)),
    },
  };
}

function healthRoutes(storage: Storage, state: { startedAt: number; booted: boolean; stopping: boolean }, options: ServerOptions): PathRoute[] {
  const store = async (): Promise<undefined> => {
    await storage.current();
  };
  const checks: HealthCheck[] = [
    { name: "ping", check: () => undefined },
    { name: "log", check: () => undefined },
    { name: "etcd", check: store },
    { name: "etcd-readiness", check: store, readinessOnly: true },
    { name: "poststarthook/bootstrap-state", check: () => (state.booted ? undefined : "not finished") },
    { name: "shutdown", check: () => (state.stopping ? "process is shutting down" : undefined), readinessOnly: true },
  ];
  const graceUntil = (): boolean => options.clock.now() - state.startedAt < options.livezGracePeriodMs;
  return (["livez", "readyz", "healthz"] as const).flatMap((endpoint) => {
    const handler = healthHandler(endpoint, { checks, graceUntil });
    return [
      { path: `/${endpoint}`, handler },
      { path: `/${endpoint}/*`, handler },
    ];
  });
}

function documentRoutes({ catalog, gates }: Pick<RegistryContext, "catalog" | "gates">, serverAddress: () => string): PathRoute[] {
  const discovery = createDiscovery({
    catalog,
    serverAddress,
    paths: [
      "/.well-known/openid-configuration",
      "/healthz",
      "/livez",
      "/metrics",
      "/openapi/v2",
      "/openapi/v3",
      "/openid/v1/jwks",
      "/readyz",
      "/version",
    ],
  });
  const openApi = createOpenApi({ catalog, cbor: gates.enabled("CBORServingAndStorage"), enums: gates.enabled("OpenAPIEnums") });
  return [
    { path: "/", handler: discovery.root },
    { path: "/api", handler: discovery.api },
    { path: "/api/*", handler: discovery.api },
    { path: "/apis", handler: discovery.apis },
    { path: "/apis/*", handler: discovery.apis },
    { path: "/version", handler: versionHandler },
    { path: "/version/", handler: versionHandler },
    { path: "/openapi/v2", handler: openApi.v2 },
    { path: "/openapi/v3", handler: openApi.v3 },
    { path: "/openapi/v3/*", handler: openApi.v3 },
  ];
}

/** What the serving certificate must name. */
function certificateNames({ bindAddress, advertiseAddress }: ServerOptions, firstServiceAddress: string): string[] {
  const service = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];
  const own = [bindAddress, advertiseAddress].filter((address) => address !== undefined && address !== "0.0.0.0" && address !== "::");
  return [...new Set(["localhost", "127.0.0.1", "::1", hostname(), ...service, firstServiceAddress, ...(own as string[])])];
}

/** What other machines reach this server by: none when it listens to this machine only. */
function advertisedAddress({ advertiseAddress, bindAddress }: ServerOptions): string | undefined {
  if (advertiseAddress !== undefined) return advertiseAddress;
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === (bindAddress.includes(":") ? "IPv6" : "IPv4"))?.address;
}

/** The address as it stands in a URL; a server that listens everywhere is reached on this machine. */
function hostOf(bindAddress: string): string {
  if (bindAddress === "0.0.0.0" || bindAddress === "::") return "127.0.0.1";
  return bindAddress.includes(":") ? `[${bindAddress}]` : bindAddress;
}
