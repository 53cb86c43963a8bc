/**
 * The handshake of a watch over a WebSocket. Source: upstream's watch handler, and
 * `websocket.Handler` of golang.org/x/net.
 */
import type { BodyStream, Exchange, WebSocketRequest } from "../../request/exchange.ts";
import { handshakeRejection, type Rejection } from "../../request/web-socket/rejection.ts";

/** @returns undefined when the handshake was rejected and answered */
export async function openWatchSocket(exchange: Exchange, request: WebSocketRequest): Promise<BodyStream | undefined> {
  const rejection = rejectionOf(exchange, request);
  if (rejection === undefined) return request.accept(request.protocols[0]);
  exchange.respond(rejection.status, rejection.headers ?? {}, Buffer.from(rejection.text ?? ""));
  return undefined;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Accepts any single subprotocol; requires an `Origin`, as browsers send it, with any value. */
function rejectionOf(exchange: Exchange, { protocols }: WebSocketRequest): Rejection | undefined {
  const rejection = handshakeRejection(exchange);
  if (rejection !== undefined) return rejection;
  if (!isOrigin(exchange.header("origin") ?? "")) return { status: 403 };
  if (protocols.length > 1 || !protocols.every((name) => token.test(name))) return { status: 400 };
  return undefined;
}

/** An absolute URL or path; not `null`, which browsers send for pages without an origin. */
function isOrigin(text: string): boolean {
  return text.startsWith("/") || URL.canParse(text);
}
