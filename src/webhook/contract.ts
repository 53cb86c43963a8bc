/** Webhooks: services that this server calls, by POST over TLS. */

/** Whom to call, and as whom. Texts of certificates and keys are PEM. */
export interface WebhookEndpoint {
  /** `https://host:port/path`; `http:` sends nothing that proves who we are. Without query. */
  readonly url: string;
  /** The authorities that are trusted. Undefined: Node's own, with the system's where Node is told so (`NODE_USE_SYSTEM_CA=1`, `NODE_EXTRA_CA_CERTS`). */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** What the certificate must be for, in place of the URL's host. */
  readonly serverName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly token?: string;
  /** Goes before `token`; read again after a minute. */
  readonly tokenFile?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Where to connect to, asked for each new request, in place of the URL's host (which stays what is asked for, and what the certificate must be for).
   * What it throws is the text of the error.
   */
  readonly resolve?: () => Promise<Address> | Address;
}

/** A name or an address, without brackets, and a port. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface WebhookAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface PostOptions {
  /** Of the whole call: connecting, waiting as a `Retry-After` asks for, and reading the answer. Also sent, as the query `timeout`. */
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the call, with an error of kind `canceled`. */
  readonly signal?: AbortSignal;
}

/** Told of what is sent and what comes back, for metrics. */
export interface CallObserver {
  /** A request was answered, or failed: then it has no status. @param host as the URL has it @param attempt of the same call, the first is 1 */
  sent(
    host: string,
    request: { readonly bytes: number; readonly attempt: number; readonly status: number | undefined },
  ): void;
  /** A call is over. @param answerBytes undefined where there was no answer */
  ended(host: string, call: { readonly seconds: number; readonly answerBytes: number | undefined }): void;
}

export interface WebhookClient {
  /**
   * Sends one JSON body. An answer that says 429 or 5xx with `Retry-After` is asked for again, at most ten times; redirects are answers as others.
   * @returns whatever was answered; `checkAnswer` and `decodeAnswer` read it as client-go does
   * @throws WebhookError when there is no answer
   */
  post(body: string | Uint8Array, options: PostOptions): Promise<WebhookAnswer>;
  /** Ends the connections; calls that go on fail. */
  close(): void;
}

/**
 * - `connect`: nobody there, or no such name
 * - `resolve`: the service's address could not be found out
 * - `tls`: the handshake failed, or the certificate is not good
 * - `timeout`, `canceled`: of the call
 * - `reset`: the connection was reset; such a call may be tried again
 * - `closed`: the connection ended before the answer did
 * - `tooLarge`: the answer
 * - `malformed`: what came is no HTTP, or no object
 * - `status`: an answer that says it failed, see `status`
 * - `request`: it could not be sent, for a header holds what no header may
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
  | "request";

/** A call that failed. The message is Go's, as far as it can be told: `Post "https://…?timeout=30s": dial tcp 10.0.0.1:443: connect: connection refused`. */
export class WebhookError extends Error {
  readonly kind: WebhookErrorKind;
  /** Of kind `status`: the status code, upstream's reason (`InternalError`), and the seconds to wait, where the answer has them. */
  readonly status: WebhookStatus | undefined;

  constructor(kind: WebhookErrorKind, message: string, status?: WebhookStatus) {
    super(message);
    this.name = "WebhookError";
    this.kind = kind;
    this.status = status;
  }
}

export interface WebhookStatus {
  readonly code: number;
  readonly reason: string;
  readonly retryAfterSeconds: number;
}
