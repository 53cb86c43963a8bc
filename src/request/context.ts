/** The state of a request, as every part of the server that handles it sees it. */
import type { UserInfo } from "../apimachinery/user.ts";
import type { AdmissionExplanation } from "./admission-trace.ts";
import type { AuditAnnotations, RequestAudit } from "./audit.ts";
import type { AnswerHeaders, Exchange } from "./exchange.ts";
import type { RequestInfo } from "./request-info.ts";

/** The state of one request. What the server finds is in `RequestContext` of http/contract.ts. */
export interface RequestState {
  /** While a request is audited, a wrapper that records the response. */
  exchange: Exchange;
  readonly info: RequestInfo;
  readonly receivedAt: number;
  /** When the time limit of the request ends, in milliseconds since 1970. */
  endsAt: number;
  readonly auditId: string;
  /** Set by the authentication filter; must not be read before. */
  user: UserInfo;
  /** The audit record; undefined before it exists, and when nothing is recorded. */
  audit: RequestAudit | undefined;
  /** Annotations of authentication for the audit record. */
  annotations: AuditAnnotations | undefined;
  /**
   * Runs a part of a long response, which does not wait for anything, when it is the request's turn.
   * The work returns the bytes that it wrote. Set by flow control; without it, parts run at once. The
   * seats of a request that only runs such parts are lent to others.
   */
  turn?: Turn;
  /** As `turn`, for requests that also wait for storage or a webhook: they keep their seats. */
  turnWithSeats?: Turn;
  /** Whether a long response may be compressed; false until the compression filter runs. */
  gzip: boolean;
  /** Set if the client requested an explanation of admission, which the response then contains. */
  explanation: AdmissionExplanation | undefined;
  /** Set by flow control, for requests that it limits. */
  execution: RequestExecution | undefined;
  /** Set when the limits of a request's time do not apply; only servers with a test kit set it. */
  hasNoTimeLimit?: true;
  /** Sent as `Warning` headers, each once, in order. */
  readonly warnings: string[];
  /** Headers of every response to this request. */
  readonly headers: AnswerHeaders;
}

/** Runs a part of a response, which returns the bytes that it wrote, at once or in a later turn. */
export type Turn = (work: () => number) => Promise<void> | undefined;

/** Is notified of the progress of a request, to free what the request occupies. */
export interface RequestExecution {
  /** The endpoint has returned or failed. A watch continues. */
  returned(): void;
  /** A watch has sent the objects that existed at its start, or another server sends them. */
  watchStarted(): void;
}

/**
 * A step before the endpoint.
 * @throws ApiError to reject the request
 */
export type Filter<Context extends RequestState = RequestState> = (context: Context) => void | Promise<void>;

/** Serves a path that names no resource. */
export type PathHandler<Context extends RequestState = RequestState> = (context: Context) => void | Promise<void>;

/** A path and its handler. */
export interface PathRoute<Context extends RequestState = RequestState> {
  /** The exact path; with a `*` at the end, a prefix. */
  readonly path: string;
  readonly handler: PathHandler<Context>;
}
