/** The contract of webhook clients. */
import type { Lifetime } from "../request/lifetime.ts";

/** The address and credentials of a webhook. Certificates and keys are PEM. */
export interface WebhookEndpoint {
  /** `https://host:port/path` without a query. With `http:`, no credentials are sent. */
  readonly url: string;
  /**
   * The trusted authorities. Undefined for Node's default (see `NODE_USE_SYSTEM_CA` and
   * `NODE_EXTRA_CA_CERTS`).
   */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name that the certificate must be valid for, instead of the host of the URL. */
  readonly serverName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /**
   * Returns the accepted certificates, as DER: the server must present one of them, whatever its
   * names and authority. Called twice for each new connection, so that they can change meanwhile.
   */
  readonly pinned?: () => readonly Buffer[];
  readonly token?: string;
  /** Overrides `token`; read again after a minute. */
  readonly tokenFile?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  /**
   * Returns the address of a new connection, instead of the host of the URL. The Host header and
   * the verification of the certificate still use the URL. The message of a thrown Error becomes
   * the message of the WebhookError.
   */
  readonly resolve?: () => Promise<Address> | Address;
  /** Overrides the client's. */
  readonly userAgent?: string;
}

/** How the server calls itself. */
export type LoopbackCredentials = Required<Pick<WebhookEndpoint, "token" | "pinned" | "userAgent">>;

/** A host name or IP address without brackets, and a port. */
export interface Address {
  /** A name or an address. */
  readonly host: string;
  /** From 1 to 65535. */
  readonly port: number;
}

/** A complete response. */
export interface WebhookAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** The options of one call. */
export interface PostOptions {
  /**
   * The limit for the whole call, including connecting and retries. Also sent as the query
   * parameter `timeout`.
   */
  readonly timeoutMs: number;
  /** When it is over, the call ends with an error of kind `canceled`. */
  readonly lifetime?: Lifetime | undefined;
}

/** Receives requests and responses, and flaws of certificates with each of them, for metrics. */
export interface CallObserver extends CertificateObserver {
  /**
   * A request has a response or failed.
   *
   * @param host the authority of the URL
   * @param request `attempt` starts at 1; `status` is undefined after a failure
   */
  sent(
    host: string,
    request: { readonly bytes: number; readonly attempt: number; readonly status: number | undefined },
  ): void;
  /** A call ended. @param call `answerBytes` is undefined without a response */
  ended(host: string, call: { readonly seconds: number; readonly answerBytes: number | undefined }): void;
}

/** A client of one webhook. */
export interface WebhookClient {
  /**
   * Posts a JSON body. Repeats the request at most ten times while the response is 429 or 5xx with
   * `Retry-After`. Follows redirects, without credentials when they lead to another origin.
   *
   * @returns the response with any status code; see `checkAnswer` and `decodeAnswer`
   * @throws WebhookError without a response
   */
  post(body: string | Uint8Array, options: PostOptions): Promise<WebhookAnswer>;
  /** Closes the connections; current calls fail. */
  close(): void;
}

/**
 * - `connect`: the host name is unknown, or the connection failed
 * - `resolve`: `WebhookEndpoint.resolve` failed
 * - `tls`: the handshake failed, or the certificate is invalid
 * - `timeout`, `canceled`: the call exceeded its limit, or its lifetime is over
 * - `reset`: the connection was reset; callers can retry
 * - `closed`: the connection was closed before the end of the response
 * - `tooLarge`: the response is above the limit
 * - `malformed`: the response is not HTTP, or the body is not a valid object
 * - `status`: the response has an unsuccessful status code, see `WebhookError.status`
 * - `redirect`: the response is a redirect that cannot be followed
 * - `request`: a header contains invalid characters
 */
export type WebhookErrorKind =
  | "connect"
  | "resolve"
  | "tls"
  | "timeout"
  | "canceled"
  | "reset"
  | "closed"
  | "tooLarge"
  | "malformed"
  | "status"
  | "redirect"
  | "request";

/**
 * A failed call. The message is Go's where possible: `Post "https://…?timeout=30s": dial tcp
 * 10.0.0.1:443: connect: connection refused`.
 */
export class WebhookError extends Error {
  readonly kind: WebhookErrorKind;
  /** Present for the kind `status`. */
  readonly status: WebhookStatus | undefined;

  constructor(kind: WebhookErrorKind, message: string, status?: WebhookStatus) {
    super(message);
    this.name = "WebhookError";
    this.kind = kind;
    this.status = status;
  }
}

/** The status of an unsuccessful response. */
export interface WebhookStatus {
  readonly code: number;
  /** A reason of `metav1.Status`, such as `InternalError`. */
  readonly reason: string;
  /** 0 when the response does not contain it. */
  readonly retryAfterSeconds: number;
  /** Whether the response contains a Status. */
  readonly isSent: boolean;
}

/** Notified of flaws of the certificates of a connection, for metrics. */
export interface CertificateObserver {
  /** The certificate names its server by the common name alone. */
  missingSan(): void;
  /** A certificate that is not of an authority that signed itself has a SHA-1 signature. */
  insecureSha1(): void;
}
