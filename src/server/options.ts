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
  /**
   * `memory` loses all objects when the server ends; `lmdb` keeps them under `dataDir`; `etcd` keeps them in the cluster
   * of `etcd`, which several servers can share.
   */
  readonly storage: "memory" | "lmdb" | "etcd";
  /** The cluster of the engine `etcd`. */
  readonly etcd?: EtcdServerOptions;
  /** How a store that is shared with kube-apiserver keeps built-in objects; embedded stores keep JSON. */
  readonly storageMediaType: StorageMediaType;
  /**
   * Directory of certificates, the kubeconfig and the store. Undefined, which `memory` alone allows: the server writes
   * nothing to disk.
   */
  readonly dataDir: string | undefined;
  /**
   * Path of an EncryptionConfiguration: the stored objects of some resources are encrypted, with the same bytes as those
   * of kube-apiserver. Undefined: none are.
   */
  readonly encryptionConfigFile?: string | undefined;
  /** Whether changes of `encryptionConfigFile` are used without a restart. */
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
  /** The store drops the oldest revisions beyond so many bytes, even within `historyMs`. */
  readonly historyBytesMax: number;
  /** False: reads and watches are those of the store, as if no resource had a watch cache. */
  readonly watchCache: boolean;
  /**
   * By name of the resource with its group, such as `deployments.apps`. 0: as with `watchCache` false, for this resource.
   * Other sizes have no effect, except that Events, which are read so by default, get a cache.
   */
  readonly watchCacheSizes: ReadonlyMap<string, number>;
  /** How long objects of the kind `Event` live. */
  readonly eventTtlSeconds: number;
  /** The values of all flags by name, which `/flagz` shows. Undefined: there is no such page. */
  readonly flags?: Readonly<Record<string, string>> | undefined;
  /** IP address to listen on. */
  readonly bindAddress: string;
  /** 0 selects a free port. */
  readonly securePort: number;
  /** Whether other processes can listen on the same port (SO_REUSEPORT); the operating system divides connections. */
  readonly permitPortSharing: boolean;
  /** Whether all connections use HTTP/1.1. */
  readonly disableHttp2Serving: boolean;
  /** Concurrent requests on one HTTP/2 connection. 0: 1000. */
  readonly http2MaxStreamsPerConnection: number;
  /**
   * Bytes in a second for each direction of exec, attach, port-forward, and proxied connections that have changed their
   * protocol. 0: unlimited.
   */
  readonly maxConnectionBytesPerSec: number;
  /** IP address in the endpoints of the Service `kubernetes`. Undefined: the first non-loopback address, if any. */
  readonly advertiseAddress: string | undefined;
  /** One CIDR or two of different families, separated by a comma: the cluster IPs of Services. */
  readonly serviceClusterIpRange: string;
  /** The host, or host and port, in documents for clients. Undefined: `advertiseAddress`, or `bindAddress`. */
  readonly externalHostname?: string | undefined;
  /** Regular expressions (RE2) of origins whose scripts can read responses; each names the start and the end of a host. */
  readonly corsAllowedOrigins?: readonly string[] | undefined;
  /** Directives of the header Strict-Transport-Security: `max-age=…`, `includeSubDomains`, `preload`. */
  readonly strictTransportSecurity?: readonly string[] | undefined;
  /** Ports for Services of type NodePort, such as `30000-32767`. */
  readonly serviceNodePortRange: string;
  /** Whether calls to the Service of a webhook or APIService go to one of its endpoints instead of its cluster IP. */
  readonly enableAggregatorRouting: boolean;
  /** Connections to kubelets, for the logs and streams of pods. */
  readonly kubelet: KubeletOptions;
  /** Addresses besides global ones that proxies, and connections whose addresses are checked, may reach; only for tests. */
  readonly proxiedAddresses: AddressPolicy;
  /** Resolves the Services of webhooks and APIServices to addresses, instead of either. */
  readonly serviceResolver?: ServiceResolver;
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
  readonly peerCaFile?: string;
  /** Address at which other servers reach this one. Used with `peerAdvertisePort`; otherwise `advertiseAddress`. */
  readonly peerAdvertiseIp?: string;
  /** Port at which other servers reach this one. Used with `peerAdvertiseIp`. */
  readonly peerAdvertisePort?: number;
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
  /** Whether redirects of servers of APIServices are answered with 502. */
  readonly rejectForwardingRedirects: boolean;
  /** PEM file with the serving certificate and its intermediates. Undefined: the server makes one. */
  readonly tlsCertFile: string | undefined;
  /** PEM file with the key of `tlsCertFile`. */
  readonly tlsPrivateKeyFile: string | undefined;
  /**
   * Directory of `apiserver.crt` and `apiserver.key`, which the server creates when they are missing. Not used with
   * `tlsCertFile`.
   */
  readonly certDir?: string | undefined;
  /** PEM file with the authorities of client certificates. The server's own authority is always accepted. */
  readonly clientCaFile: string | undefined;
  /** TLS of the listener. */
  readonly tls: TlsOptions;
  /** Authenticating proxies: their authorities, and the headers that name the user. */
  readonly requestHeader: RequestHeaderOptions;
  /** Whether Secrets of type bootstrap.kubernetes.io/token in kube-system are accepted as bearer tokens. */
  readonly bootstrapTokenAuth: boolean;
  /**
   * Whether requests without credentials are those of system:anonymous. Undefined: yes, unless
   * `authenticationConfigFile` disables it.
   */
  readonly anonymousAuth: boolean | undefined;
  /** One OpenID Connect issuer. `authenticationConfigFile` configures several, with more settings. */
  readonly oidc: OidcOptions;
  /** File with an AuthenticationConfiguration of `apiserver.config.k8s.io`, reloaded when it changes. */
  readonly authenticationConfigFile: string | undefined;
  /** File with an EgressSelectorConfiguration of `apiserver.k8s.io`: proxies for issuers that name one. */
  readonly egressSelectorConfigFile: string | undefined;
  /** CSV file of token, user name, user uid and groups. */
  readonly tokenAuthFile: string | undefined;
  /** Webhook that authenticates bearer tokens. */
  readonly tokenWebhook: TokenWebhookSettings;
  /** Audiences of this server: tokens must have one, and issued tokens have all by default. Empty: the issuers. */
  readonly apiAudiences: readonly string[];
  /** The server issues tokens with the first and accepts tokens of all. At least one. */
  readonly serviceAccountIssuers: readonly string[];
  /** The https URL of the key set in the issuer's metadata. Undefined: this server's own. */
  readonly serviceAccountJwksUri?: string;
  /** PEM files with further keys whose tokens are accepted. */
  readonly serviceAccountKeyFiles: readonly string[];
  /** PEM file with the signing key. Undefined: the server creates one under `dataDir`. */
  readonly serviceAccountSigningKeyFile: string | undefined;
  /**
   * The socket of an external signer, which signs tokens and has the keys that verify them: a path, or `@` and an
   * abstract name. Undefined: the server signs. Not together with key files.
   */
  readonly serviceAccountSigningEndpoint: string | undefined;
  /** Whether a token of a Secret is valid only while the Secret and its service account exist. */
  readonly serviceAccountLookup: boolean;
  /** Requested token lifetimes are reduced to this. 0: no limit. */
  readonly serviceAccountMaxTokenExpirationMs: number;
  /** Whether one-hour tokens of pods are valid for a year, for clients that do not reload them. */
  readonly serviceAccountExtendTokenExpiration: boolean;
  /** A token of a Secret that is unused for so long is marked as invalid, and deleted after as long again. */
  readonly legacyTokenCleanUpMs: number;
  /** Interval in milliseconds at which the usage of all quotas is counted again; 0 for never. */
  readonly resourceQuotaSyncMs: number;
  /**
   * ABAC, AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook, in order of evaluation. Empty: Node, RBAC. The group
   * system:masters is always allowed everything.
   */
  readonly authorizationModes: readonly string[];
  /** File of the mode ABAC: one policy in JSON per line. */
  readonly authorizationPolicyFile?: string;
  /** The authorization webhook, or a file with an AuthorizationConfiguration. */
  readonly authorization: AuthorizationOptions;
  /** Which admission plugins run. */
  readonly admission: AdmissionOptions;
  /** Which requests are recorded, and where. */
  readonly audit: AuditOptions;
  /** Which metrics are shown. */
  readonly metrics: MetricsOptions;
  /** The value of `--runtime-config`. */
  readonly runtimeConfig: string;
  /** The value of `--feature-gates`. */
  readonly featureGates: string;
  /** Names of the controllers that run: `*` for all, `-name` to disable one. */
  readonly controllers: readonly string[];
  /** Of servers that share a store, one runs the controllers: the one that holds a Lease. */
  readonly leaderElection: LeaderElectionOptions;
  /** False: dependents stay when their owner is deleted, whatever the deletion requests. */
  readonly enableGarbageCollector: boolean;
  /** Whether pods can have privileged containers. */
  readonly allowPrivileged: boolean;
  /**
   * With the gate CoordinatedLeaderElection, of the election of the server that elects the holders of Leases that have
   * LeaseCandidates.
   */
  readonly coordinatedLeadership: ElectionTimes;
  /**
   * Whether priority levels and flow schemas limit requests. Otherwise, only `maxRequestsInflight` and
   * `maxMutatingRequestsInflight` do.
   */
  readonly enablePriorityAndFairness: boolean;
  /**
   * With `enablePriorityAndFairness`, this and `maxMutatingRequestsInflight` are added up to the number of requests that
   * the server executes at once. Otherwise, the limit of get and list requests; 0 disables it.
   */
  readonly maxRequestsInflight: number;
  /** As `maxRequestsInflight`, for writes. */
  readonly maxMutatingRequestsInflight: number;
  /** Probability, up to 0.02, that a request over HTTP/2 ends its connection after the open requests. */
  readonly goawayChance: number;
  /** Timeout of requests except watches, and those for logs, streams and proxies. */
  readonly requestTimeoutMs: number;
  /** Watches end after this time at the earliest, and after twice this time at the latest. */
  readonly minRequestTimeoutMs: number;
  /**
   * With a store that several servers share, how long /readyz waits at most until the watch caches are
   * loaded.
   */
  readonly storageInitializationTimeoutMs: number;
  /**
   * A Unix socket with the paths below /debug/pprof and /debug/flags, without authentication: only the user of this
   * process can connect.
   */
  readonly debugSocketPath?: string | undefined;
  /** How often objects are counted for metrics, in milliseconds; 0: never. */
  readonly objectCountPollMs: number;
  /** /livez passes for so long after a start, even before the start is complete. */
  readonly livezGracePeriodMs: number;
  /** The server goes on serving for so long after it is asked to stop, with /readyz failing. */
  readonly shutdownDelayMs: number;
  /** Whether new requests are answered with 429 after that, until the open ones are done. Otherwise the server stops to listen. */
  readonly shutdownSendRetryAfter: boolean;
  /** Watches end one after the other within so long, so that their clients do not list again together. 0: at once. */
  readonly shutdownWatchTerminationGraceMs: number;
  /** The source of the time; tests can use their own. */
  readonly clock: Clock;
  /** Receives the log; by default, nothing is logged. */
  readonly logger: Logger;
  /**
   * Which lines with a level the log has: slow requests from level 2 on, each request from level 3 on. A client with the
   * right to do so can change the level at `/debug/flags/v`. Undefined: no such lines.
   */
  readonly verbosity?: Verbosity;
  /** File with a TracingConfiguration of `apiserver.config.k8s.io`: spans of requests are sent to a collector. */
  readonly tracingConfigFile?: string | undefined;
  /** Whether profiles of the process are served at `/debug/pprof/`. */
  readonly profiling?: boolean | undefined;
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
