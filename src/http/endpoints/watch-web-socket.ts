/** The handshake of a watch over a WebSocket. Source: upstream's watch handler, and what x/net's `websocket.Handler` asks of a request. */
import type { AnswerHeaders, BodyStream, Exchange, WebSocketRequest } from "../contract.ts";

/** @returns undefined when the handshake was refused; that has been answered then */
export async function openWatchSocket(exchange: Exchange, request: WebSocketRequest): Promise<BodyStream | undefined> {
  const refusal = refusalOf(exchange, request);
  if (refusal === undefined) return request.accept(request.protocols[0]);
  exchange.respond(refusal.status, refusal.headers ?? {}, Buffer.from(refusal.text ?? ""));
  return undefined;
}

/** Told in plain text: the API has nothing to do with it. */
interface Refusal {
  readonly status: 400 | 403;
  readonly headers?: AnswerHeaders;
  readonly text?: string;
}

const keyShape = /^[+/0-9A-Za-z]{22}==$/;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Any one sub-protocol is taken, whatever its name; an `Origin` there must be, as browsers send it, whatever it names. */
function refusalOf(exchange: Exchange, { protocols }: WebSocketRequest): Refusal | undefined {
  if (!keyShape.test(exchange.header("sec-websocket-key") ?? ""))
    return { status: 400, text: "mismatch challenge/response" };
  if (exchange.header("sec-websocket-version") !== "13") {
    return { status: 400, headers: { "sec-websocket-version": "13" }, text: "missing or bad WebSocket Version" };
  }
  if (!isOrigin(exchange.header("origin") ?? "")) return { status: 403 };
  if (protocols.length > 1 || !protocols.every((name) => token.test(name))) return { status: 400 };
  return undefined;
}

/** An absolute URL or path; `null`, which browsers send for pages of no origin, is neither. */
function isOrigin(text: string): boolean {
  return text.startsWith("/") || URL.canParse(text);
}
