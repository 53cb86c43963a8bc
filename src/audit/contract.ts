/**
 * The contract of auditing. Source: k8s.io/apiserver@v0.36.0/pkg/apis/audit/v1/types.go and
 * pkg/audit.
 */

import type { UserInfo } from "../apimachinery/user.ts";
import type { AuditLevel, ResponseStatus } from "../request/audit.ts";

/** The stages of a request at which an event can be recorded. */
export const auditStages = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
/** One of {@link auditStages}. */
export type AuditStage = (typeof auditStages)[number];

/** The event of one request at one stage. As upstream, the encoders omit empty strings. */
export interface AuditEvent {
  readonly level: AuditLevel;
  readonly auditId: string;
  readonly stage: AuditStage;
  readonly requestUri: string;
  readonly verb: string;
  /** Undefined when authentication failed. */
  readonly user: UserInfo | undefined;
  readonly impersonatedUser: UserInfo | undefined;
  /**
   * The constraint of a constrained impersonation (KEP-5284); empty for unconstrained
   * impersonation.
   */
  readonly impersonationConstraint: string;
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
  readonly objectRef: ObjectReference | undefined;
  readonly responseStatus: ResponseStatus | undefined;
  /** Encoded as JSON. */
  readonly requestObject: string | undefined;
  /** Encoded as JSON. */
  readonly responseObject: string | undefined;
  /** In milliseconds since 1970. */
  readonly requestReceivedAt: number;
  /** In milliseconds since 1970. */
  readonly stageAt: number;
  readonly annotations: ReadonlyMap<string, string>;
}

/** The object of a request. */
export interface ObjectReference {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resourceVersion: string;
  readonly subresource: string;
}

/** Receives events. It must not use an event after the call. */
export interface AuditSink {
  /**
   * Records an event.
   *
   * @returns false when the event is lost and the request must fail; a promise when the request
   *   must wait. Never rejects
   */
  process(event: AuditEvent): boolean | Promise<boolean>;
  /** Resolves when all received events are written or lost. */
  close(): Promise<void>;
}

/** Counters since the start of the server. */
export interface AuditCounts {
  events: number;
  rejected: number;
  /** The number of requests by level. */
  readonly levels: Map<string, number>;
  /** The number of lost events by plugin. */
  readonly errors: Map<string, number>;
}

/** The flags `--audit-policy-file`, `--audit-log-*` and `--audit-webhook-*`. */
export interface AuditOptions {
  /** Without a policy, nothing is audited. */
  readonly policyFile: string | undefined;
  /** Events in a file. */
  readonly log: AuditLogOptions;
  /** Events for another server. */
  readonly webhook: AuditWebhookOptions;
}

/** The options that both backends have. */
export interface AuditBackendOptions {
  /** `blocking`, `blocking-strict` or `batch`. */
  readonly mode: string;
  /** The group and version of the events. */
  readonly version: string;
  /** For the mode `batch`. */
  readonly batch: AuditBatchOptions;
  /** What happens to events that are too large. */
  readonly truncate: AuditTruncateOptions;
}

/** The flags `--audit-webhook-*`. */
export interface AuditWebhookOptions extends AuditBackendOptions {
  /** The path of a kubeconfig with the address of the webhook. Undefined without a webhook. */
  readonly configFile: string | undefined;
  /** The delay before the first retry. Each next delay is 1.5 times as long. */
  readonly initialBackoffMs: number;
}

/** The flags `--audit-log-*`. */
export interface AuditLogOptions extends AuditBackendOptions {
  /** `-` for standard output. Undefined without a log. */
  readonly path: string | undefined;
  /** `json` or `legacy`. */
  readonly format: string;
  /** 0 for no limit. */
  readonly maxAgeDays: number;
  /** 0 for no limit. */
  readonly maxBackups: number;
  /** 0 for no limit. */
  readonly maxSizeMib: number;
  /** Whether rotated files are compressed with gzip. */
  readonly compress: boolean;
}

/** The flags `--audit-*-batch-*`. */
export interface AuditBatchOptions {
  /** The number of events that can wait. */
  readonly bufferSize: number;
  /** The maximum number of events in a batch. */
  readonly maxSize: number;
  /** The time after which an incomplete batch is delivered. */
  readonly maxWaitMs: number;
  /** Whether the rate of batches is limited. */
  readonly throttleEnable: boolean;
  /** In batches per second. */
  readonly throttleQps: number;
  /** The number of batches that can be delivered at once, after a pause. */
  readonly throttleBurst: number;
}

/** The flags `--audit-*-truncate-*`. */
export interface AuditTruncateOptions {
  /** Whether events and batches are truncated. */
  readonly enabled: boolean;
  /** The limit for the events of one batch. */
  readonly maxBatchBytes: number;
  /** Events that are larger lose their objects, and are lost if they still are. */
  readonly maxEventBytes: number;
}
