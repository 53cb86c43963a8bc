/** WebSockets that this server ends. Source: RFC 6455. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { badRequest } from "../apimachinery/errors.ts";
import type { Exchange, UpgradeRequest } from "../http/contract.ts";

/** A larger message of a client ends the connection. Upstream allows 32 MiB; kubectl sends 32 KiB. */
export const messageBytesMax = 4 << 20;
const messagePiecesMax = 1024;

/** The time in which a client must answer a close frame. */
const closeMs = 10_000;

/** Without the subprotocols, whose names the library does not accept when they contain a slash. */
const handshakeHeaders = ["upgrade", "connection", "sec-websocket-key", "sec-websocket-version"];

/**
 * Opens a WebSocket after its handshake was checked.
 *
 * @param protocol the chosen subprotocol, if any
 * @returns a socket whose errors need no listener; its close follows
 * @throws ApiError 400 if the handshake is malformed
 */
export async function openServerWebSocket(
  exchange: Exchange,
  upgrade: UpgradeRequest,
  protocol: string | undefined,
): Promise<WebSocket> {
  const { WebSocketServer } = await import("ws"); // Few servers need it.
  const limits = {
    maxPayload: messageBytesMax,
    maxFragments: messagePiecesMax,
    maxBufferedChunks: messagePiecesMax,
    closeTimeout: closeMs,
  };
  const server = new WebSocketServer({
    ...limits,
    noServer: true,
    clientTracking: false,
    skipUTF8Validation: true,
  });
  if (protocol !== undefined) server.on("headers", (headers) => headers.push(`Sec-WebSocket-Protocol: ${protocol}`));
  const headers = Object.fromEntries(handshakeHeaders.map((name) => [name, exchange.header(name)]));
  const request = { method: "GET", headers } as Pick<IncomingMessage, "method" | "headers"> as IncomingMessage;
  let problem = "the connection is closed";
  server.on("wsClientError", (error) => {
    problem = error.message;
  });
  const opened: WebSocket[] = [];
  const socket = upgrade.take(101) as Socket;
  server.handleUpgrade(request, socket, Buffer.alloc(0), (webSocket) => opened.push(webSocket));
  const [webSocket] = opened;
  if (webSocket === undefined) {
    socket.destroy();
    throw badRequest(problem);
  }
  webSocket.on("error", () => socket.destroySoon()); // A close frame with the reason was sent.
  return webSocket;
}
