/** What a response over HTTP/1.1 and HTTP/2 can contain, for what other servers send. */
import type { Exchange } from "./exchange.ts";

/** The highest status code by protocol. Node.js sends three digits over HTTP/1.1, and those of RFC 9110 over HTTP/2. */
const statusMax: Readonly<Record<Exchange["protocol"], number>> = { "HTTP/1.1": 999, "HTTP/2.0": 599 };

/** Whether the status code of a final response can be sent. */
export function isCarriable(code: number, protocol: Exchange["protocol"]): boolean {
  return Number.isInteger(code) && code >= 200 && code <= statusMax[protocol];
}

/**
 * Whether responses with the status have no content. Node.js sends none for 205 over HTTP/2, which has no content in RFC
 * 9110, either.
 */
export function isBodiless(status: number, protocol: Exchange["protocol"]): boolean {
  return status === 204 || status === 304 || (status === 205 && protocol === "HTTP/2.0");
}

/** Headers that an HTTP/2 message must not have. Source: RFC 9113, section 8.2.2. */
const ofConnections: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Whether a header belongs to one connection, so that it must not be sent over the protocol.
 * @param name in lower case
 */
export function isOfConnection(name: string, protocol: Exchange["protocol"]): boolean {
  return protocol === "HTTP/2.0" && ofConnections.has(name);
}

/** The bytes of all headers that nghttp2 sends. */
export const http2HeaderBytesMax = 60 << 10;
