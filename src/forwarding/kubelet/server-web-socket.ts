/** WebSockets of clients whose streams this server carries to kubelets. */
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { Exchange, UpgradeRequest } from "../../request/exchange.ts";
import { acceptWebSocket } from "../../request/web-socket/accept.ts";

/** A larger message of a client ends the connection. Upstream allows 32 MiB; kubectl sends 32 KiB. */
const messageBytesMax = 4 << 20;

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
  const headers = Object.fromEntries(handshakeHeaders.map((name) => [name, exchange.header(name)]));
  let socket: Socket | undefined;
  const release = (): { socket: Socket; head: Buffer } => {
    socket = upgrade.take(101) as Socket;
    return { socket, head: Buffer.alloc(0) };
  };
  try {
    return await acceptWebSocket({ method: "GET", headers }, release, { protocol, messageBytesMax, closeMs });
  } catch (error) {
    socket?.destroy();
    throw error;
  }
}
