/** The contract of proxies: requests that this server forwards to another one. */
import type { Socket } from "node:net";
import type { Clock } from "../../apimachinery/clock.ts";

/**
 * Opens a connection to the backend, after the handshake of TLS with `https`.
 * @param signal aborts with a WebhookError, which is thrown
 * @throws WebhookError with Go's message, such as `dial tcp 10.0.0.1:80: connect: connection refused`
 */
export type OpenBackend = (signal: AbortSignal) => Promise<Socket>;

/** What a proxy may connect to besides global addresses. */
export interface AddressPolicy {
  /** Only for tests: loopback addresses. */
  readonly allowLoopback: boolean;
}

/** The server that receives a request, and the path there. */
export interface ProxyTarget {
  readonly scheme: "http" | "https";
  /** Host and port as in a URL. Links to it in responses lead through the proxy. */
  readonly host: string;
  /**
   * Without escapes. An empty path of a GET is redirected to the path with a slash; other requests
   * with an empty path are sent to `/`.
   */
  readonly path: string;
  /**
   * The query of requests that are not for an upgrade, without its question mark; that of the client
   * by default.
   */
  readonly query?: string;
  /**
   * The query of a request for an upgrade, without its question mark; empty by default, like
   * upstream.
   */
  readonly upgradeQuery?: string;
  readonly open: OpenBackend;
}

/** How a request is forwarded. */
export interface ProxyOptions {
  readonly target: ProxyTarget;
  readonly clock: Clock;
  /**
   * Adds `X-Forwarded-Uri`, rewrites `Location` and the links of HTML, removes headers for other
   * origins, and reports unreachable backends as 503 instead of 500.
   */
  readonly isWrapped: boolean;
  /** Rejects requests that are not for an upgrade. */
  readonly requiresUpgrade?: boolean;
  /** Sends the host of the target in the header `Host`, instead of that of the client. */
  readonly usesTargetHost?: boolean;
  /** Answers 502 instead of a redirect of the backend. */
  readonly rejectsRedirects?: boolean;
  /** Lower-case names and values of further headers, which replace those of the client. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Ends the request at a time limit. It aborts with a WebhookError. */
  readonly signal?: AbortSignal;
  /** Limits each direction of a connection that has changed its protocol; none by default, and with 0. */
  readonly bytesPerSecondMax?: number;
}
