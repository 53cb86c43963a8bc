/** Opens WebSockets that this server ends. Source: RFC 6455. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { badRequest } from "../../apimachinery/errors.ts";

/** A connection that the HTTP server has released. */
export interface ReleasedConnection {
  readonly socket: Socket;
  /** Bytes received after the request. */
  readonly head: Buffer;
}

interface AcceptOptions {
  /** The chosen subprotocol, whose name can contain a slash. */
  readonly protocol: string | undefined;
  /** A larger message of the client ends the connection. */
  readonly messageBytesMax: number;
  /** The time in which the client must answer a close frame. */
  readonly closeMs: number;
}

/** More fragments of a message end the connection. */
const messagePiecesMax = 1024;

/**
 * Answers the handshake.
 *
 * @param release called when the connection can be used at once
 * @returns a socket whose errors need no listener; its close follows
 * @throws ApiError 400 when the handshake is malformed; nothing was sent then
 */
export async function acceptWebSocket(
  request: Pick<IncomingMessage, "method" | "headers">,
  release: () => ReleasedConnection,
  { protocol, messageBytesMax, closeMs }: AcceptOptions,
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
    handleProtocols: () => false,
  });
  if (protocol !== undefined) server.on("headers", (headers) => headers.push(`Sec-WebSocket-Protocol: ${protocol}`));
  let problem = "the connection is closed";
  server.on("wsClientError", (error) => {
    problem = error.message;
  });
  const opened: WebSocket[] = [];
  const { socket, head } = release();
  server.handleUpgrade(request as IncomingMessage, socket, head, (webSocket) => opened.push(webSocket));
  const [webSocket] = opened;
  if (webSocket === undefined) throw badRequest(problem);
  // A protocol error, or a limit: the library has sent a close frame with the reason.
  webSocket.on("error", () => socket.destroySoon());
  return webSocket;
}
