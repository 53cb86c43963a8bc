/** Everything a server can be told; the flags of the command and the options of the library are this one shape. */
import type { AdmissionOptions } from "./admission/contract.ts";
import type { Clock } from "./apimachinery/clock.ts";
import type { Logger } from "./apimachinery/logger.ts";
import type { AuditOptions } from "./audit/contract.ts";
import type { OidcOptions } from "./authentication/configuration/contract.ts";
import type { RequestHeaderOptions, TokenWebhookSettings } from "./authentication/contract.ts";
import type { AuthorizationOptions } from "./authorization/contract.ts";
import type { TlsOptions } from "./http/listener/contract.ts";
import type { MetricsOptions } from "./metrics/contract.ts";
import type { ServiceResolver } from "./webhook/service-resolver.ts";

export interface ServerOptions {
  /** `memory` forgets everything at the end; `lmdb` keeps it under `dataDir`. */
  readonly storage: "memory" | "lmdb";
  /** Where certificates, the kubeconfig and the embedded store live. Undefined (memory only): nothing is written to disk. */
  readonly dataDir: string | undefined;
  /** `full`: a write is answered after its commit is on disk. `relaxed`: after it was handed to the system. */
  readonly durability: "full" | "relaxed";
  /** How long a state can be read and watched from after it was superseded. */
  readonly historyMs: number;
  /** How often the store is compacted to the revision that was the newest one such time before; never when it is 0 or undefined. */
  readonly compactionIntervalMs: number | undefined;
  /** Bytes of old revisions beyond which the oldest go, however young. */
  readonly historyBytesMax: number;
  readonly eventTtlSeconds: number;
  readonly bindAddress: string;
  /** 0 picks a free port. */
  readonly securePort: number;
  /** What the `kubernetes` Service's endpoints name. Undefined: the first address that is not loopback, if any. */
  readonly advertiseAddress: string | undefined;
  readonly serviceClusterIpRange: string;
  /** Such as `30000-32767`. */
  readonly serviceNodePortRange: string;
  /** Whether webhooks that are services are reached by one of their endpoints, rather than by the service's address. */
  readonly enableAggregatorRouting: boolean;
  /** Where services are reached that are webhooks, in place of either. */
  readonly serviceResolver?: ServiceResolver;
  readonly tlsCertFile: string | undefined;
  readonly tlsPrivateKeyFile: string | undefined;
  /** Where `apiserver.crt` and `apiserver.key` stand, or are put, unless the two files above are named. */
  readonly certDir?: string | undefined;
  readonly clientCaFile: string | undefined;
  readonly tls: TlsOptions;
  readonly requestHeader: RequestHeaderOptions;
  /** Whether secrets of the type bootstrap.kubernetes.io/token in kube-system hold bearer tokens. */
  readonly bootstrapTokenAuth: boolean;
  /** Undefined is yes, and leaves it to `authenticationConfigFile` to say otherwise. */
  readonly anonymousAuth: boolean | undefined;
  /** An issuer whose tokens are accepted; `authenticationConfigFile` knows several, and more of each. */
  readonly oidc: OidcOptions;
  /** AuthenticationConfiguration of `apiserver.config.k8s.io`, followed while the server runs. */
  readonly authenticationConfigFile: string | undefined;
  /** EgressSelectorConfiguration of `apiserver.k8s.io`: ways to issuers that name one. */
  readonly egressSelectorConfigFile: string | undefined;
  /** CSV of token, user name, user uid and groups. */
  readonly tokenAuthFile: string | undefined;
  readonly tokenWebhook: TokenWebhookSettings;
  /** What service account tokens that are for this server name, and what they name if nobody asks for anything else. None: the issuers. */
  readonly apiAudiences: readonly string[];
  /** The first stands in the tokens that are issued; those of all are accepted. At least one. */
  readonly serviceAccountIssuers: readonly string[];
  /** Where others get the keys by which they check tokens, told in place of this server's own address; an https URL. */
  readonly serviceAccountJwksUri?: string;
  /** PEM files with the keys whose tokens are accepted, besides the one that signs. */
  readonly serviceAccountKeyFiles: readonly string[];
  /** PEM file with the key that signs. Undefined: one is made, and kept under `dataDir`. */
  readonly serviceAccountSigningKeyFile: string | undefined;
  /** Whether the tokens of secrets must still stand there, beside an account that lives. */
  readonly serviceAccountLookup: boolean;
  /** Tokens asked for with a longer life get this one. 0: no limit. */
  readonly serviceAccountMaxTokenExpirationMs: number;
  /** Whether the tokens of pods that live about an hour are good for a year, for clients that do not read them again. */
  readonly serviceAccountExtendTokenExpiration: boolean;
  /** How long a secret's token may be unused before it is marked as invalid, and marked before it is deleted. */
  readonly legacyTokenCleanUpMs: number;
  /**
   * ABAC, AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook, in the order they are asked. None: Node, RBAC.
   * system:masters may do all in any case.
   */
  readonly authorizationModes: readonly string[];
  /** Of the mode ABAC: a policy in JSON per line. */
  readonly authorizationPolicyFile?: string;
  /** Webhooks, and authorizers by a file. */
  readonly authorization: AuthorizationOptions;
  readonly admission: AdmissionOptions;
  readonly audit: AuditOptions;
  readonly metrics: MetricsOptions;
  /** As `--runtime-config` takes it. */
  readonly runtimeConfig: string;
  /** As `--feature-gates` takes it. */
  readonly featureGates: string;
  /** Names of controllers that run; `*` stands for all, `-` before a name switches it off. */
  readonly controllers: readonly string[];
  readonly requestTimeoutMs: number;
  readonly minRequestTimeoutMs: number;
  readonly livezGracePeriodMs: number;
  readonly shutdownDelayMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface RunningServer {
  /** `https://127.0.0.1:6443` */
  readonly url: string;
  readonly port: number;
  /** YAML text of a kubeconfig whose user is in system:masters. */
  readonly kubeconfig: string;
  /** Where that text was written; undefined without a data directory. */
  readonly kubeconfigFile: string | undefined;
  /** PEM of the certificate and key the listener shows. */
  readonly servingCertificate: { readonly cert: string; readonly key: string };
  /** Fails /readyz, waits the shutdown delay, lets open requests finish, ends watches, closes the store. */
  close(): Promise<void>;
}
