/** What is written down of requests, and where. Source: audit.k8s.io/v1; upstream's audit package. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/user.ts";

/** Each holds what the one before it does, and more. */
export const auditLevels = ["None", "Metadata", "Request", "RequestResponse"] as const;
export type AuditLevel = (typeof auditLevels)[number];

export const auditStages = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
export type AuditStage = (typeof auditStages)[number];

/** What is told of one request at one stage. Texts that are empty are left out, as upstream does. */
export interface AuditEvent {
  readonly level: AuditLevel;
  readonly auditId: string;
  readonly stage: AuditStage;
  readonly requestUri: string;
  readonly verb: string;
  /** Who sent it; undefined where that could not be found out. */
  readonly user: UserInfo | undefined;
  readonly impersonatedUser: UserInfo | undefined;
  /** The constrained way in which the user was impersonated; empty for the older one. */
  readonly impersonationConstraint: string;
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
  readonly objectRef: ObjectReference | undefined;
  readonly responseStatus: ResponseStatus | undefined;
  /** JSON. */
  readonly requestObject: string | undefined;
  /** JSON. */
  readonly responseObject: string | undefined;
  /** Milliseconds since 1970, as is the next one. */
  readonly requestReceivedAt: number;
  readonly stageAt: number;
  readonly annotations: ReadonlyMap<string, string>;
}

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

/** The fields of a Status that are bounded. */
export interface ResponseStatus {
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: unknown;
  readonly code?: number;
}

/** Takes events. An event is only looked at during the call. */
export interface AuditSink {
  /** @returns false when the event is lost and the request must not go on for that; a promise where the request has to wait. It never rejects */
  process(event: AuditEvent): boolean | Promise<boolean>;
  /** Resolves when all that was taken is written, or cannot be. */
  close(): Promise<void>;
}

/** What a request spent its time with, as upstream's annotations `apiserver.latency.k8s.io/…` name it. */
export type LatencyLayer = "authentication" | "authorization" | "impersonation" | "etcd" | "response-write";

/** What the parts a request walks through tell of it. */
export interface RequestAudit {
  readonly level: AuditLevel;
  /** The first value of a key stays; another one is told to the log. */
  annotate(key: string, value: string): void;
  /** Begins to measure; told of requests that took long. @returns ends it; what is measured again is added */
  timing(layer: LatencyLayer): () => void;
  impersonated(user: UserInfo, constraint: string): void;
  /**
   * The body as an object.
   * @param sent names what the path does not
   * @param json of it at the version it was sent in, defaults filled in; asked for only where the level wants it
   */
  requestObject(sent: KubeObject | undefined, json: () => string | undefined): void;
  /** @param json compact; asked for only where the level wants it */
  responseObject(json: () => string | undefined): void;
  /** The answer is a Status. */
  responseStatus(status: ResponseStatus): void;
  /** A mistake of ours, which is told in place of the Status. */
  panicked(message: string): void;
}

/** Counted since the start. */
export interface AuditCounts {
  events: number;
  rejected: number;
  /** Requests, by level. */
  readonly levels: Map<string, number>;
  /** Events that were lost, by the plugin that lost them. */
  readonly errors: Map<string, number>;
}

/** What `--audit-policy-file`, `--audit-log-*` and `--audit-webhook-*` say. */
export interface AuditOptions {
  /** Undefined: nothing is audited. */
  readonly policyFile: string | undefined;
  readonly log: AuditLogOptions;
  readonly webhook: AuditWebhookOptions;
}

/** What both backends have. */
export interface AuditBackendOptions {
  /** `blocking`, `blocking-strict` or `batch`. */
  readonly mode: string;
  /** Group and version of the events. */
  readonly version: string;
  readonly batch: BatchOptions;
  readonly truncate: TruncateOptions;
}

export interface AuditWebhookOptions extends AuditBackendOptions {
  /** A kubeconfig that names where events are posted to. Undefined: nowhere. */
  readonly configFile: string | undefined;
  /** Between the first try of a post and the second; what follows is half as long again, each time. */
  readonly initialBackoffMs: number;
}

export interface AuditLogOptions extends AuditBackendOptions {
  /** Undefined: no log; `-`: standard output. */
  readonly path: string | undefined;
  readonly format: string;
  /** In days; 0 for no limit, as for the next two. */
  readonly maxAgeDays: number;
  readonly maxBackups: number;
  /** In MiB. */
  readonly maxSizeMib: number;
  readonly compress: boolean;
}

export interface BatchOptions {
  /** In events. */
  readonly bufferSize: number;
  /** In events. */
  readonly maxSize: number;
  readonly maxWaitMs: number;
  readonly throttleEnable: boolean;
  /** Batches a second. */
  readonly throttleQps: number;
  readonly throttleBurst: number;
}

export interface TruncateOptions {
  readonly enabled: boolean;
  /** Of the events that are posted together. */
  readonly maxBatchBytes: number;
  readonly maxEventBytes: number;
}
