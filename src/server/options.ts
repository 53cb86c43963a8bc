/** The options of a server. The flags of the command set the same options. */
import type { AdmissionOptions } from "../admission/contract.ts";
import type { Clock } from "../apimachinery/clock.ts";
import type { VersionOptions } from "../apimachinery/effective-version.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { Verbosity } from "../apimachinery/verbosity.ts";
import type { AuditOptions } from "../audit/contract.ts";
import type { OidcOptions } from "../authentication/configuration/contract.ts";
import type { RequestHeaderOptions, TokenWebhookSettings } from "../authentication/contract.ts";
import type { AuthorizationOptions } from "../authorization/contract.ts";
import type { KubernetesServiceOptions } from "../controllers/bootstrap/kubernetes-service/contract.ts";
import type { ElectionTimes, LeaderElectionOptions } from "../controllers/leader-election/contract.ts";
import type { KubeletOptions } from "../forwarding/kubelet/contract.ts";
import type { AddressPolicy } from "../forwarding/proxy/contract.ts";
import type { TlsOptions } from "../http/listener/contract.ts";
import type { MetricsOptions } from "../metrics/contract.ts";
import type { StorageMediaType } from "../registry/contract.ts";
import type { EtcdServerOptions } from "../storage/etcd/options.ts";
import type { ServiceResolver } from "../webhook/service-resolver.ts";

/**
 * Options of `startServer`. Flags with the same names are described in `coxswain serve --help`.
 *
 * @example
 * ```ts
 * import { type ServerOptions, startServer } from "coxswain";
 *
 * const options: Partial<ServerOptions> = {
 *   storage: "memory",
 *   authorizationModes: ["AlwaysAllow"],
 *   featureGates: "MutatingAdmissionPolicy=false",
 * };
 * const server = await startServer(options);
 * await server.close();
 * ```
 */
export interface ServerOptions extends KubernetesServiceOptions, VersionOptions {
  // Written by `npm run generate` from the rows of flags in src/cli/flags/.
  /** The IP address on which to listen for the `securePort` port. */
  readonly bindAddress: string;
  /** 0 selects a free port. */
  readonly securePort: number;
  /**
   * Lets other processes listen on the same port (SO_REUSEPORT); the operating system divides new connections between
   * them.
   */
  readonly permitPortSharing: boolean;
  /** Serves HTTP/1.1 only. */
  readonly disableHttp2Serving: boolean;
  /**
   * Maximum number of concurrent requests, of which each watch is one, on one HTTP/2 connection. 0 is 1000; in
   * kube-apiserver, 100.
   */
  readonly http2MaxStreamsPerConnection: number;
  /**
   * The IP address in the endpoints of the Service kubernetes. If unset, the first address of this machine that is not
   * loopback.
   */
  readonly advertiseAddress: string | undefined;
  /**
   * The host, or host and port, of the server in documents for clients, such as discovery and the metadata of the
   * issuer. If unset, `advertiseAddress` or `bindAddress`.
   */
  readonly externalHostname?: string | undefined;
  /**
   * Regular expressions (RE2) of origins whose scripts can read responses; each names the start and the end of a host.
   */
  readonly corsAllowedOrigins?: readonly string[] | undefined;
  /** Directives of the header Strict-Transport-Security: `max-age=…`, `includeSubDomains`, `preload`. */
  readonly strictTransportSecurity?: readonly string[] | undefined;
  /**
   * PEM file with the serving certificate, followed by its intermediate certificates. If unset, a certificate is
   * created in `dataDir`.
   */
  readonly tlsCertFile: string | undefined;
  /** PEM file with the private key of `tlsCertFile`. */
  readonly tlsPrivateKeyFile: string | undefined;
  /**
   * Directory of apiserver.crt and apiserver.key, which are created if missing; ignored if `tlsCertFile` is set. If
   * `dataDir` is unset, it is the directory coxswain in this one.
   */
  readonly certDir?: string | undefined;
  /** How often the objects of each resource are counted for metrics, with any storage engine; 0 disables it. */
  readonly objectCountPollMs: number;
  /**
   * Directory of certificates, the kubeconfig and the store. Undefined, which `memory` alone allows: the server writes
   * nothing to disk.
   */
  readonly dataDir: string | undefined;
  /**
   * `memory` loses all objects when the server ends; `lmdb` keeps them under `dataDir`; `etcd` keeps them in the
   * cluster of `etcd`, which several servers can share.
   */
  readonly storage: "lmdb" | "memory" | "etcd";
  /** How a store that is shared with kube-apiserver keeps built-in objects; embedded stores keep JSON. */
  readonly storageMediaType: StorageMediaType;
  /**
   * YAML or JSON file with an EncryptionConfiguration, which names the resources whose objects are encrypted in the
   * store, the providers and the keys.
   */
  readonly encryptionConfigFile?: string | undefined;
  /** Use changes of `encryptionConfigFile` without a restart. */
  readonly reloadsEncryptionConfig?: boolean | undefined;
  /** `full`: a write is answered when it is on disk. `relaxed`: when the operating system has it. */
  readonly durability: "full" | "relaxed";
  /** How long old resource versions can be read and watched from, in milliseconds. */
  readonly historyMs: number;
  /**
   * Every so many milliseconds the store is compacted to the revision that was the newest at the time before. 0 or
   * undefined: only `historyMs` and `historyBytesMax` apply.
   */
  readonly compactionIntervalMs: number | undefined;
  /** Limit of the bytes of old revisions; above it the oldest are removed regardless of their age. */
  readonly historyBytesMax: number;
  /** How long objects of the kind `Event` live. */
  readonly eventTtlSeconds: number;
  /**
   * If false, lists and watches are answered as kube-apiserver without a watch cache does: each list reads the current
   * state, whatever its resourceVersion, and has the requested limit, and watches have no bookmarks.
   */
  readonly watchCache: boolean;
  /**
   * By name of the resource with its group, such as `deployments.apps`. 0: as with `watchCache` false, for this
   * resource. Other sizes have no effect, except that Events, which are read so by default, get a cache.
   */
  readonly watchCacheSizes: ReadonlyMap<string, number>;
  /**
   * Accepts requests without credentials as the user system:anonymous of the group system:unauthenticated. If unset,
   * true, unless `authenticationConfigFile` sets it.
   */
  readonly anonymousAuth: boolean | undefined;
  /**
   * File with an AuthenticationConfiguration: token issuers, and the paths of anonymous requests. The file is reloaded
   * when it changes. Excludes `--oidc-*`, and `anonymousAuth` if the file configures anonymous requests.
   */
  readonly authenticationConfigFile: string | undefined;
  /**
   * File with an EgressSelectorConfiguration: the proxies for connections to issuers whose configuration has an egress
   * type.
   */
  readonly egressSelectorConfigFile: string | undefined;
  /** PEM file with the authorities of client certificates. The server's own authority is always accepted. */
  readonly clientCaFile: string | undefined;
  /**
   * Accepts the tokens in Secrets of type bootstrap.kubernetes.io/token in the namespace kube-system, with which nodes
   * join.
   */
  readonly bootstrapTokenAuth: boolean;
  /** CSV file of token, user name, user uid and groups. */
  readonly tokenAuthFile: string | undefined;
  /** Audiences of this server: tokens must have one, and issued tokens have all by default. Empty: the issuers. */
  readonly apiAudiences: readonly string[];
  /** The server issues tokens with the first and accepts tokens of all. At least one. */
  readonly serviceAccountIssuers: readonly string[];
  /**
   * https URL of the keys that verify service account tokens, for the discovery document. If unset, /openid/v1/jwks on
   * this server.
   */
  readonly serviceAccountJwksUri?: string | undefined;
  /** PEM files with further keys whose tokens are accepted. */
  readonly serviceAccountKeyFiles: readonly string[];
  /** PEM file with the private key that signs service account tokens. If unset, a key is created in `dataDir`. */
  readonly serviceAccountSigningKeyFile: string | undefined;
  /**
   * Unix socket of an external signer (ExternalJWTSigner), which signs service account tokens and has the keys that
   * verify them: a path, or @ and an abstract name. Not with `serviceAccountSigningKeyFile` or
   * `serviceAccountKeyFiles`.
   */
  readonly serviceAccountSigningEndpoint: string | undefined;
  /** Accepts tokens in Secrets only while the Secret and the service account exist. */
  readonly serviceAccountLookup: boolean;
  /**
   * Maximum lifetime of a service account token, between 1h and 2^32 seconds; longer requested lifetimes are reduced to
   * it. 0 is no limit.
   */
  readonly serviceAccountMaxTokenExpirationMs: number;
  /**
   * How long an automatically created token Secret can be unused before it is marked as invalid, and how long after
   * that it is deleted.
   */
  readonly legacyTokenCleanUpMs: number;
  /** Extends the lifetime of the tokens of pods from about an hour to a year, for clients that do not reload them. */
  readonly serviceAccountExtendTokenExpiration: boolean;
  /**
   * ABAC, AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook, in order of evaluation. Empty: Node, RBAC. The group
   * system:masters is always allowed everything.
   */
  readonly authorizationModes: readonly string[];
  /** File of the mode ABAC: one policy in JSON per line. */
  readonly authorizationPolicyFile?: string | undefined;
  /** The value of `--runtime-config`. */
  readonly runtimeConfig: string;
  /** Names of the controllers that run: `*` for all, `-name` to disable one. */
  readonly controllers: readonly string[];
  /**
   * If false, dependents stay when their owner is deleted: the garbage collector does not run, and deletions get no
   * finalizers for it.
   */
  readonly enableGarbageCollector: boolean;
  /** If false, pods and pod templates with privileged containers or Windows HostProcess containers are rejected. */
  readonly allowPrivileged: boolean;
  /** Interval at which the usage of all resource quotas is counted again. 0 is never. */
  readonly resourceQuotaSyncMs: number;
  /** The value of `--feature-gates`. */
  readonly featureGates: string;
  /** One CIDR or two of different families, separated by a comma: the cluster IPs of Services. */
  readonly serviceClusterIpRange: string;
  /** Ports for Services of type NodePort, such as `30000-32767`. */
  readonly serviceNodePortRange: string;
  /** Connects to the Services of webhooks and APIServices by their endpoint addresses instead of the cluster IP. */
  readonly enableAggregatorRouting: boolean;
  /**
   * PEM file with the client certificate for servers of APIServices, reloaded when it changes. Undefined: they get
   * none, and do not trust the headers that name the user.
   */
  readonly proxyClientCertFile: string | undefined;
  /** PEM file with the key of `proxyClientCertFile`. */
  readonly proxyClientKeyFile: string | undefined;
  /**
   * PEM file with the authorities of other servers over the same store, reloaded when it changes: requests for
   * resources that only they serve are forwarded to them. Undefined: these are not found.
   */
  readonly peerCaFile?: string | undefined;
  /** Address at which other servers reach this one. Used with `peerAdvertisePort`; otherwise `advertiseAddress`. */
  readonly peerAdvertiseIp?: string | undefined;
  /** Port at which other servers reach this one. Used with `peerAdvertiseIp`. */
  readonly peerAdvertisePort?: number | undefined;
  /** Answers 502 when the server of an APIService redirects a request. */
  readonly rejectForwardingRedirects: boolean;
  /**
   * Bytes in a second for each direction of exec, attach, port-forward, and proxied connections that have changed their
   * protocol. 0: unlimited.
   */
  readonly maxConnectionBytesPerSec: number;
  /**
   * Limits requests by priority levels and flow schemas. Otherwise only `maxRequestsInflight` and
   * `maxMutatingRequestsInflight` limit them.
   */
  readonly enablePriorityAndFairness: boolean;
  /**
   * This and `maxMutatingRequestsInflight` are added up to the number of requests that the server executes at once, if
   * `enablePriorityAndFairness` is true. Otherwise it is the limit of non-mutating requests; 0 disables it.
   */
  readonly maxRequestsInflight: number;
  /** As `maxRequestsInflight`, for mutating requests. */
  readonly maxMutatingRequestsInflight: number;
  /**
   * Probability, up to 0.02, that a request over HTTP/2 closes its connection after the open requests, so that clients
   * connect to another server behind a load balancer.
   */
  readonly goawayChance: number;
  /** Timeout of requests except watches, and those for logs, streams and proxies. */
  readonly requestTimeoutMs: number;
  /** Watches end after this time at the earliest, and after twice this time at the latest. */
  readonly minRequestTimeoutMs: number;
  /** How long /readyz waits at most until the watch caches of a store that several servers share are loaded. */
  readonly storageInitializationTimeoutMs: number;
  /** How long after the start /livez treats unfinished checks as healthy. */
  readonly livezGracePeriodMs: number;
  /** The server goes on serving for so long after it is asked to stop, with /readyz failing. */
  readonly shutdownDelayMs: number;
  /**
   * Whether new requests are answered with 429 after that, until the open ones are done. Otherwise the server stops to
   * listen.
   */
  readonly shutdownSendRetryAfter: boolean;
  /**
   * After `shutdownDelayMs`, ends the open watches one after the other within this time, at least 200 in a second, so
   * that clients do not list again all at once. 0 ends them at once.
   */
  readonly shutdownWatchTerminationGraceMs: number;
  /**
   * File with a TracingConfiguration of apiserver.config.k8s.io: spans of requests are sent to a collector of
   * OpenTelemetry.
   */
  readonly tracingConfigFile?: string | undefined;
  /** Whether profiles of the process are served at `/debug/pprof/`. */
  readonly profiling?: boolean | undefined;
  /**
   * Unix socket with the paths below /debug/pprof and /debug/flags, without authentication: only the user of this
   * process can connect. A socket of this name is replaced.
   */
  readonly debugSocketPath?: string | undefined;
  // The end of what is written.
  /** The cluster of the engine `etcd`. */
  readonly etcd?: EtcdServerOptions;
  /** The values of all flags by name, which `/flagz` shows. Undefined: there is no such page. */
  readonly flags?: Readonly<Record<string, string>> | undefined;
  /** Connections to kubelets, for the logs and streams of pods. */
  readonly kubelet: KubeletOptions;
  /** Addresses besides global ones that proxies, and connections whose addresses are checked, may reach; only for tests. */
  readonly proxiedAddresses: AddressPolicy;
  /** Resolves the Services of webhooks and APIServices to addresses, instead of either. */
  readonly serviceResolver?: ServiceResolver;
  /**
   * The name of this server's host in its identity; that of the operating system by default. No two servers over one
   * store can have the same.
   */
  readonly hostname?: string;
  /**
   * How often the server renews the Lease of its identity, which raises the resourceVersion of lists. A server of the
   * test kit renews it every quarter of an hour by default, so that only tests and controllers write.
   */
  readonly identityRenewMs: number;
  /** TLS of the listener. */
  readonly tls: TlsOptions;
  /** Authenticating proxies: their authorities, and the headers that name the user. */
  readonly requestHeader: RequestHeaderOptions;
  /** One OpenID Connect issuer. `authenticationConfigFile` configures several, with more settings. */
  readonly oidc: OidcOptions;
  /** Webhook that authenticates bearer tokens. */
  readonly tokenWebhook: TokenWebhookSettings;
  /** The authorization webhook, or a file with an AuthorizationConfiguration. */
  readonly authorization: AuthorizationOptions;
  /** Which admission plugins run. */
  readonly admission: AdmissionOptions;
  /** Which requests are recorded, and where. */
  readonly audit: AuditOptions;
  /** Which metrics are shown. */
  readonly metrics: MetricsOptions;
  /** Of servers that share a store, one runs the controllers: the one that holds a Lease. */
  readonly leaderElection: LeaderElectionOptions;
  /**
   * With the gate CoordinatedLeaderElection, of the election of the server that elects the holders of Leases that have
   * LeaseCandidates.
   */
  readonly coordinatedLeadership: ElectionTimes;
  /** The source of the time; tests can use their own. */
  readonly clock: Clock;
  /** Receives the log; by default, nothing is logged. */
  readonly logger: Logger;
  /**
   * Which lines with a level the log has: slow requests from level 2 on, each request from level 3 on. A client with the
   * right to do so can change the level at `/debug/flags/v`. Undefined: no such lines.
   */
  readonly verbosity?: Verbosity;
}

/**
 * A server that `startServer` has started.
 *
 * @example
 * ```ts
 * import { type RunningServer, startServer } from "coxswain";
 *
 * const server: RunningServer = await startServer();
 * console.log(server.kubeconfig.includes(server.url)); // true
 * await server.close();
 * ```
 */
export interface RunningServer {
  /** `https://127.0.0.1:6443` */
  readonly url: string;
  /** The port that the server listens on. */
  readonly port: number;
  /** YAML text of a kubeconfig whose user is in system:masters. */
  readonly kubeconfig: string;
  /** The file that contains it; undefined without a data directory. */
  readonly kubeconfigFile: string | undefined;
  /** PEM of the serving certificate and its key. */
  readonly servingCertificate: { readonly cert: string; readonly key: string };
  /** Fails /readyz, waits for `shutdownDelayMs`, ends watches, lets open requests finish, and closes the store. */
  close(): Promise<void>;
}
