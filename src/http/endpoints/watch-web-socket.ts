/**
 * The handshake of a watch over a WebSocket. Source: upstream's watch handler, and
 * `websocket.Handler` of golang.org/x/net.
 */
import type { AnswerHeaders, BodyStream, Exchange, WebSocketRequest } from "../contract.ts";

/** @returns undefined when the handshake was rejected and answered */
export async function openWatchSocket(exchange: Exchange, request: WebSocketRequest): Promise<BodyStream | undefined> {
  const rejection = rejectionOf(exchange, request);
  if (rejection === undefined) return request.accept(request.protocols[0]);
  exchange.respond(rejection.status, rejection.headers ?? {}, Buffer.from(rejection.text ?? ""));
  return undefined;
}

/** A response in plain text, outside the API. */
interface Rejection {
  readonly status: 400 | 403;
  readonly headers?: AnswerHeaders;
  readonly text?: string;
}

const keyShape = /^[+/0-9A-Za-z]{22}==$/;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Accepts any single subprotocol; requires an `Origin`, as browsers send it, with any value. */
function rejectionOf(exchange: Exchange, { protocols }: WebSocketRequest): Rejection | undefined {
  if (!keyShape.test(exchange.header("sec-websocket-key") ?? ""))
    return { status: 400, text: "mismatch challenge/response" };
  if (exchange.header("sec-websocket-version") !== "13") {
    return { status: 400, headers: { "sec-websocket-version": "13" }, text: "missing or bad WebSocket Version" };
  }
  if (!isOrigin(exchange.header("origin") ?? "")) return { status: 403 };
  if (protocols.length > 1 || !protocols.every((name) => token.test(name))) return { status: 400 };
  return undefined;
}

/** An absolute URL or path; not `null`, which browsers send for pages without an origin. */
function isOrigin(text: string): boolean {
  return text.startsWith("/") || URL.canParse(text);
}
