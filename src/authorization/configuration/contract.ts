import type { MatchConditions } from "./match-conditions.ts";

/** Which authorizers are asked, in their order. */
export interface AuthorizationConfiguration {
  readonly authorizers: readonly AuthorizerConfiguration[];
}

export const authorizerTypes = ["ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"] as const;

export type AuthorizerType = (typeof authorizerTypes)[number];

/** The name of an authorizer of which there can be one only. */
export function nameOfType(type: string): string {
  return type.toLowerCase();
}

export interface AuthorizerConfiguration {
  readonly type: AuthorizerType;
  /** Unique; of all but webhooks the type in lower case. */
  readonly name: string;
  /** There for webhooks, and only for them. */
  readonly webhook?: WebhookConfiguration;
}

export interface WebhookConfiguration {
  /** How long it is remembered that somebody may do something; 0 is not at all. */
  readonly authorizedTtlMs: number;
  /** The same of all other answers. */
  readonly unauthorizedTtlMs: number;
  /** Of each call. */
  readonly timeoutMs: number;
  readonly subjectAccessReviewVersion: "v1" | "v1beta1";
  /** What is decided when no answer could be had. */
  readonly failurePolicy: "NoOpinion" | "Deny";
  readonly connectionInfo:
    | { readonly type: "KubeConfigFile"; readonly kubeConfigFile: string }
    | { readonly type: "InClusterConfig" };
  /** Undefined: all requests match. */
  readonly conditions?: MatchConditions;
}
