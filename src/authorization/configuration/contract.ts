/** The configuration of authorizers. Source: k8s.io/apiserver@v0.36.0/pkg/apis/apiserver/types.go. */
import type { MatchConditions } from "./match-conditions.ts";

/** The authorizers, in the order of evaluation. */
export interface AuthorizationConfiguration {
  readonly authorizers: readonly AuthorizerConfiguration[];
}

/** The values of `--authorization-mode`. */
export const authorizerTypes = ["ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"] as const;

/** One of {@link authorizerTypes}. */
export type AuthorizerType = (typeof authorizerTypes)[number];

/** @returns the fixed name of an authorizer whose type can occur only once */
export function nameOfType(type: string): string {
  return type.toLowerCase();
}

/** One entry of `authorizers`. */
export interface AuthorizerConfiguration {
  readonly type: AuthorizerType;
  /** Unique. For all types except Webhook, the type in lower case. */
  readonly name: string;
  /** Present for the type Webhook only. */
  readonly webhook?: WebhookConfiguration;
}

/** The settings of an authorization webhook. */
export interface WebhookConfiguration {
  /** How long `allowed` responses are cached; 0 disables the cache. */
  readonly authorizedTtlMs: number;
  /** How long all other responses are cached; 0 disables the cache. */
  readonly unauthorizedTtlMs: number;
  /** The limit for one call. */
  readonly timeoutMs: number;
  readonly subjectAccessReviewVersion: "v1" | "v1beta1";
  /** The decision when the call fails. */
  readonly failurePolicy: "NoOpinion" | "Deny";
  readonly connectionInfo:
    | { readonly type: "KubeConfigFile"; readonly kubeConfigFile: string }
    | { readonly type: "InClusterConfig" };
  /** Undefined when all requests match. */
  readonly conditions?: MatchConditions;
}
