import type { UserInfo } from "../apimachinery/user.ts";
import type { PolicyRule } from "./rbac/rule.ts";

/** What a user may do, as far as authorizers can list it. */
export interface UserRules {
  readonly rules: readonly PolicyRule[];
  /** Some authorizer cannot list what it allows. */
  readonly incomplete: boolean;
  /** Empty when nothing went wrong. */
  readonly problem: string;
}

/** What is asked for. Source: access-control §5.3, "request attributes". */
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
  /** The request that waits for the decision: once it is closed, nobody does. */
  readonly waiting?: { onClose(run: () => void): void };
}

export interface Decision {
  readonly decision: "allow" | "deny" | "noOpinion";
  readonly reason: string;
  /** What went wrong on the way to it. Who is not allowed then gets a 500, since it may be that he is. */
  readonly error?: string;
}

export type Authorizer = (attributes: AuthorizationAttributes) => Decision | Promise<Decision>;

/** Which authorizers are asked: by the file, or by modes and what belongs to them. */
export interface AuthorizationOptions {
  /** An AuthorizationConfiguration, followed as it changes. Nothing else may be said then. */
  readonly configFile: string | undefined;
  /** Of the mode Webhook. What is undefined has upstream's default. */
  readonly webhook: {
    /** A kubeconfig. */
    readonly configFile?: string;
    /** Of the reviews that are sent: v1, v1beta1. */
    readonly version?: string;
    /** How long it is remembered that somebody may do something; 0 is not at all. */
    readonly authorizedTtlMs?: number;
    /** The same of all other answers. */
    readonly unauthorizedTtlMs?: number;
  };
}

/** What is counted of authorization; histograms are the observer's. Source: upstream's authorization metrics. */
export interface AuthorizationObserver {
  /** Of a request. */
  attempted(decision: Decision, durationMs: number): void;
  /** Of an authorizer, counted up by the chain: what it decided, but for no opinions. */
  decisions(type: string, name: string): DecisionCounts;
  /** One call of a webhook. */
  webhookCalled(name: string, result: WebhookResult, durationMs: number): void;
  /** A webhook could not be asked, and the next authorizer was. */
  webhookFailedOpen(name: string, result: WebhookResult): void;
  /** @param outcome `excluded`: a condition did not hold; `failed`: at least one could not be evaluated, and none was false */
  conditionsEvaluated(name: string, outcome: "matched" | "excluded" | "failed", durationMs: number): void;
}

/** `canceled`: nobody waits for it any more. */
export type WebhookResult = "success" | "timeout" | "error" | "canceled";

export interface DecisionCounts {
  allowed: number;
  denied: number;
}
