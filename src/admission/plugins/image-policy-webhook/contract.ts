/**
 * The configuration and the reviews of the plugin ImagePolicyWebhook.
 * Source: Kubernetes docs, "Admission Control in Kubernetes", heading "ImagePolicyWebhook".
 */
import type { WebhookEndpoint } from "../../../webhook/contract.ts";

/** The configuration of the plugin ImagePolicyWebhook. */
export interface ImagePolicy {
  readonly endpoint: WebhookEndpoint;
  /** How long answers that allow are cached; 0 for not at all. */
  readonly allowTtlMs: number;
  /** How long answers that deny are cached; 0 for not at all. */
  readonly denyTtlMs: number;
  /** The delay before the second call. */
  readonly retryBackoffMs: number;
  /** Whether pods are allowed while the webhook fails. */
  readonly defaultAllow: boolean;
}

/** The status of an ImageReview. */
export interface ImageReviewStatus {
  readonly allowed?: boolean;
  readonly reason?: string;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}
