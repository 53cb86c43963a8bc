/**
 * Calls of gRPC on HTTP/2 streams of Node. Source: gRPC, "gRPC over HTTP2". Requests have no
 * `grpc-timeout`, so that the headers of a method are always the same: a call whose time is over is
 * reset, which ends it at the member, too.
 */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from "node:http2";
import type { Channel } from "./channel.ts";
import type { CallHeaders, Connection } from "./connection.ts";
import { frame, MessageReader } from "./framing.ts";
import { CallError, errorIn, errorOfReset, hasStatus } from "./status.ts";

/** The receiver of a call. */
export interface CallHandler {
  message(bytes: Buffer): void;
  /** Called once, after the last message, without an error when the status is OK. */
  end(error: CallError | undefined): void;
}

/** An open call. */
export interface Call {
  send(message: Buffer): void;
  /** Sends a message after which no others follow. */
  sendLast(message: Buffer): void;
  /** Ends it, without a call of `end`. */
  cancel(): void;
}

/** The headers of calls of a method. */
export function callHeaders({ origin, authority }: Channel["endpoint"], path: string): CallHeaders {
  return [
    ...[":method", "POST", ":scheme", origin.slice(0, origin.indexOf(":")), ":authority", authority, ":path", path],
    ...["content-type", "application/grpc", "te", "trailers", "user-agent", "grpc-node-coxswain"],
  ];
}

/**
 * Calls a method with one request and one response.
 * @throws CallError DeadlineExceeded when it is not answered in time; Unimplemented without a response
 */
export function callUnary(channel: Channel, headers: CallHeaders, request: Buffer, timeoutMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let response: Buffer | undefined;
    const call = openCall(channel, headers, {
      message(bytes) {
        response = bytes;
      },
      end(error) {
        stopTimer();
        if (error !== undefined) reject(error);
        else if (response === undefined) reject(new CallError("Unimplemented", "No message received"));
        else resolve(response);
      },
    });
    const stopTimer = channel.clock.after(timeoutMs, () => {
      call.cancel();
      reject(new CallError("DeadlineExceeded", `Deadline exceeded after ${timeoutMs} ms`));
    });
    call.sendLast(request);
  });
}

/** Starts a call on the connection of the channel, or on the next one. */
export function openCall(channel: Channel, headers: CallHeaders, handler: CallHandler): Call {
  const connection = channel.connection();
  if (!(connection instanceof Promise)) return new StreamCall(connection, headers, handler);
  const waiting = new WaitingCall(handler);
  connection.then(
    (opened) => {
      // The member or the client may have closed it since.
      if (opened.isOpen) waiting.start((own) => new StreamCall(opened, headers, own));
      else waiting.fail(new CallError("Unavailable", "Connection dropped", { isUnsent: true }));
    },
    (error: CallError) => waiting.fail(error),
  );
  return waiting;
}

class StreamCall implements Call {
  readonly #connection: Connection;
  readonly #stream: ClientHttp2Stream;
  readonly #handler: CallHandler;
  readonly #reader = new MessageReader();
  #last: IncomingHttpHeaders | undefined;
  #ended = false;

  constructor(connection: Connection, headers: CallHeaders, handler: CallHandler) {
    this.#connection = connection;
    this.#handler = handler;
    const stream = connection.call(headers);
    this.#stream = stream;
    stream.on("response", (first) => {
      this.#last = first;
    });
    stream.on("trailers", (last) => {
      this.#last = last;
    });
    stream.on("data", (piece: Buffer) => this.#receive(piece));
    stream.on("end", () => this.#end());
    stream.on("close", () => this.#closed());
    stream.on("error", () => {}); // The stream closes.
  }

  send(message: Buffer): void {
    if (!this.#ended) this.#stream.write(frame(message));
  }

  sendLast(message: Buffer): void {
    this.#stream.end(frame(message));
  }

  cancel(): void {
    this.#ended = true;
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #receive(piece: Buffer): void {
    if (this.#ended) return;
    try {
      this.#reader.add(piece, (message) => this.#handler.message(message));
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      this.cancel();
      this.#handler.end(error);
    }
  }

  /** The response is complete only with a status; without one, the stream or the connection has failed. */
  #end(): void {
    if (this.#ended || this.#last === undefined || !hasStatus(this.#last)) return;
    this.#ended = true;
    this.#handler.end(errorIn(this.#last));
  }

  #closed(): void {
    this.#connection.callClosed();
    if (this.#ended) return;
    this.#ended = true;
    const error = this.#connection.isLost ? new CallError("Unavailable", "Connection dropped") : undefined;
    this.#handler.end(error ?? errorOfReset(this.#stream.rstCode));
  }
}

/** A call that waits for a connection. It has few messages, because attempts to connect are short. */
class WaitingCall implements Call {
  readonly #handler: CallHandler;
  #messages: { readonly bytes: Buffer; readonly isLast: boolean }[] = [];
  #started: Call | undefined;
  #canceled = false;

  constructor(handler: CallHandler) {
    this.#handler = handler;
  }

  start(open: (handler: CallHandler) => Call): void {
    if (this.#canceled) return;
    this.#started = open(this.#handler);
    for (const { bytes, isLast } of this.#messages) {
      if (isLast) this.#started.sendLast(bytes);
      else this.#started.send(bytes);
    }
    this.#messages = [];
  }

  fail(error: CallError): void {
    if (!this.#canceled) this.#handler.end(error);
  }

  send(bytes: Buffer): void {
    if (this.#started !== undefined) this.#started.send(bytes);
    else this.#messages.push({ bytes, isLast: false });
  }

  sendLast(bytes: Buffer): void {
    if (this.#started !== undefined) this.#started.sendLast(bytes);
    else this.#messages.push({ bytes, isLast: true });
  }

  cancel(): void {
    this.#canceled = true;
    this.#messages = [];
    this.#started?.cancel();
  }
}
