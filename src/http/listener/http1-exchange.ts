/** An exchange over HTTP/1.1. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { webSocketProtocols } from "../../apimachinery/web-socket-protocols.ts";
import type {
  AnswerHeaders,
  BodyStream,
  Exchange,
  PeerCertificate,
  RemoteEnd,
  UpgradeRequest,
  WebSocketRequest,
} from "../../request/exchange.ts";
import { WritableBody } from "./body-stream.ts";
import type { Connection } from "./protocol.ts";
import { bodyPieces, CloseCallbacks, firstLine, forgetHeaders, readBody } from "./request-stream.ts";
import { openWebSocket, type Upgrade } from "./web-socket.ts";

/** An exchange on an HTTP/1.1 connection. */
export class Http1Exchange implements Exchange {
  readonly protocol = "HTTP/1.1";
  status = 0;
  receivedBytes = -1;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: Connection;
  readonly #closeCallbacks: CloseCallbacks;
  readonly webSocket: WebSocketRequest | undefined;
  readonly upgrade: UpgradeRequest | undefined;
  /** The body is read in pieces, possibly after the start of the response. */
  #isReadInPieces = false;
  #body: { readonly writtenBytes: number } | undefined;
  #wholeBytes = 0;
  entered: Exchange["entered"];
  #failed: (error: unknown) => void = () => this.abort();
  /** Closes a connection that was released for another protocol. */
  #abortReleased: (() => void) | undefined;

  /** @param upgrade the connection, when the client requests another protocol */
  constructor(request: IncomingMessage, response: ServerResponse, connection: Connection, upgrade?: Upgrade) {
    this.#request = request;
    this.#response = response;
    this.#connection = connection;
    this.#closeCallbacks = new CloseCallbacks(response, this);
    this.webSocket = upgrade && isForWebSocket(request) ? this.#webSocketRequest(upgrade) : undefined;
    this.upgrade = upgrade && this.#upgradeRequest(upgrade);
    // The client disconnected; the handlers are notified by the close of the response.
    request.on("error", () => response.destroy());
    response.on("error", () => response.destroy());
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  get target(): string {
    return targetOf(this.#request);
  }

  get remote(): RemoteEnd {
    return this.#connection.peer;
  }

  get peerCertificate(): PeerCertificate | undefined {
    return this.#connection.peer.certificate;
  }

  get closed(): boolean {
    return this.#response.destroyed || this.#response.closed;
  }

  get answered(): boolean {
    return this.status !== 0;
  }

  get sentBytes(): number {
    return this.#body?.writtenBytes ?? this.#wholeBytes;
  }

  get rawHeaders(): readonly string[] {
    return this.#request.rawHeaders;
  }

  header(name: string): string | undefined {
    return firstLine(this.#request.headers, this.#request.rawHeaders, name);
  }

  forgetHeaders(isMeant: (name: string) => boolean): void {
    const { headers, rawHeaders } = this.#request; // Node computes `headers` from `rawHeaders` at the first access.
    forgetHeaders(rawHeaders, headers, isMeant);
  }

  body(bytesMax: number): Promise<Buffer> {
    this.entered?.("read body");
    const { clock, bodyMs } = this.#connection;
    const received = (bytes: number): void => {
      this.receivedBytes = bytes;
      this.#connection.work?.begins(this);
    };
    return readBody(this.#request, {
      bytesMax,
      contentLength: this.header("content-length"),
      clock,
      withinMs: bodyMs,
      received,
    });
  }

  get hasBody(): boolean {
    const { "content-length": length = "0", "transfer-encoding": encoding } = this.#request.headers;
    return encoding !== undefined || length !== "0";
  }

  bodyPieces(): AsyncIterable<Buffer> {
    this.#isReadInPieces = true;
    return bodyPieces(this.#request, (bytes) => {
      this.receivedBytes = bytes;
    });
  }

  respond(status: number, headers: AnswerHeaders, body?: Buffer): void {
    if (this.answered) return; // The request timed out.
    this.#connection.work?.answers(this);
    const length = body?.length ?? 0;
    // As Go's net/http, whose 304 responses have no length.
    const sized = status === 304 ? headers : { ...headers, "content-length": String(length) };
    if (!this.closed) this.#writeHead(status, sized);
    this.status = status;
    if (this.closed) return;
    if (this.method === "HEAD" || length === 0) {
      this.#response.end();
    } else {
      this.#wholeBytes = length;
      this.#response.end(body);
    }
  }

  stream(status: number, headers: AnswerHeaders): BodyStream {
    const isLate = this.answered;
    this.#connection.work?.answers(this);
    const response = this.#response;
    if (!isLate && !this.closed) {
      this.#writeHead(status, headers);
      this.#flushHead(headers);
    }
    if (!isLate) this.status = status;
    const body = new WritableBody(response, { ...this.#connection, abort: () => response.destroy() });
    this.#body = body;
    return body;
  }

  endConnection(when: "afterRequest" | "now" = "afterRequest"): void {
    if (when === "now") this.#connection.peer.disconnect();
    else this.#response.shouldKeepAlive = false;
  }

  onClose(run: () => void): void {
    this.#closeCallbacks.add(run);
  }

  abort(): void {
    if (this.#abortReleased !== undefined) this.#abortReleased();
    else if (!this.#response.writableEnded) this.#response.destroy();
  }

  onFailure(run: (error: unknown) => void): void {
    this.#failed = run;
  }

  fail(error: unknown): void {
    this.#failed(error);
  }

  /**
   * Writes the status and the headers. When it throws, an error can still be answered: the response has not changed.
   * @throws Error for a status or a header that HTTP/1.1 cannot carry
   */
  #writeHead(status: number, headers: AnswerHeaders): void {
    if (status === 204 || status === 304) checkHeaders(headers); // Node remembers that such a response has no body.
    this.#dropRequest();
    this.#response.writeHead(status, status === 304 ? withoutContentType(headers) : headers);
  }

  /** Sends the headers before the body. Node's `flushHeaders` encodes them as UTF-8, which changes bytes above 0x7f. */
  #flushHead(headers: AnswerHeaders): void {
    const values = Object.values(headers).join();
    if (Buffer.byteLength(values) === values.length) this.#response.flushHeaders();
    else this.#response.write(Buffer.alloc(0));
  }

  #webSocketRequest(upgrade: Upgrade): WebSocketRequest {
    return {
      protocols: webSocketProtocols(this.rawHeaders).protocols,
      accept: async (protocol) => {
        const body = await openWebSocket(this.#request, upgrade, { protocol, lingerMs: this.#connection.lingerMs });
        this.status = 101;
        this.#body = body;
        this.#abortReleased = () => body.abort();
        return body;
      },
    };
  }

  #upgradeRequest({ socket, head }: Upgrade): UpgradeRequest {
    return {
      protocol: this.header("upgrade") ?? "",
      take: (status): Duplex => {
        this.entered?.("upgrade");
        this.status = status;
        const before = socket.bytesWritten;
        this.#body = {
          get writtenBytes() {
            return socket.bytesWritten - before;
          },
        };
        this.#abortReleased = () => socket.destroy();
        if (head.length > 0) socket.unshift(head);
        return socket;
      },
    };
  }

  /**
   * Discards the rest of the body, for a limited time; after a partially read body the connection
   * cannot be reused. A body that is read in pieces is discarded after the response.
   */
  #dropRequest(): void {
    const request = this.#request;
    if (request.complete) return void request.resume();
    if (this.#isReadInPieces) return void this.#response.once("finish", () => this.#discard());
    if (request.readableFlowing === false) this.#response.shouldKeepAlive = false;
    this.#discard();
  }

  #discard(): void {
    const request = this.#request;
    const { clock, bodyMs } = this.#connection;
    request.resume();
    if (!request.complete)
      request.once(
        "close",
        clock.after(bodyMs, () => request.socket.destroy()),
      );
  }
}

/** As Go's net/http, whose 304 responses have no type over HTTP/1.1. */
function withoutContentType({ "content-type": _type, ...others }: AnswerHeaders): AnswerHeaders {
  return others;
}

/** @throws Error for a header that HTTP/1.1 cannot carry */
function checkHeaders(headers: AnswerHeaders): void {
  const http = process.getBuiltinModule("node:http");
  for (const [name, values] of Object.entries(headers)) {
    http.validateHeaderName(name);
    for (const value of [values].flat()) http.validateHeaderValue(name, value);
  }
}

/** Whether a request is for a WebSocket. */
function isForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket";
}

/** Path and query. Clients that use the server as a proxy send an absolute URL. */
export function targetOf({ url = "" }: IncomingMessage): string {
  return url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?]*/i, "");
}
