import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { createAdmission } from "./admission/chain.ts";
import { chooseAdmissionPlugins } from "./admission/options.ts";
import { certificatePlugins } from "./admission/plugins/certificates/certificates.ts";
import { podCertificateSigning } from "./admission/plugins/certificates/pod-certificate-signing.ts";
import { namespaceLifecycle } from "./admission/plugins/namespace-lifecycle.ts";
import { nodeRestriction } from "./admission/plugins/node-restriction/node-restriction.ts";
import { policyParameters } from "./admission/plugins/policy-parameters.ts";
import { priority } from "./admission/plugins/priority.ts";
import { rbacEscalation } from "./admission/plugins/rbac-escalation.ts";
import { openServiceAddresses } from "./admission/plugins/service-addresses/service-addresses.ts";
import { parseFeatureGates } from "./apimachinery/feature-gates.ts";
import { pooledRandom } from "./apimachinery/random.ts";
import { writeWhole } from "./apimachinery/write-whole.ts";
import type { ExpressionChecker } from "./apis/admissionregistration/expression-checker.ts";
import type { RuleChecker } from "./apis/apiextensions/rule-checker.ts";
import { builtinConversions, strategiesWith } from "./apis/index.ts";
import type { SelectorChecker } from "./apis/resource/selector-checker.ts";
import { openAudit } from "./audit/open-audit.ts";
import { ensureBootState } from "./bootstrap/boot-state.ts";
import { ensureDefaultServiceRange } from "./bootstrap/default-service-range.ts";
import { ensureRbacPolicy } from "./bootstrap/rbac/ensure.ts";
import { builtinDefinitions, builtinVersions } from "./catalog/builtin-definitions.ts";
import { openCatalog } from "./catalog/catalog.ts";
import { createInstaller, type Installer } from "./catalog/install.ts";
import { parseRuntimeConfig } from "./catalog/runtime-config.ts";
import { clusterTrustController } from "./controllers/cluster-trust.ts";
import { enabledControllers } from "./controllers/enabled.ts";
import type { RequestContext } from "./http/contract.ts";
import { openWatches } from "./http/endpoints/open-watches.ts";
import { authorizationFilter } from "./http/filters/authorization.ts";
import { compressionFilter } from "./http/filters/compression.ts";
import { impersonationFilter } from "./http/filters/impersonation.ts";
import { timeoutParameterFilter } from "./http/filters/timeout-parameter.ts";
import { listen } from "./http/listener/listen.ts";
import { openRequests } from "./http/open-requests.ts";
import { cbor } from "./http/representation/cbor.ts";
import { json } from "./http/representation/json.ts";
import { protobuf } from "./http/representation/protobuf.ts";
import { yaml } from "./http/representation/yaml.ts";
import { isWatchTarget } from "./http/request-info.ts";
import { requestTimedOut } from "./http/request-timed-out.ts";
import { sendError } from "./http/respond.ts";
import { createServe } from "./http/serve.ts";
import { addressAt, type IpRange, parseIpRanges } from "./lib/ip-range/ip-range.ts";
import { parsePortRange } from "./lib/ip-range/port-range.ts";
import { callMetrics } from "./metrics/call-metrics.ts";
import { handshakeMetrics } from "./metrics/certificate-metrics.ts";
import type { RunningServer, ServerOptions } from "./options.ts";
import type { RegistryContext } from "./registry/contract.ts";
import { accessSettings, openAccess } from "./server/access.ts";
import { claimRight } from "./server/claim-right.ts";
import { Closers } from "./server/closers.ts";
import { componentProbes } from "./server/components.ts";
import { startControllers } from "./server/controllers.ts";
import { resourceEndpoints } from "./server/endpoints.ts";
import { identitySettings, openIdentity } from "./server/identity.ts";
import { metricsSettings, openMetrics } from "./server/metrics.ts";
import { documentRoutes, healthRoutes, storeRoutes } from "./server/routes.ts";
import { validationObserver } from "./server/validation.ts";
import { openWebhooks } from "./server/webhooks.ts";
import { formatKubeconfig } from "./serving/kubeconfig.ts";
import { servingSetup } from "./serving/serving-setup.ts";
import { startCompactor } from "./storage/compactor.ts";
import type { Storage } from "./storage/contract.ts";
import { type StorageDamage, storeDirectory, valueBytesMaxDefault } from "./storage/options.ts";
import type { Address } from "./webhook/contract.ts";

/** How long open requests may take to finish at shutdown. */
const drainMs = 10_000;

/** @throws Error when an option is not valid, the port is taken, or the data directory is in use */
export async function openServer(options: ServerOptions): Promise<RunningServer> {
  const closers = new Closers();
  try {
    return await buildServer(options, closers);
  } catch (error) {
    await closers.close();
    throw error;
  }
}

async function buildServer(options: ServerOptions, closers: Closers): Promise<RunningServer> {
  const { clock, logger } = options;
  const ranges = parseIpRanges(options.serviceClusterIpRange);
  if (ranges === undefined)
    throw new Error(
      `invalid argument ${JSON.stringify(options.serviceClusterIpRange)} for service-cluster-ip-range: not a CIDR`,
    );
  const portRange = parsePortRange(options.serviceNodePortRange);
  if (typeof portRange === "string") {
    throw new Error(
      `invalid argument ${JSON.stringify(options.serviceNodePortRange)} for service-node-port-range: ${portRange}`,
    );
  }
  const accessible = await accessSettings(options);
  const settings = {
    access: accessible,
    identity: await identitySettings(options, accessible),
    metrics: await metricsSettings(options),
  };
  const running = enabledControllers(options.controllers);
  const plugins = chooseAdmissionPlugins(options.admission);
  const { gates, warnings: gateWarnings } = parseFeatureGates(options.featureGates);
  const served = parseRuntimeConfig(options.runtimeConfig, builtinVersions(builtinConversions));
  for (const warning of [...gateWarnings, ...served.warnings, ...plugins.warnings]) logger.warn(warning);

  const calls = callMetrics();
  const audit = await openAudit(options.audit, { clock, logger, calls: calls.observer });
  closers.add(() => audit.close());
  // The store first: it locks the data directory, in which certificates may be renewed.
  const storage = await openStorage(options);
  closers.add(() => storage.close());
  const setup = await servingSetup(options, certificateNames(options, addressAt(ranges[0] as IpRange, 1)));
  closers.add(() => setup.close());
  const installer = createInstaller({ storage, clock, gates, historyMs: options.historyMs });
  closers.add(() => {
    for (const cache of installer.caches().values()) cache.close();
  });
  closers.add(compactEachInterval(options, storage, installer));
  const strategies = strategiesWith({
    eventTtlSeconds: options.eventTtlSeconds,
    loadRuleChecker,
    loadExpressionChecker,
    loadSelectorChecker,
    claimRight: claimRight((attributes) => authorize(attributes)), // Which needs these kinds first.
  });
  const catalog = openCatalog(
    builtinDefinitions({ strategies, conversions: builtinConversions, served }),
    installer.install,
  );
  const metrics = openMetrics(settings.metrics, {
    audit: audit.counts,
    calls,
    storage,
    installer,
    catalog,
    clock,
    gates,
  });
  const serviceAddresses = openServiceAddresses({
    catalog,
    clock,
    ranges,
    strict: gates.enabled("StrictIPCIDRValidation"),
    portRange,
  });
  closers.add(() => serviceAddresses.close());
  const access = await openAccess(settings.access, { catalog, clock, gates, logger, metrics, closers });
  const { authorize, rbac } = access;
  const admission = createAdmission(
    [
      ...[
        namespaceLifecycle(catalog),
        nodeRestriction({ catalog, authorize, enabled: gates.enabled }),
        priority(catalog),
        ...certificatePlugins({ authorize, enabled: gates.enabled }),
      ].filter(({ name }) => plugins.names.has(name)),
      serviceAddresses,
      rbacEscalation(rbac.policy, authorize),
      podCertificateSigning(authorize),
      policyParameters(catalog, authorize),
    ],
    metrics.admission,
  );
  const validation = validationObserver(metrics.validation, logger);
  const registry: RegistryContext = { storage, catalog, clock, gates, admission, validation, random: pooledRandom() };

  const state = { startedAt: clock.now(), booted: false, stopping: false };
  const { counterOf, listed, cutOff } = metrics.watches;
  const watches = openWatches({ timeoutMinMs: options.minRequestTimeoutMs, counterOf, listed, cutOff });
  const expire = (context: RequestContext): void => {
    metrics.requests.terminated(context);
    sendError(context, requestTimedOut(), logger);
  };
  const timing = { clock, timeoutMs: options.requestTimeoutMs, expire, late: metrics.requests.terminated };
  const open = openRequests(timing);
  closers.add(() => open.close());
  const address = (): string => `${options.advertiseAddress ?? options.bindAddress}:${listener.port}`;
  const identity = await openIdentity(settings.identity, options, { registry, address, setup, metrics, closers });
  const identify = metrics.authentication.around(identity.filter);
  const serve = createServe({
    filters: [
      metrics.requests.filter,
      ...(gates.enabled("APIResponseCompression") ? [compressionFilter] : []),
      timeoutParameterFilter(timing),
      audit.filters?.authentication(identify) ?? identify,
      ...(audit.filters === undefined ? [] : [audit.filters.filter]),
      impersonationFilter(authorize, {
        constrained: gates.enabled("ConstrainedImpersonation"),
        observer: metrics.impersonation,
      }),
      authorizationFilter(authorize, { attempted: access.attempted, clock }),
    ],
    registry,
    endpoints: resourceEndpoints({ watches, clock, access, identity, components: componentProbes(storage) }),
    routes: [
      ...healthRoutes(storage, state, options, metrics.health),
      ...storeRoutes(storage, options),
      ...documentRoutes({ catalog, gates, serverAddress: address, issuer: identity.routes }),
      ...identity.routes,
      { path: "/metrics", handler: metrics.handler },
      { path: "/metrics/slis", handler: metrics.sliHandler },
    ],
    encodings: [json, yaml, ...protobuf, ...(gates.enabled("CBORServingAndStorage") ? [cbor] : [])],
    open,
    clock,
    logger,
  });
  const listener = await listen({
    host: options.bindAddress,
    port: options.securePort,
    serving: setup.material(),
    tls: setup.limits,
    onExchange: serve,
    takesWebSocket: isWatchTarget,
    clock,
    logger,
  });
  closers.add(() => listener.close());
  metrics.add(handshakeMetrics(() => listener.handshakeErrors));

  await ensureDefaultServiceRange(registry, options.serviceClusterIpRange);
  await ensureBootState(registry, { ...options, advertiseAddress: advertisedAddress(options), port: listener.port });
  await ensureRbacPolicy(registry);
  await rbac.tried;
  await rbac.reached(await storage.current());
  const self = (): Address => ({ host: hostOf(options.bindAddress), port: listener.port });
  const webhooks = openWebhooks(options, { catalog, metrics, self });
  closers.add(() => webhooks.close());
  const { observers: queues } = metrics.queues;
  await startControllers(running, {
    registry,
    queues,
    closers,
    webhooks: webhooks.conversion,
    catalog,
    release: installer.release,
    logger,
    caBundle: setup.caBundle,
    issueForSecret: identity.issueForSecret,
    legacyTokenCleanUpMs: options.legacyTokenCleanUpMs,
  });
  const trust = clusterTrustController({ registry, logger, queues, trust: { ...options, ...setup } });
  trust.start();
  closers.add(() => trust.stop());
  setup.follow(() => {
    listener.replaceCertificates(setup.material());
    trust.look();
  });
  state.booted = true;

  const url = `https://${hostOf(options.bindAddress)}:${listener.port}`;
  const kubeconfig = formatKubeconfig(url, { caBundle: setup.caBundle, admin: setup.admin });
  const kubeconfigFile = options.dataDir === undefined ? undefined : join(options.dataDir, "kubeconfig");
  if (kubeconfigFile !== undefined) await writeWhole(kubeconfigFile, kubeconfig, 0o600);
  logger.info("serving", { url });

  closers.add(async () => {
    state.stopping = true;
    if (options.shutdownDelayMs > 0)
      await new Promise<void>((resolve) => clock.after(options.shutdownDelayMs, resolve));
    listener.stop();
    watches.endAll();
    await open.idle(drainMs);
  });
  let closing: Promise<void> | undefined;
  return {
    url,
    port: listener.port,
    kubeconfig,
    kubeconfigFile,
    get servingCertificate() {
      return setup.material().certificate;
    },
    close() {
      closing ??= closers.close().finally(() => logger.info("stopped"));
      return closing;
    },
  };
}

async function loadRuleChecker(): Promise<RuleChecker> {
  return (await import("./server/custom-resources.ts")).definitionRules;
}

async function loadExpressionChecker(): Promise<ExpressionChecker> {
  return (await import("./server/policy-expressions.ts")).policyChecker;
}

async function loadSelectorChecker(): Promise<SelectorChecker> {
  return (await import("./server/policy-expressions.ts")).deviceChecker;
}

/** @returns stops it */
function compactEachInterval(
  { compactionIntervalMs = 0, clock, logger }: ServerOptions,
  storage: Storage,
  installer: Installer,
): () => void {
  if (compactionIntervalMs === 0) return () => {};
  return startCompactor({
    storage,
    clock,
    intervalMs: compactionIntervalMs,
    compacted(revision) {
      for (const cache of installer.caches().values()) cache.forgetBefore(revision);
    },
    failed: (error) => logger.error("compaction failed", { error: String(error) }),
  });
}

/** What reads of many pages need, however small the history window is. */
const storedHistoryMinMs = 60_000;

async function openStorage(options: ServerOptions): Promise<Storage> {
  const onDamage = ({ key, revision, problem }: StorageDamage): void =>
    options.logger.error("Found damage in the store", { ...(key !== undefined && { key }), revision, problem });
  const historyMs = Math.max(options.historyMs, storedHistoryMinMs);
  const common = { ...options, historyMs, valueBytesMax: valueBytesMaxDefault, onDamage };
  if (options.storage === "memory") {
    const { openMemoryStorage } = await import("./storage/memory.ts");
    return openMemoryStorage(common);
  }
  if (options.dataDir === undefined) throw new Error("storage lmdb needs a data directory");
  const dir = storeDirectory(options.dataDir);
  const { openLmdbStorage } = await import("./storage/lmdb/lmdb.ts");
  return openLmdbStorage({ ...common, dir });
}

/** What the serving certificate must name. */
function certificateNames({ bindAddress, advertiseAddress }: ServerOptions, firstServiceAddress: string): string[] {
  const service = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
  ];
  const own = [bindAddress, advertiseAddress].filter(
    (address) => address !== undefined && address !== "0.0.0.0" && address !== "::",
  );
  return [
    ...new Set(["localhost", "127.0.0.1", "::1", hostname(), ...service, firstServiceAddress, ...(own as string[])]),
  ];
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
