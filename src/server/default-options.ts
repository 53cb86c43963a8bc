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
  // Written by `npm run generate` from the rows of flags in src/cli/flags/.
  bindAddress: "127.0.0.1",
  securePort: 0,
  permitPortSharing: false,
  disableHttp2Serving: false,
  http2MaxStreamsPerConnection: 0,
  advertiseAddress: undefined,
  tlsCertFile: undefined,
  tlsPrivateKeyFile: undefined,
  objectCountPollMs: 60_000,
  dataDir: undefined,
  storage: "memory",
  storageMediaType: "application/vnd.kubernetes.protobuf",
  durability: "full",
  historyMs: 300_000,
  compactionIntervalMs: undefined,
  historyBytesMax: 268_435_456,
  eventTtlSeconds: 3600,
  watchCache: true,
  watchCacheSizes: new Map(),
  anonymousAuth: undefined,
  authenticationConfigFile: undefined,
  egressSelectorConfigFile: undefined,
  clientCaFile: undefined,
  bootstrapTokenAuth: false,
  tokenAuthFile: undefined,
  apiAudiences: [],
  serviceAccountIssuers: ["https://kubernetes.default.svc.cluster.local"],
  serviceAccountKeyFiles: [],
  serviceAccountSigningKeyFile: undefined,
  serviceAccountSigningEndpoint: undefined,
  serviceAccountLookup: true,
  serviceAccountMaxTokenExpirationMs: 0,
  legacyTokenCleanUpMs: 31_536_000_000,
  serviceAccountExtendTokenExpiration: true,
  authorizationModes: [],
  runtimeConfig: "",
  controllers: ["*"],
  enableGarbageCollector: true,
  allowPrivileged: true,
  resourceQuotaSyncMs: 300_000,
  featureGates: "",
  serviceClusterIpRange: "10.0.0.0/24",
  serviceNodePortRange: "30000-32767",
  enableAggregatorRouting: false,
  proxyClientCertFile: undefined,
  proxyClientKeyFile: undefined,
  rejectForwardingRedirects: true,
  maxConnectionBytesPerSec: 0,
  enablePriorityAndFairness: true,
  maxRequestsInflight: 400,
  maxMutatingRequestsInflight: 200,
  goawayChance: 0,
  requestTimeoutMs: 60_000,
  minRequestTimeoutMs: 1_800_000,
  storageInitializationTimeoutMs: 60_000,
  livezGracePeriodMs: 0,
  shutdownDelayMs: 0,
  shutdownSendRetryAfter: false,
  shutdownWatchTerminationGraceMs: 0,
  // The end of what is written.
  endpointReconciler: "lease",
  apiserverCount: 1,
  kubernetesServiceNodePort: 0,
  kubelet: {
    certificateAuthorityFile: undefined,
    clientCertificateFile: undefined,
    clientKeyFile: undefined,
    preferredAddressTypes: ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"],
    port: 10250,
    checksAddresses: false,
  },
  proxiedAddresses: { allowLoopback: false },
  identityRenewMs: 10_000,
  tls: { minVersion: "", cipherSuites: [], curvePreferences: [], named: [] },
  requestHeader: {
    clientCaFile: undefined,
    allowedNames: [],
    usernameHeaders: [],
    uidHeaders: [],
    groupHeaders: [],
    extraHeaderPrefixes: [],
  },
  oidc: {},
  tokenWebhook: { configFile: undefined, version: "v1beta1", cacheMs: 120_000 },
  authorization: { configFile: undefined, webhook: {} },
  admission: defaultAdmissionOptions,
  audit: defaultAuditOptions,
  metrics: defaultMetricsOptions,
  emulationForwardCompatible: false,
  runtimeConfigEmulationForwardCompatible: false,
  leaderElection: defaultLeaderElection,
  coordinatedLeadership: { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
  clock: systemClock,
};
