import type { UserInfo } from "../apimachinery/user.ts";

/**
 * A PolicyRule of rbac.authorization.k8s.io/v1. A missing list matches no value, except
 * `resourceNames`.
 */
export interface PolicyRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  /** A missing or empty list matches every name. */
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** The rules that apply to a user, as far as the authorizers can list them. */
export interface UserRules {
  readonly rules: readonly PolicyRule[];
  /** True when at least one authorizer cannot list its rules. */
  readonly incomplete: boolean;
  /** The errors of all authorizers in one text; empty without errors. */
  readonly problem: string;
}

/**
 * The attributes of a request that authorizers decide on. Source: Kubernetes docs, Authorization,
 * Request attributes used in authorization.
 */
export interface AuthorizationAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
  /** The client connection of the request. A webhook call is canceled when it closes. */
  readonly connection?: { onClose(run: () => void): void };
}

/**
 * The decision of one authorizer, or of a chain. `noOpinion` leaves the decision to the next
 * authorizer.
 */
export interface Decision {
  readonly decision: "allow" | "deny" | "noOpinion";
  readonly reason: string;
  /**
   * An evaluation error. A request that is not allowed is then answered with 500 instead of 403.
   */
  readonly error?: string;
}

/** Decides on one request. Synchronous when the decision needs no call to another service. */
export type Authorizer = (attributes: AuthorizationAttributes) => Decision | Promise<Decision>;

/** Selects the authorizers: by a configuration file, or by modes and their flags. */
export interface AuthorizationOptions {
  /**
   * The path of an AuthorizationConfiguration, which is reloaded when it changes. Excludes the modes
   * and the other options of authorization.
   */
  readonly configFile: string | undefined;
  /** For the mode Webhook. Undefined fields have upstream's defaults. */
  readonly webhook: {
    /** The path of a kubeconfig. */
    readonly configFile?: string;
    /** The version of the SubjectAccessReviews that are sent: v1 or v1beta1. */
    readonly version?: string;
    /** How long `allowed` responses are cached; 0 disables the cache. */
    readonly authorizedTtlMs?: number;
    /** How long all other responses are cached; 0 disables the cache. */
    readonly unauthorizedTtlMs?: number;
  };
}

/**
 * Records the authorization metrics.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authorization/metrics/metrics.go.
 */
export interface AuthorizationObserver {
  /** Records the decision of the whole chain on one request. */
  attempted(decision: Decision, durationMs: number): void;
  /**
   * @returns the counters of one authorizer, which the chain increments for each `allow` and `deny`
   */
  decisions(type: string, name: string): DecisionCounts;
  /** Records one call of a webhook. */
  webhookCalled(name: string, result: WebhookResult, durationMs: number): void;
  /** Records that a webhook call failed and the chain continued with the next authorizer. */
  webhookFailedOpen(name: string, result: WebhookResult): void;
  /**
   * Records the evaluation of the match conditions of a webhook.
   *
   * @param outcome `excluded`: a condition is false; `failed`: at least one has an evaluation error
   *   and none is false
   */
  conditionsEvaluated(name: string, outcome: "matched" | "excluded" | "failed", durationMs: number): void;
}

/** `canceled`: the client closed the request, or all tries took too long. */
export type WebhookResult = "success" | "timeout" | "error" | "canceled";

/** Counters of the final decisions of one authorizer. */
export interface DecisionCounts {
  allowed: number;
  denied: number;
}
