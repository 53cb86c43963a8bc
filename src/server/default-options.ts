import { defaultAdmissionOptions } from "../admission/options.ts";
import { systemClock } from "../apimachinery/clock.ts";
import { defaultAuditOptions } from "../audit/options.ts";
import { defaultLeaderElection } from "../controllers/leader-election/options.ts";
import { defaultMetricsOptions } from "../metrics/default-options.ts";
import type { ServerOptions } from "./options.ts";

/**
 * The default of each option of `startServer`.
 *
 * @example
 * ```ts
 * import { defaultOptions, startServer } from "coxswain";
 *
 * // An option that is an object replaces the whole default.
 * const admission = { ...defaultOptions.admission, disable: ["ServiceAccount"] };
 * const server = await startServer({ admission });
 * await server.close();
 * ```
 */
export const defaultOptions: Omit<ServerOptions, "logger"> = {
  storage: "memory",
  storageMediaType: "application/vnd.kubernetes.protobuf",
  dataDir: undefined,
  durability: "full",
  historyMs: 5 * 60_000,
  compactionIntervalMs: undefined,
  historyBytesMax: 256 << 20,
  watchCache: true,
  watchCacheSizes: new Map(),
  eventTtlSeconds: 3600,
  bindAddress: "127.0.0.1",
  securePort: 0,
  permitPortSharing: false,
  disableHttp2Serving: false,
  http2MaxStreamsPerConnection: 0,
  maxConnectionBytesPerSec: 0,
  advertiseAddress: undefined,
  serviceClusterIpRange: "10.0.0.0/24",
  serviceNodePortRange: "30000-32767",
  endpointReconciler: "lease",
  apiserverCount: 1,
  kubernetesServiceNodePort: 0,
  enableAggregatorRouting: false,
  kubelet: {
    certificateAuthorityFile: undefined,
    clientCertificateFile: undefined,
    clientKeyFile: undefined,
    preferredAddressTypes: ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"],
    port: 10250,
    checksAddresses: false,
  },
  proxiedAddresses: { allowLoopback: false },
  proxyClientCertFile: undefined,
  proxyClientKeyFile: undefined,
  identityRenewMs: 10_000,
  rejectForwardingRedirects: true,
  tlsCertFile: undefined,
  tlsPrivateKeyFile: undefined,
  clientCaFile: undefined,
  tls: { minVersion: "", cipherSuites: [], curvePreferences: [], named: [] },
  requestHeader: {
    clientCaFile: undefined,
    allowedNames: [],
    usernameHeaders: [],
    uidHeaders: [],
    groupHeaders: [],
    extraHeaderPrefixes: [],
  },
  bootstrapTokenAuth: false,
  anonymousAuth: undefined,
  oidc: {},
  authenticationConfigFile: undefined,
  egressSelectorConfigFile: undefined,
  tokenAuthFile: undefined,
  tokenWebhook: { configFile: undefined, version: "v1beta1", cacheMs: 120_000 },
  apiAudiences: [],
  serviceAccountIssuers: ["https://kubernetes.default.svc.cluster.local"],
  serviceAccountKeyFiles: [],
  serviceAccountSigningKeyFile: undefined,
  serviceAccountSigningEndpoint: undefined,
  serviceAccountLookup: true,
  serviceAccountMaxTokenExpirationMs: 0,
  serviceAccountExtendTokenExpiration: true,
  legacyTokenCleanUpMs: 365 * 86_400_000,
  resourceQuotaSyncMs: 300_000,
  authorizationModes: [],
  authorization: { configFile: undefined, webhook: {} },
  admission: defaultAdmissionOptions,
  audit: defaultAuditOptions,
  metrics: defaultMetricsOptions,
  runtimeConfig: "",
  featureGates: "",
  emulationForwardCompatible: false,
  runtimeConfigEmulationForwardCompatible: false,
  controllers: ["*"],
  enableGarbageCollector: true,
  allowPrivileged: true,
  leaderElection: defaultLeaderElection,
  coordinatedLeadership: { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
  enablePriorityAndFairness: true,
  maxRequestsInflight: 400,
  maxMutatingRequestsInflight: 200,
  goawayChance: 0,
  requestTimeoutMs: 60_000,
  minRequestTimeoutMs: 1_800_000,
  storageInitializationTimeoutMs: 60_000,
  objectCountPollMs: 60_000,
  livezGracePeriodMs: 0,
  shutdownDelayMs: 0,
  shutdownSendRetryAfter: false,
  shutdownWatchTerminationGraceMs: 0,
  clock: systemClock,
};
