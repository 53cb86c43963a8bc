/** An answer that goes on over a WebSocket. Source: RFC 6455; upstream reads what a watcher sends and throws it away. */
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import type { WebSocket } from "ws";
import { badRequest } from "../../apimachinery/errors.ts";
import type { BodyStream } from "../contract.ts";
import { drained } from "./body-stream.ts";

/** A connection that the HTTP server has let go of. */
export interface Upgrade {
  readonly socket: TLSSocket;
  /** What came right behind the request. */
  readonly head: Buffer;
}

/** What a client may send, though nobody reads it: more, or in more pieces, ends the connection. */
const messageBytesMax = 64 << 10;
const messagePiecesMax = 1024;

/** @throws ApiError 400 when the request is no proper handshake; nothing was answered then */
export async function openWebSocket(
  request: IncomingMessage,
  { socket, head }: Upgrade,
  { protocol, lingerMs }: { protocol: string | undefined; lingerMs: number },
): Promise<WebSocketBody> {
  const { WebSocketServer } = await import("ws"); // Few servers ever need it.
  const limits = {
    maxPayload: messageBytesMax,
    maxFragments: messagePiecesMax,
    maxBufferedChunks: messagePiecesMax,
    closeTimeout: lingerMs,
  };
  const server = new WebSocketServer({
    ...limits,
    noServer: true,
    clientTracking: false,
    skipUTF8Validation: true,
    handleProtocols: () => protocol ?? false,
  });
  let problem = "the connection is closed";
  server.on("wsClientError", (error) => {
    problem = error.message;
  });
  const opened: WebSocket[] = [];
  server.handleUpgrade(request, socket, head, (webSocket) => opened.push(webSocket));
  const [webSocket] = opened;
  if (webSocket === undefined) throw badRequest(problem);
  // What breaks the protocol, or a bound: the library has sent a close frame that says so.
  webSocket.on("error", () => socket.destroySoon());
  return new WebSocketBody(webSocket, socket);
}

/** Frames that were made for many clients go to the connection as they are, behind what the library has written; it writes whole frames, too. */
export class WebSocketBody implements BodyStream {
  readonly #webSocket: WebSocket;
  readonly #socket: TLSSocket;
  writtenBytes = 0;

  constructor(webSocket: WebSocket, socket: TLSSocket) {
    this.#webSocket = webSocket;
    this.#socket = socket;
  }

  /** Nothing may follow a close frame. */
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

  /** The client answers with a close frame of its own, or is cut off in time. */
  end(): void {
    this.#webSocket.close(normalClosure);
  }

  abort(): void {
    this.#socket.destroy();
  }
}

const normalClosure = 1000;
