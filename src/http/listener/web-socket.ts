/**
 * A response over a WebSocket. Source: RFC 6455. Like upstream, messages of a watching client are
 * discarded.
 */
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import type { WebSocket } from "ws";
import { drained } from "../../request/drained.ts";
import type { BodyStream } from "../../request/exchange.ts";
import { acceptWebSocket } from "../../request/web-socket/accept.ts";

/** A connection that the HTTP server has released. */
export interface Upgrade {
  readonly socket: TLSSocket;
  /** Bytes received after the request. */
  readonly head: Buffer;
}

/** A larger message of a client, which is discarded, ends the connection. */
const messageBytesMax = 64 << 10;

/**
 * Opens the WebSocket.
 * @throws ApiError 400 when the handshake is malformed; nothing was sent then
 */
export async function openWebSocket(
  request: IncomingMessage,
  { socket, head }: Upgrade,
  { protocol, lingerMs }: { protocol: string | undefined; lingerMs: number },
): Promise<WebSocketBody> {
  const release = (): Upgrade => ({ socket, head });
  const webSocket = await acceptWebSocket(request, release, { protocol, messageBytesMax, closeMs: lingerMs });
  return new WebSocketBody(webSocket, socket);
}

/**
 * Frames that are shared by clients are written to the socket directly, after the library's frames,
 * which are whole, too.
 */
class WebSocketBody implements BodyStream {
  readonly #webSocket: WebSocket;
  readonly #socket: TLSSocket;
  writtenBytes = 0;

  constructor(webSocket: WebSocket, socket: TLSSocket) {
    this.#webSocket = webSocket;
    this.#socket = socket;
  }

  /** No data may follow a close frame. */
  get #isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN && this.#socket.writable;
  }

  get pendingBytes(): number {
    return this.#socket.writableLength;
  }

  write(piece: Buffer, taken?: () => void): boolean {
    if (!this.#isOpen) return true;
    this.writtenBytes += piece.length;
    return this.#socket.write(piece, taken && ((error) => error ?? taken()));
  }

  drained(): Promise<void> {
    return this.#isOpen ? drained(this.#socket) : Promise.resolve();
  }

  /** The client answers with a close frame, or is disconnected after a while. */
  end(): void {
    this.#webSocket.close(normalClosure);
  }

  abort(): void {
    this.#socket.destroy();
  }
}

const normalClosure = 1000;
