/** The socket as the other layers see it, and the state of a request. */
import type { Duplex } from "node:stream";
import type { AdmissionTrace } from "../admission/contract.ts";
import type { Status } from "../apimachinery/errors.ts";
import type { RequestStage } from "../apimachinery/request-stages.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { RequestAudit } from "../audit/contract.ts";
import type { AuditAnnotations } from "../authentication/contract.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { Authorities } from "../lib/x509/authorities.ts";
import type { Decision, ObjectChange, RegistryContext } from "../registry/contract.ts";
import type { WatchStreamOptions } from "./endpoints/watch-stream.ts";
import type { Encoding } from "./representation/contract.ts";
import type { PathRoute } from "./serve.ts";

/** Lower-case names; a list is sent as one line per value. */
export type AnswerHeaders = Record<string, string | string[]>;

/** One request and its response, the same over HTTP/1.1 and HTTP/2. */
export interface Exchange {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly protocol: "HTTP/1.1" | "HTTP/2.0";
  /** Returns the first line of a header, as Go's `Header.Get`. `headerLines` returns all. @param name lower-case */
  header(name: string): string | undefined;
  /** Names, in any case, and values alternately, one pair per header line. */
  readonly rawHeaders: readonly string[];
  /**
   * Removes headers from the request, so that credentials reach no other server.
   * @param isMeant receives lower-case names
   */
  forgetHeaders(isMeant: (name: string) => boolean): void;
  readonly remoteAddress: string;
  /**
   * The client certificate of the connection, undefined when absent; computed once per connection.
   */
  readonly peerCertificate: PeerCertificate | undefined;
  /**
   * Reads the body.
   * @throws ApiError 413 beyond the limit, 400 when the client disconnected
   */
  body(bytesMax: number): Promise<Buffer>;
  /** Whether the client announced a body, which can be empty. */
  readonly hasBody: boolean;
  /**
   * Reads the body in pieces, for proxies: no faster than the caller asks for them, without a limit
   * of size or time. Must be called before the response, which can start before the end of the body;
   * the end of the response discards the rest. The iterator throws the error of the stream when the
   * client disconnects.
   */
  bodyPieces(): AsyncIterable<Buffer>;
  /**
   * Sends the whole response and adds `content-length`. Ignored when the request was answered
   * already, such as after a timeout.
   */
  respond(status: number, headers: AnswerHeaders, body?: Buffer): void;
  /** Starts a response in pieces (lists, watches). Ignored like `respond`. */
  stream(status: number, headers: AnswerHeaders): BodyStream;
  /** Present when the client requests a WebSocket that the server may accept; never over HTTP/2. */
  readonly webSocket: WebSocketRequest | undefined;
  /**
   * Present when the client requests another protocol, such as a WebSocket or SPDY, on a path that
   * the server may upgrade; never over HTTP/2, and never with a body.
   */
  readonly upgrade: UpgradeRequest | undefined;
  /**
   * Closes the connection.
   * @param when `afterRequest`: must be called before the response; `now`: with all requests on it, as
   *   if the network had failed, for the test kit
   */
  endConnection(when?: "afterRequest" | "now"): void;
  /**
   * Calls `run` once when the client has disconnected or the response is complete. What it throws is
   * passed to `fail`.
   */
  onClose(run: () => void): void;
  /** Closes the connection, or resets the stream, unless the response is complete. */
  abort(): void;
  /** Sets what `fail` does; until then it aborts. */
  onFailure(run: (error: unknown) => void): void;
  /**
   * Ends this request alone, because code that serves it has thrown an unexpected error outside of
   * its promise. See `guarded` in boundary.ts.
   */
  fail(error: unknown): void;
  /** Called at each stage of the request; tests throw in it. Undefined in other servers. */
  entered: ((stage: RequestStage) => void) | undefined;
  readonly closed: boolean;
  /** Whether a response was started. */
  readonly answered: boolean;
  /** The response's status; 0 before it. */
  readonly status: number;
  /** Bytes of the response's body so far. */
  readonly sentBytes: number;
  /** Bytes of the request's body; -1 until it has been read to its end. */
  readonly receivedBytes: number;
}

/** A response in pieces. */
export interface BodyStream {
  /**
   * @param taken called when the socket has accepted the piece, whose memory may be reused; never
   *   if the client disconnects before
   * @returns false when the caller should wait for `drained` before writing more
   */
  write(piece: Buffer, taken?: () => void): boolean;
  /** Resolves when the socket has accepted all pieces, or the client has disconnected. */
  drained(): Promise<void>;
  /**
   * Reserves the next `write` of a long response on a connection that others may share. Undefined
   * where others do not.
   * @returns a promise if the caller must wait before it writes
   */
  reserve?(): Promise<void> | undefined;
  /** Frees what `reserve` has reserved, because nothing is written for now. */
  unreserve?(): void;
  /** Bytes written and not yet accepted by the socket. */
  readonly pendingBytes: number;
  end(): void;
  /** Closes the connection or the stream, for a client that does not read. */
  abort(): void;
}

/**
 * A request for a WebSocket. Any other response rejects it and ends the connection. Source: RFC
 * 6455, section 4.
 */
export interface WebSocketRequest {
  /** The requested subprotocols, without those that carry a token. */
  readonly protocols: readonly string[];
  /**
   * Opens the WebSocket. Messages of the client are discarded.
   * @param protocol one of the requested ones
   * @returns a stream that accepts whole frames, and ends with a close frame
   * @throws ApiError 400 when the handshake is malformed
   */
  accept(protocol: string | undefined): Promise<BodyStream>;
}

/**
 * A request to use the connection for another protocol. An ordinary response rejects it and ends
 * the connection. Source: RFC 9110, section 7.8.
 */
export interface UpgradeRequest {
  /** The header `Upgrade` as sent. */
  readonly protocol: string;
  /**
   * Releases the connection. The caller writes the whole response, with its status line, and closes
   * the connection. The server closes it at its own end.
   * @param status of the response that the caller will write, for audit and metrics
   */
  take(status: number): Duplex;
}

/** The verified identity in a client certificate. */
export interface PeerCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The values of the user uid attribute in the subject. */
  readonly uids: readonly string[];
  /** SHA-256 of the DER in hexadecimal, used as credential id. */
  readonly fingerprint: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Whether it is a client certificate, valid now, and signed by one of the authorities. */
  isTrustedBy(authorities: Authorities): boolean;
}

/**
 * The attributes of a request. Source:
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/request/requestinfo.go.
 */
export interface RequestInfo {
  readonly isResourceRequest: boolean;
  /** Whether the path has empty segments: it is authorized as that of a resource, and has no route. */
  readonly isMalformed: boolean;
  readonly path: string;
  /**
   * get list watch create update patch delete deletecollection proxy, or the lower-case method for
   * non-resource paths.
   */
  readonly verb: string;
  /** `api` or `apis` for resource requests. */
  readonly apiPrefix: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** The rest of the path after the subresource (proxy). */
  readonly parts: readonly string[];
  readonly fieldSelector: string;
  readonly labelSelector: string;
  readonly query: URLSearchParams;
}

/** The form of the response, from `Accept` and `pretty`. */
export interface Representation {
  readonly shape: Shape;
  readonly encoding: Encoding;
}

/** The parts of objects that a response contains. */
export type Shape =
  | { readonly kind: "object" }
  | {
      readonly kind: "table";
      readonly version: "v1" | "v1beta1";
      readonly includeObject: "None" | "Metadata" | "Object";
    }
  /** `list`: whether the client requested PartialObjectMetadataList. */
  | { readonly kind: "metadata"; readonly version: "v1" | "v1beta1"; readonly list: boolean };

/** The state of one request. */
export interface RequestContext {
  /** While a request is audited, a wrapper that records the response. */
  exchange: Exchange;
  readonly info: RequestInfo;
  readonly receivedAt: number;
  /** When the time limit of the request ends, in milliseconds since 1970. */
  endsAt: number;
  readonly auditId: string;
  /** Set by the authentication filter; must not be read before. */
  user: UserInfo;
  /** Set when the path was found in the catalog. */
  resolved: Resolved | undefined;
  /** The encodings of this server; the first is the default. */
  readonly encodings: readonly Encoding[];
  /** The form of the response; set when the path was found. */
  representation: Representation;
  /** The audit record; undefined before it exists, and when nothing is recorded. */
  audit: RequestAudit | undefined;
  /** Annotations of authentication for the audit record. */
  annotations: AuditAnnotations | undefined;
  /**
   * Runs a part of a long response, which does not wait for anything, when it is the request's turn.
   * The work returns the bytes that it wrote. Set by flow control; without it, parts run at once. The
   * seats of a request that only runs such parts are lent to others.
   */
  turn?: (work: () => number) => Promise<void> | undefined;
  /** As `turn`, for requests that also wait for storage or a webhook: they keep their seats. */
  turnWithSeats?: (work: () => number) => Promise<void> | undefined;
  /** Whether a long response may be compressed; false until the compression filter runs. */
  gzip: boolean;
  /** Set if the client requested an explanation of admission, which the response then contains. */
  explanation: AdmissionExplanation | undefined;
  /** Set by flow control, for requests that it limits. */
  execution: RequestExecution | undefined;
  /** Observes the request and changes how it is served; only servers with a test kit set it. */
  probe?: RequestProbe | undefined;
  /** Set when the limits of a request's time do not apply; only servers with a test kit set it. */
  hasNoTimeLimit?: true;
  /** Sent as `Warning` headers, each once, in order. */
  readonly warnings: string[];
  /** Headers of every response to this request. */
  readonly headers: AnswerHeaders;
}

/** What the test kit adds to the requests of all clients. */
export interface RequestExtension {
  /** Requests wait for it before all filters; undefined: they need not wait. */
  ready(context: RequestContext): Promise<void> | undefined;
  /** Called for each request before all other filters. */
  probe(context: RequestContext): RequestProbe | undefined;
  /** Called for each change that the server itself commits; those of requests go to their registry. */
  changed(change: ObjectChange): void;
  /** Called when a controller begins to reconcile. */
  decide(): Decision;
  /** Called when the server stops: it waits for open requests then. */
  stopping(): void;
  /** Called at each stage of each request; what it throws is an unexpected error of that stage. */
  entered?(exchange: Exchange, stage: RequestStage): void;
  /** Served after authorization, as other paths. */
  readonly routes: readonly PathRoute[];
}

/** What the test kit observes of one request, and how it changes it. */
export interface RequestProbe {
  /** Serves the request instead of the server's own. */
  readonly registry: RegistryContext | undefined;
  /**
   * Called after the filters, before the endpoint.
   * @param registry that of the server
   * @throws ApiError to answer with it instead
   */
  enter(context: RequestContext, registry: RegistryContext): void | Promise<void>;
  /** Called when a watch starts. @returns the options with which it runs */
  watch(options: WatchStreamOptions): WatchStreamOptions;
  /** The request is answered with an error. */
  failed(status: Status): void;
}

/** Is notified of the progress of a request, to free what the request occupies. */
export interface RequestExecution {
  /** The endpoint has returned or failed. A watch continues. */
  returned(): void;
  /** A watch has sent the objects that existed at its start, or another server sends them. */
  watchStarted(): void;
}

/** What admission plugins did to the request of a client that requested an explanation. */
export interface AdmissionExplanation {
  readonly trace: AdmissionTrace;
  /** Sends the explanation instead of the response, which it contains. */
  answer(status: number, contentType: string, body: Buffer): void;
}

/**
 * A step before the endpoint.
 * @throws ApiError to reject the request
 */
export type Filter = (context: RequestContext) => void | Promise<void>;
