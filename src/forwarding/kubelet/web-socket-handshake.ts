/**
 * Handshakes of WebSockets that this server ends. Source: `handshake` in
 * k8s.io/streaming@v0.36.0/pkg/httpstream/wsstream/conn.go, and golang.org/x/net/websocket.
 */
import { webSocketProtocols } from "../../apimachinery/web-socket-protocols.ts";
import type { Exchange, UpgradeRequest } from "../../request/exchange.ts";
import { handshakeRejection } from "../../request/web-socket/rejection.ts";

/**
 * @param requested the subprotocols of the client; none counts as one without a name
 * @returns the first one that is supported
 */
export function chooseProtocol(requested: readonly string[], supported: readonly string[]): string | undefined {
  return (requested.length === 0 ? [""] : requested).find((name) => supported.includes(name));
}

/**
 * Answers a malformed handshake, or one without a supported subprotocol.
 * @returns whether it was answered
 */
export function rejectHandshake(exchange: Exchange, protocol: string | undefined): boolean {
  const rejection = handshakeRejection(exchange) ?? (protocol === undefined ? { status: 403 } : undefined);
  if (rejection === undefined) return false;
  exchange.respond(rejection.status, rejection.headers ?? {}, Buffer.from(rejection.text ?? ""));
  return true;
}

/** Whether a client requests a WebSocket. */
export function isWebSocket({ protocol }: UpgradeRequest): boolean {
  return protocol.toLowerCase() === "websocket";
}

/** The subprotocols that a client requests. */
export function protocolsOf(exchange: Exchange): readonly string[] {
  return webSocketProtocols(exchange.rawHeaders).protocols;
}
