/**
 * A connection of SPDY/3.1, as Kubernetes uses it: streams in both directions, without windows (the peers ignore
 * WINDOW_UPDATE). A stream that is not read stops the whole connection, so that memory is bounded. Source: SPDY
 * Protocol Draft 3.1; github.com/moby/spdystream@v0.5.1.
 */
import { Duplex } from "node:stream";
import { FrameReader } from "./frame-reader.ts";
import {
  encodeDataHead,
  encodeGoAway,
  encodePing,
  encodeRstStream,
  encodeSynReply,
  encodeSynStream,
  type Frame,
  resetStatus,
} from "./frames.ts";
import { HeaderEncoder, type Headers } from "./headers.ts";
import { SpdyError } from "./spdy-error.ts";

/** One stream of a connection. */
export interface SpdyStream {
  readonly id: number;
  /** The headers with which it was opened. */
  readonly headers: Headers;
  /**
   * Ends when the peer has sent everything, has reset the stream, or the connection has ended. Ending it sends FIN;
   * destroying it resets the stream. It never emits an error.
   */
  readonly data: Duplex;
}

export interface SpdyOptions {
  readonly role: "client" | "server";
  /**
   * Receives the streams that the peer opens, in order.
   * @returns whether the stream is accepted; otherwise it is reset
   */
  readonly onStream: (stream: SpdyStream) => boolean;
  /** Called with an unexpected error, which has ended the connection; without it, the error is thrown. */
  readonly failed?: (error: unknown) => void;
}

/** Open streams of a connection; more are reset. */
export const streamsMax = 256;

/** Unread bytes of a stream from which on the connection is not read, and unsent bytes after which writers wait. */
const streamBytesMax = 64 << 10;

/** Data is sent in frames of at most this size, so that streams take turns. */
const dataBytesMax = 32 << 10;

/** Unsent bytes with which a peer that causes answers (to pings, to new streams) and reads none is disconnected. */
const unreadBytesMax = 1 << 20;

const noHeaders: Headers = new Map();
const lastId = 0x7fffffff;

interface OpenStream extends SpdyStream {
  /** Whether data may be sent: the peer has accepted it. */
  accepted: boolean;
  onAccepted: ((error?: SpdyError) => void) | undefined;
  sentFin: boolean;
  receivedFin: boolean;
}

function rethrow(error: unknown): never {
  throw error;
}

/** Uses a socket until either side closes. */
export class SpdyConnection {
  readonly #socket: Duplex;
  readonly #isClient: boolean;
  readonly #onStream: SpdyOptions["onStream"];
  readonly #failed: NonNullable<SpdyOptions["failed"]>;
  readonly #reader = new FrameReader();
  readonly #encoder = new HeaderEncoder();
  readonly #streams = new Map<number, OpenStream>();
  /** Streams with so much unread data that the socket is paused. */
  readonly #full = new Set<OpenStream>();
  #nextId: number;
  #lastReceivedId = 0;
  #nextPing: number;
  #closed = false;
  #closeCallbacks: (() => void)[] = [];
  /** Why the connection ended, if the peer broke the protocol. */
  error: SpdyError | undefined;

  /** @param head bytes that were received after the handshake */
  constructor(socket: Duplex, head: Buffer, { role, onStream, failed }: SpdyOptions) {
    this.#socket = socket;
    this.#isClient = role === "client";
    this.#onStream = onStream;
    this.#failed = failed ?? rethrow;
    this.#nextId = this.#isClient ? 1 : 2;
    this.#nextPing = this.#nextId;
    socket.on("error", () => this.#end()); // The streams end; a close follows.
    socket.on("end", () => this.#end());
    socket.on("close", () => this.#end());
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    if (head.length > 0) this.#receive(head);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Calls `run` once when the connection has ended. */
  onClose(run: () => void): void {
    if (this.#closed) run();
    else this.#closeCallbacks.push(run);
  }

  /**
   * Opens a stream, and resolves when the peer has accepted it.
   * @throws SpdyError if the peer rejects it, or the connection ends before
   */
  openStream(headers: Headers): Promise<SpdyStream> {
    if (this.#closed || this.#nextId > lastId) return Promise.reject(new SpdyError("the connection is closed"));
    const id = this.#nextId;
    this.#nextId += 2;
    const stream = this.#createStream(id, headers);
    return new Promise((resolve, reject) => {
      stream.onAccepted = (error) => (error === undefined ? resolve(stream) : reject(error));
      this.#send(encodeSynStream(id, this.#encoder.encode(headers)));
    });
  }

  /** Sends a ping, so that the connection is not idle; the answer is not awaited. */
  ping(): void {
    this.#answer(encodePing(this.#nextPing));
    this.#nextPing = this.#nextPing + 2 > lastId ? this.#nextPing % 2 : this.#nextPing + 2;
  }

  /** Resets all streams, and closes the connection after what was written. */
  close(): void {
    if (this.#closed) return;
    for (const { data } of this.#streams.values()) data.destroy();
    this.#send(encodeGoAway(this.#lastReceivedId));
    this.#socket.end();
    this.#end();
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.read(chunk)) {
        if (this.#closed) return;
        this.#handle(frame);
      }
    } catch (error) {
      if (error instanceof SpdyError) this.error = error;
      this.#socket.destroy();
      this.#end();
      if (!(error instanceof SpdyError)) this.#failed(error);
    }
  }

  #handle(frame: Frame): void {
    switch (frame.type) {
      case "synStream":
        return this.#synStream(frame);
      case "synReply":
        return this.#synReply(frame);
      case "headers":
        return frame.fin ? this.#receivedFin(this.#streams.get(frame.id)) : undefined;
      case "rstStream":
        return this.#reset(frame.id);
      case "ping":
        if (frame.id % 2 !== this.#nextPing % 2) this.#answer(encodePing(frame.id));
        return;
      case "goAway":
        this.#socket.end();
        return this.#end();
      case "data":
        return this.#data(frame);
      case "ignored":
    }
  }

  #synStream({ id, headers, fin }: { id: number; headers: Headers; fin: boolean }): void {
    const isPeers = id % 2 === (this.#isClient ? 0 : 1);
    if (!isPeers || id <= this.#lastReceivedId) return this.#answer(encodeRstStream(id, resetStatus.protocolError));
    this.#lastReceivedId = id;
    if (this.#streams.size >= streamsMax) return this.#answer(encodeRstStream(id, resetStatus.refusedStream));
    const stream = this.#createStream(id, headers);
    stream.accepted = true;
    if (!this.#onStream(stream)) {
      stream.data.destroy();
      return;
    }
    this.#answer(encodeSynReply(id, this.#encoder.encode(noHeaders)));
    if (fin) this.#receivedFin(stream);
  }

  #synReply({ id, fin }: { id: number; fin: boolean }): void {
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.accepted) return;
    stream.accepted = true;
    stream.onAccepted?.();
    stream.onAccepted = undefined;
    if (fin) this.#receivedFin(stream);
  }

  /** The reader sees an end, as with upstream's library. */
  #reset(id: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    stream.sentFin = true;
    stream.onAccepted?.(new SpdyError("Stream reset"));
    stream.onAccepted = undefined;
    this.#receivedFin(stream);
  }

  /** Data before the reply is dropped, as upstream's library does. */
  #data({ id, data, fin }: { id: number; data: Buffer; fin: boolean }): void {
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.receivedFin || !stream.accepted) return;
    if (data.length > 0 && !stream.data.push(data)) {
      this.#full.add(stream);
      this.#socket.pause();
    }
    if (fin) this.#receivedFin(stream);
  }

  #receivedFin(stream: OpenStream | undefined): void {
    if (stream === undefined || stream.receivedFin) return;
    stream.receivedFin = true;
    stream.data.push(null);
    this.#readOn(stream); // It receives no more.
    this.#forget(stream);
  }

  /** Removes a stream that has ended in both directions. */
  #forget(stream: OpenStream): void {
    if (stream.sentFin && stream.receivedFin) this.#streams.delete(stream.id);
  }

  #readOn(stream: OpenStream): void {
    if (this.#full.delete(stream) && this.#full.size === 0 && !this.#closed) this.#socket.resume();
  }

  #createStream(id: number, headers: Headers): OpenStream {
    const data = new Duplex({
      readableHighWaterMark: streamBytesMax,
      writableHighWaterMark: streamBytesMax,
      read: () => this.#readOn(stream),
      write: (chunk: Buffer, _encoding, done) => this.#write(stream, chunk, done),
      final: (done) => {
        this.#sendFin(stream);
        done();
      },
      destroy: (_error, done) => {
        this.#destroyed(stream);
        done(null);
      },
    });
    const stream: OpenStream = {
      id,
      headers,
      data,
      accepted: false,
      onAccepted: undefined,
      sentFin: false,
      receivedFin: false,
    };
    this.#streams.set(id, stream);
    return stream;
  }

  /** Data of a stream that was reset is dropped. After the end of the connection, writers wait. */
  #write(stream: OpenStream, chunk: Buffer, done: () => void): void {
    if (this.#closed || !this.#socket.writable) return;
    if (stream.sentFin) return void setImmediate(done); // A writer without end must not block other work.
    for (let at = 0; at < chunk.length; at += dataBytesMax) {
      const piece = chunk.subarray(at, at + dataBytesMax);
      this.#socket.write(encodeDataHead(stream.id, { length: piece.length, fin: false }));
      this.#socket.write(piece, at + dataBytesMax >= chunk.length ? (error) => error ?? done() : undefined);
    }
    if (chunk.length === 0) done();
  }

  #sendFin(stream: OpenStream): void {
    if (stream.sentFin) return;
    stream.sentFin = true;
    this.#send(encodeDataHead(stream.id, { length: 0, fin: true }));
    this.#forget(stream);
  }

  #destroyed(stream: OpenStream): void {
    this.#readOn(stream);
    if (!this.#streams.delete(stream.id)) return;
    stream.sentFin = true;
    stream.receivedFin = true;
    this.#answer(encodeRstStream(stream.id, resetStatus.cancel));
  }

  /** Sends a frame that the peer causes. */
  #answer(frame: Buffer): void {
    this.#send(frame);
    if (this.#socket.writableLength > unreadBytesMax) this.#socket.destroy();
  }

  #send(frame: Buffer): void {
    if (!this.#closed && this.#socket.writable) this.#socket.write(frame);
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#full.clear();
    for (const stream of this.#streams.values()) {
      stream.onAccepted?.(new SpdyError("the connection is closed"));
      stream.onAccepted = undefined;
      if (!stream.receivedFin) stream.data.push(null);
      stream.receivedFin = true;
      stream.sentFin = true;
    }
    this.#streams.clear();
    for (const run of this.#closeCallbacks) run();
    this.#closeCallbacks = [];
  }
}
