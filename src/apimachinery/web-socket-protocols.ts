/**
 * Requests for WebSockets and their subprotocols. Source: RFC 6455, section 11.3.4, and
 * `IsWebSocketRequest` in k8s.io/streaming@v0.36.0/pkg/httpstream/wsstream/conn.go.
 */
import { headerLines } from "./header-text.ts";

/**
 * Browsers cannot set `Authorization` on a WebSocket, so that upstream accepts a token as a
 * subprotocol.
 */
const bearerPrefix = "base64url.bearer.authorization.k8s.io.";

/** The requested subprotocols. */
export interface WebSocketProtocols {
  /** Without those that carry a token. */
  readonly protocols: readonly string[];
  /** Tokens in base64url, which are never sent back or forwarded. */
  readonly bearerTokens: readonly string[];
}

/**
 * Parses all lines of `Sec-WebSocket-Protocol`.
 * @param rawHeaders names, in any case, and values alternately
 */
export function webSocketProtocols(rawHeaders: readonly string[]): WebSocketProtocols {
  const header = headerLines(rawHeaders, "sec-websocket-protocol").join();
  if (header.trim() === "") return { protocols: [], bearerTokens: [] };
  const names = header.split(",").map((name) => name.trim());
  return {
    protocols: names.filter((name) => !name.startsWith(bearerPrefix)),
    bearerTokens: names.filter((name) => name.startsWith(bearerPrefix)).map((name) => name.slice(bearerPrefix.length)),
  };
}

/** The parts of a request that say whether it is for a WebSocket. */
interface RequestHead {
  readonly protocol: string;
  header(name: string): string | undefined;
  readonly rawHeaders: readonly string[];
}

/**
 * Returns the subprotocols of a request for a WebSocket, whatever its method and path, and whether
 * or not the server upgrades it; undefined for other requests.
 */
export function requestedWebSocket(request: RequestHead): WebSocketProtocols | undefined {
  if (request.protocol !== "HTTP/1.1" || request.header("upgrade")?.toLowerCase() !== "websocket") return undefined;
  const connection = headerLines(request.rawHeaders, "connection").join();
  return connection.toLowerCase().includes("upgrade") ? webSocketProtocols(request.rawHeaders) : undefined;
}
