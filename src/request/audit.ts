/** What the handlers of a request report to its audit record. Source: k8s.io/apiserver@v0.36.0/pkg/audit. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/user.ts";

/** The audit levels. Each level records more than the previous one. */
export const auditLevels = ["None", "Metadata", "Request", "RequestResponse"] as const;
/** One of {@link auditLevels}. */
export type AuditLevel = (typeof auditLevels)[number];

/** The fields of a Status that an event includes. */
export interface ResponseStatus {
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: unknown;
  readonly code?: number;
}

/**
 * The parts of a request whose time is measured: the suffixes of the annotations
 * `apiserver.latency.k8s.io/…`.
 */
export type LatencyLayer =
  | "authentication"
  | "authorization"
  | "impersonation"
  | "etcd"
  | "response-write"
  | "mutating-webhook"
  | "validating-webhook";

/** Receives the facts about one request from the handlers that process it. */
export interface RequestAudit {
  readonly level: AuditLevel;
  /** Sets an annotation. A second, different value for a key is logged and dropped. */
  annotate(key: string, value: string): void;
  /**
   * Measures a layer; slow requests have the sums as annotations.
   *
   * @returns a function that ends the measurement
   */
  timing(layer: LatencyLayer): () => void;
  /** Records the impersonated user. */
  impersonated(user: UserInfo, constraint: string): void;
  /**
   * Records the object of the request body.
   *
   * @param sent completes the object reference with fields that the path does not contain
   * @param json encodes the object with defaults in the version of the request; called only at
   *   levels that include it
   */
  requestObject(sent: KubeObject | undefined, json: () => string | undefined): void;
  /**
   * Records the object of the response.
   *
   * @param json compact JSON; called only at levels that include it
   */
  responseObject(json: () => string | undefined): void;
  /** Records that the response is a Status. */
  responseStatus(status: ResponseStatus): void;
  /** Records an internal error, which replaces the Status in the event. */
  panicked(message: string): void;
}

/** A write of a controller of this server: what its request would be. */
export interface OwnWrite {
  readonly auditId: string;
  readonly user: UserInfo;
  readonly userAgent: string;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly requestUri: string;
}

/** The record of a write of a controller. */
export interface OwnWriteAudit {
  readonly record: RequestAudit;
  /** Ends the record. Never rejects. */
  completed(code: number): Promise<void>;
}

/**
 * Begins the record of a write of a controller.
 *
 * @returns undefined when the policy does not record it
 */
export type RecordOwnWrite = (write: OwnWrite) => Promise<OwnWriteAudit | undefined>;

/** Annotations of an audit event. */
export type AuditAnnotations = Readonly<Record<string, string>>;
