/** Malformed handshakes of WebSockets. Source: `ReadHandshake` in golang.org/x/net/websocket. */
import type { AnswerHeaders, Exchange } from "../exchange.ts";

/** A response in plain text, outside the API. */
export interface Rejection {
  readonly status: number;
  readonly headers?: AnswerHeaders;
  readonly text?: string;
}

const keyShape = /^[+/0-9A-Za-z]{22}==$/;

/** @returns undefined if the method, the key and the version are valid */
export function handshakeRejection(exchange: Exchange): Rejection | undefined {
  if (exchange.method !== "GET") return { status: 405, text: "bad method" };
  if (!keyShape.test(exchange.header("sec-websocket-key") ?? ""))
    return { status: 400, text: "mismatch challenge/response" };
  if (exchange.header("sec-websocket-version") !== "13")
    return { status: 400, headers: { "sec-websocket-version": "13" }, text: "missing or bad WebSocket Version" };
  return undefined;
}
