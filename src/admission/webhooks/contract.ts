/** The contract of admission webhooks. Source: Kubernetes docs, "Dynamic Admission Control". */
import type { Logger } from "../../apimachinery/logger.ts";
import type { AdmissionAttributes, AdmissionOperation } from "../../registry/admission-attributes.ts";
import type { ReviewObserver } from "../../request/webhook-review.ts";
import type { ClientUse } from "../../webhook/shared-clients.ts";
import type { Match, Matcher } from "../matching/contract.ts";

/** One webhook of a configuration, compiled. */
export interface Webhook {
  /** Unique in all configurations: `configuration/name/index`. */
  readonly uid: string;
  readonly configuration: string;
  readonly name: string;
  readonly matcher: Matcher;
  /** Undefined without `matchConditions`. */
  readonly conditions: WebhookConditions | undefined;
  readonly client: ClientUse;
  /** Whether requests succeed when the webhook cannot be called. */
  readonly failsOpen: boolean;
  readonly timeoutMs: number;
  /** Whether the webhook can be called for dry runs. */
  readonly supportsDryRun: boolean;
  /** Undefined if the webhook accepts no version that the server can send. */
  readonly reviewVersion: ReviewVersion | undefined;
  /** Whether a mutating webhook is called again when the object changes after its call. */
  readonly isReinvoked: boolean;
}

/** The versions of AdmissionReview. */
export type ReviewVersion = "v1" | "v1beta1";

/** A request whose conditions are evaluated, with its objects at the version of the match. */
export interface ConditionsInput extends ReviewedObjects {
  readonly attributes: AdmissionAttributes;
  readonly match: Match;
}

/**
 * Evaluates the match conditions of a webhook.
 *
 * @returns whether the webhook is called
 * @throws ApiError 403 if a condition fails
 */
export type WebhookConditions = (input: ConditionsInput) => Promise<boolean>;

/** The objects of a request as JSON at the version of a match. */
export interface ReviewedObjects {
  readonly object: Buffer | undefined;
  readonly oldObject: Buffer | undefined;
}

/** The compiled webhooks of one configuration object, in its order. */
export type Configuration = readonly Webhook[];

/** The types of webhooks as metrics name them. */
export type WebhookType = "admit" | "validating";

/** Why a webhook rejected a request, as metrics name it. */
export type RejectionCause = "no_error" | "calling_webhook_error" | "apiserver_internal_error";

/** Receives calls of webhooks, for metrics. Codes are HTTP status codes, or 0. */
export interface WebhookObserver {
  called(
    call: WebhookCall,
    result: { readonly seconds: number; readonly code: number; readonly rejected: boolean },
  ): void;
  rejected(call: WebhookCall, cause: RejectionCause, code: number): void;
  failedOpen(call: WebhookCall): void;
}

/** Identifies the calls that are counted together. */
export interface WebhookCall {
  readonly name: string;
  readonly type: WebhookType;
  readonly operation: AdmissionOperation;
}

/** What calls need besides the webhook. */
export interface CallNeeds {
  readonly observer: WebhookObserver;
  /** Only on test servers. */
  readonly reviewed?: ReviewObserver | undefined;
  readonly logger: Logger;
  /** Milliseconds since any moment. */
  readonly elapsed: () => number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly newUid: () => string;
}
