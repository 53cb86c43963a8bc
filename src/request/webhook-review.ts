/** Calls of webhooks, for the timeline of a test server. */

/** A call of a webhook that has ended. */
export interface WebhookReview {
  readonly type: "mutating" | "validating" | "conversion";
  /** The name of the configuration, or of the definition whose objects are converted. */
  readonly configuration: string;
  /** The name of the webhook; empty for conversions. */
  readonly webhook: string;
  /** Such as `CREATE`; for conversions the versions, such as `v1 → v2`. */
  readonly operation: string;
  /** The object in the request. These are empty where it has none, and for conversions. */
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly outcome: "allowed" | "changed" | "denied" | "failed" | "converted";
  /** Why it was denied, or has failed; empty otherwise. */
  readonly message: string;
  /** In real time, which webhooks need. */
  readonly durationMs: number;
}

/** Receives calls of webhooks. */
export type ReviewObserver = (review: WebhookReview) => void;
