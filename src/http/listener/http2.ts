/** HTTP/2 on connections after their TLS handshake, and the exchange on one of its streams. */
import http2 from "node:http2";
import type { TLSSocket } from "node:tls";
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import { isBodiless } from "../../request/carriable.ts";
import type { AnswerHeaders, BodyStream, Exchange, PeerCertificate, RemoteEnd } from "../../request/exchange.ts";
import { beginInTurns } from "./begin-in-turns.ts";
import { WritableBody } from "./body-stream.ts";
import { type Peer, peerOf } from "./peer.ts";
import type { Connection, Protocol, ProtocolOptions } from "./protocol.ts";
import { bodyPieces, CloseCallbacks, firstLine, forgetHeaders, readBody } from "./request-stream.ts";
import { WriteSlots } from "./write-slots.ts";

/** Flow control windows for request bodies, in bytes: per stream and per connection. */
const streamWindow = 256 << 10;
const connectionWindow = 4 << 20;

/** Creates the HTTP/2 protocol of a listener. */
export function createHttp2(parts: ProtocolOptions): Protocol {
  const sessions = new Map<http2.ServerHttp2Session, Peer>();
  return {
    accept(socket) {
      const peer = peerOf(socket, parts.clock);
      const session = openSession(socket, peer, parts);
      sessions.set(session, peer);
      session.once("close", () => sessions.delete(session));
    },
    dropRejected() {
      for (const [session, { certificateRejected }] of sessions) if (certificateRejected) session.close();
    },
    stop() {
      for (const session of sessions.keys()) session.close();
    },
  };
}

function openSession(
  socket: TLSSocket,
  peer: Peer,
  { limits, onExchange, work, ...parts }: ProtocolOptions,
): http2.ServerHttp2Session {
  const clock = realClock(parts.clock);
  const { bodyMs, lingerMs } = limits;
  const about = { peer, clock, bodyMs, lingerMs, slots: new WriteSlots(clock), work };
  const session = http2.performServerHandshake(socket, {
    settings: {
      maxConcurrentStreams: limits.streamsMax,
      maxHeaderListSize: limits.headerBytesMax,
      initialWindowSize: streamWindow,
      enablePush: false,
    },
    maxHeaderListPairs: limits.headersMax,
    maxSessionMemory: limits.sessionMiBMax,
    // A proxied response can have two values of such a header, which Go's server sends, too.
    strictSingleValueFields: false,
  });
  session.setLocalWindowSize(connectionWindow);
  let open = 0;
  const begin = (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders, rawHeaders: string[]): void => {
    open++;
    const exchange = new Http2Exchange(stream, headers, rawHeaders, about);
    exchange.onClose(() => void open--);
    work?.begins(exchange);
    onExchange(exchange);
  };
  // A client that resets its requests at once gets none of them served, beyond those of the first turn.
  const receive = beginInTurns(begin);
  session.on("stream", (stream, headers, _flags, rawHeaders) => receive(stream, headers, rawHeaders));
  session.setTimeout(limits.idleMs, () => (open === 0 ? session.close() : checkAlive(session, clock, limits.pingMs)));
  // Any error ends the connection; open streams are notified by their close.
  session.on("error", () => session.destroy());
  return session;
}

/** Pings the client of a quiet connection with open watches. */
function checkAlive(session: http2.ServerHttp2Session, clock: Clock, pingMs: number): void {
  if (session.destroyed) return;
  const cancel = clock.after(pingMs, () => session.destroy());
  session.ping((error) => {
    cancel();
    if (error !== null) session.destroy();
  });
}

/** An exchange on an HTTP/2 stream. */
class Http2Exchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly protocol = "HTTP/2.0";
  readonly webSocket = undefined;
  readonly upgrade = undefined;
  readonly rawHeaders: string[];
  status = 0;
  receivedBytes = -1;
  readonly #stream: http2.ServerHttp2Stream;
  readonly #headers: http2.IncomingHttpHeaders;
  readonly #connection: Connection;
  readonly #closeCallbacks: CloseCallbacks;
  #body: WritableBody | undefined;
  /** The body is read in pieces, possibly after the start of the response. */
  #isReadInPieces = false;
  #wholeBytes = 0;
  entered: Exchange["entered"];
  #failed: (error: unknown) => void = () => this.abort();

  constructor(
    stream: http2.ServerHttp2Stream,
    headers: http2.IncomingHttpHeaders,
    rawHeaders: string[],
    connection: Connection,
  ) {
    this.#stream = stream;
    this.#headers = headers;
    this.rawHeaders = rawHeaders;
    this.#connection = connection;
    this.method = headers[":method"] ?? "";
    this.target = headers[":path"] ?? "";
    this.#closeCallbacks = new CloseCallbacks(stream, this);
    // The client reset the stream; the handlers are notified by its close.
    stream.on("error", () => stream.destroy());
  }

  get remote(): RemoteEnd {
    return this.#connection.peer;
  }

  get peerCertificate(): PeerCertificate | undefined {
    return this.#connection.peer.certificate;
  }

  get closed(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  get answered(): boolean {
    return this.status !== 0;
  }

  get sentBytes(): number {
    return this.#body?.writtenBytes ?? this.#wholeBytes;
  }

  header(name: string): string | undefined {
    return firstLine(this.#headers, this.rawHeaders, name);
  }

  forgetHeaders(isMeant: (name: string) => boolean): void {
    forgetHeaders(this.rawHeaders, this.#headers, isMeant);
  }

  body(bytesMax: number): Promise<Buffer> {
    this.entered?.("read body");
    const { clock, bodyMs } = this.#connection;
    const received = (bytes: number): void => {
      this.receivedBytes = bytes;
      this.#connection.work?.begins(this);
    };
    return readBody(this.#stream, {
      bytesMax,
      contentLength: this.header("content-length"),
      clock,
      withinMs: bodyMs,
      received,
    });
  }

  get hasBody(): boolean {
    return !this.#stream.endAfterHeaders;
  }

  bodyPieces(): AsyncIterable<Buffer> {
    this.#isReadInPieces = true;
    return bodyPieces(this.#stream, (bytes) => {
      this.receivedBytes = bytes;
    });
  }

  respond(status: number, headers: AnswerHeaders, body?: Buffer): void {
    if (this.answered) return; // The request timed out.
    this.#connection.work?.answers(this);
    if (this.closed) {
      this.status = status;
      return;
    }
    const stream = this.#stream;
    const length = body?.length ?? 0;
    const whole = headerList(status, headers);
    const isEmpty = length === 0 || isBodiless(status, this.protocol);
    if ((!isEmpty || length === 0) && status !== 304) whole.push("content-length", String(length));
    // A status or a header that Node rejects leaves the stream as it was, so that an error can be answered.
    if (isEmpty || this.method === "HEAD") {
      stream.respond(whole, { endStream: true });
      this.status = status;
    } else {
      stream.respond(whole);
      this.status = status;
      this.#wholeBytes = length;
      stream.end(body);
    }
    this.#dropRequest();
  }

  stream(status: number, headers: AnswerHeaders): BodyStream {
    const isLate = this.answered;
    this.#connection.work?.answers(this);
    const stream = this.#stream;
    let aborted = false;
    if (!isLate && !this.closed) {
      // Trailers end the response; otherwise an aborted response would look complete.
      stream.respond(headerList(status, headers), { waitForTrailers: true });
      stream.once("wantTrailers", () => {
        if (!aborted) stream.sendTrailers({});
      });
      this.#dropRequest();
    }
    if (!isLate) this.status = status;
    const abort = (): void => {
      aborted = true;
      stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
    };
    this.#body = new WritableBody(stream, { ...this.#connection, abort });
    return this.#body;
  }

  /** Sends GOAWAY, so that open requests continue, or closes the socket. */
  endConnection(when: "afterRequest" | "now" = "afterRequest"): void {
    if (when === "now") this.#connection.peer.disconnect();
    else this.#stream.session?.close();
  }

  onClose(run: () => void): void {
    this.#closeCallbacks.add(run);
  }

  abort(): void {
    if (!this.#stream.writableEnded) this.#stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
  }

  onFailure(run: (error: unknown) => void): void {
    this.#failed = run;
  }

  fail(error: unknown): void {
    this.#failed(error);
  }

  /**
   * The stream closes when both sides have ended. A partially read body is discarded; the rest of
   * others is read for a limited time.
   */
  #dropRequest(): void {
    const stream = this.#stream;
    const close = (): void => stream.close(http2.constants.NGHTTP2_NO_ERROR);
    // Without a body, Node ends the request when the response is sent, which costs less than to end it before.
    if (stream.readableEnded || stream.endAfterHeaders) return;
    if (stream.readableFlowing === false || this.#isReadInPieces) return void stream.once("finish", close);
    stream.resume();
    const { clock, lingerMs } = this.#connection;
    stream.once("finish", () => stream.once("close", clock.after(lingerMs, close)));
  }
}

/** Names and values alternately, the format that Node sends without conversion. */
function headerList(status: number, headers: AnswerHeaders): string[] {
  const list = [":status", String(status)];
  for (const name in headers) {
    const value = headers[name] as string | string[];
    if (typeof value === "string") list.push(name, value);
    else for (const one of value) list.push(name, one);
  }
  return list;
}
