/**
 * One HTTP/2 connection, which many calls share. Source of the limits: golang.org/x/net/http2 as client-go configures
 * it, k8s.io/apimachinery@v0.36.0/pkg/util/net/http.go.
 */
import http2 from "node:http2";
import type net from "node:net";
import type { Dispatcher } from "undici";
import { streamError } from "./connect.ts";
import { WebhookError } from "./contract.ts";

/** An idle connection is closed after this time. */
const idleMs = 90_000;
/** The interval of pings, and how long their answers may take: a connection whose peer has vanished is closed. */
const pingEveryMs = 30_000;
const pingMs = 15_000;
/** Of a response. Its body has the limit of its call. */
const headerBytesMax = 1 << 20;
/** What the server sends before the client has read it. */
const windowBytes = 1 << 20;
const sessionWindowBytes = 16 << 20;
/** Of the bodies that calls send, and of what Node keeps for them. */
const sessionMegabytesMax = 256;

interface Options {
  /** `https://host:port` */
  readonly origin: string;
  /** Called when the connection takes more calls, or none any more. Those in progress may go on. */
  readonly changed: () => void;
  readonly closed: () => void;
}

/** The stream of a call. */
interface Http2Call {
  readonly dispatcher: Pick<Dispatcher, "dispatch">;
  /** Ends the stream, if it is open. */
  cancel(): void;
}

/** A connection. */
export interface Http2Connection {
  /** How many calls it can have at once, as far as the server allows; 0 when it takes no more. */
  readonly callsMax: number;
  /** Whether the server has not said yet how many calls it allows; it can have one. */
  readonly isNew: boolean;
  readonly calls: number;
  /** @param ended called once, when the call no longer counts */
  open(ended: () => void): Http2Call;
  /** Closes it; all calls fail. */
  destroy(): void;
}

/** @param socket whose handshake has chosen `h2` */
export function openHttp2(socket: net.Socket, { origin, changed, closed }: Options): Http2Connection {
  const session = connect(socket, origin);
  let calls = 0;
  let callsMax = 1;
  let isNew = true;
  let isRetired = false;
  let idle: NodeJS.Timeout | undefined;
  let cause: Error | undefined;
  const retire = (): void => {
    if (isRetired) return;
    isRetired = true;
    clearTimeout(idle);
    if (!session.closed) session.close();
    changed();
  };
  const becomeIdle = (): void => {
    if (!isRetired) idle = setTimeout(retire, idleMs).unref();
  };
  const stopPings = pingRepeatedly(session, (error) => (cause ??= error)); // Streams close before the session's event.
  session.on("error", (error) => (cause ??= error));
  session.on("goaway", retire);
  session.on("remoteSettings", ({ maxConcurrentStreams = Number.POSITIVE_INFINITY }) => {
    callsMax = maxConcurrentStreams;
    isNew = false;
    changed();
  });
  session.on("close", () => {
    stopPings();
    retire();
    closed();
  });
  becomeIdle();
  return {
    get callsMax() {
      return isRetired ? 0 : callsMax;
    },
    get isNew() {
      return isNew && !isRetired;
    },
    get calls() {
      return calls;
    },
    open(ended) {
      clearTimeout(idle);
      calls++;
      return openCall(session, {
        ended() {
          calls--;
          if (calls === 0) becomeIdle();
          ended();
        },
        failed: retire,
        cause: () => cause,
      });
    },
    destroy: () => session.destroy(),
  };
}

function connect(socket: net.Socket, origin: string): http2.ClientHttp2Session {
  const session = http2.connect(origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: windowBytes, maxHeaderListSize: headerBytesMax },
    maxSessionMemory: sessionMegabytesMax,
  });
  return session.once("connect", () => session.setLocalWindowSize(sessionWindowBytes));
}

/**
 * @param fail called before the session is destroyed, because a ping is not answered in time
 * @returns ends the pings
 */
function pingRepeatedly(session: http2.ClientHttp2Session, fail: (error: Error) => void): () => void {
  let waiting: NodeJS.Timeout | undefined;
  const lost = (): void => {
    const error = new WebhookError("closed", "http2: client connection lost");
    fail(error);
    session.destroy(error);
  };
  const interval = setInterval(() => {
    if (session.destroyed || waiting !== undefined) return;
    waiting = setTimeout(lost, pingMs).unref();
    session.ping(() => {
      clearTimeout(waiting);
      waiting = undefined;
    });
  }, pingEveryMs).unref();
  return () => {
    clearInterval(interval);
    clearTimeout(waiting);
  };
}

interface CallOptions {
  readonly ended: () => void;
  /** No further call may use this connection: the next would find it closed, too. */
  readonly failed: () => void;
  /** Why the connection has failed. */
  readonly cause: () => Error | undefined;
}

function openCall(session: http2.ClientHttp2Session, { ended, failed, cause }: CallOptions): Http2Call {
  let stream: http2.ClientHttp2Stream | undefined;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    ended();
  };
  return {
    dispatcher: {
      dispatch({ path, method, headers, body }, handler) {
        const fail = (error: Error): void => {
          if (isOver) return; // The call was canceled.
          if (error instanceof WebhookError && error.kind === "closed") failed();
          end();
          handler.onResponseError?.(controllerOf(stream), error);
        };
        const head = { ":method": method, ":path": path, ...http2Headers(headers as readonly string[]) };
        try {
          stream = session.request(head, { endStream: body === null });
        } catch {
          queueMicrotask(() => fail(closedReason(cause())));
          return true;
        }
        readAnswer(stream, handler, { end, fail, cause, isLost: () => session.destroyed });
        if (body !== null) stream.end(body as Uint8Array);
        return true;
      },
    },
    cancel() {
      end();
      stream?.removeAllListeners("data");
      stream?.close(http2.constants.NGHTTP2_CANCEL);
    },
  };
}

interface AnswerOptions extends Pick<CallOptions, "cause"> {
  /** Whether the connection has failed, whose cause may follow. */
  readonly isLost: () => boolean;
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}

function readAnswer(
  stream: http2.ClientHttp2Stream,
  handler: Dispatcher.DispatchHandler,
  options: AnswerOptions,
): void {
  const { end, fail } = options;
  const controller = controllerOf(stream);
  let bytesLeft: number | undefined;
  let hasEnded = false;
  stream.on("response", (headers) => {
    const { ":status": status = 0, ...fields } = headers;
    bytesLeft = Number(fields["content-length"] ?? 0);
    handler.onResponseStart?.(controller, status, fields as Record<string, string>, "");
  });
  stream.on("data", (piece: Buffer) => {
    bytesLeft = (bytesLeft ?? 0) - piece.length;
    handler.onResponseData?.(controller, piece);
  });
  stream.on("end", () => {
    hasEnded = true;
  });
  stream.on("error", () => {}); // `close` follows.
  stream.on("close", () => {
    const isComplete = hasEnded && stream.rstCode === http2.constants.NGHTTP2_NO_ERROR;
    if (!isComplete || bytesLeft === undefined || bytesLeft > 0) return fail(failureOf(stream, options));
    end();
    handler.onResponseEnd?.(controller, {});
  });
}

/** As Go's messages. Callers try again after the kind `closed`. */
function failureOf({ id = 0, rstCode = 0 }: http2.ClientHttp2Stream, { cause, isLost }: AnswerOptions): Error {
  const { NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM, NGHTTP2_CANCEL } = http2.constants;
  const isClosed = rstCode === NGHTTP2_NO_ERROR || rstCode === NGHTTP2_REFUSED_STREAM || rstCode === NGHTTP2_CANCEL;
  if (isClosed || cause() !== undefined) return closedReason(cause());
  const code = codeNames[rstCode] ?? `unknown error code ${rstCode}`;
  return new WebhookError(
    "malformed",
    isLost() ? `connection error: ${code}` : `stream error: stream ID ${id}; ${code}; received from peer`,
  );
}

function closedReason(cause: Error | undefined): WebhookError {
  if (cause === undefined) return new WebhookError("closed", "EOF");
  if (cause instanceof WebhookError) return cause;
  return streamError(cause) ?? new WebhookError("closed", `http2: ${cause.message}`);
}

/** By code. Source: RFC 9113, section 7. */
const codeNames: readonly string[] = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
];

/** What {@link Dispatcher.DispatchHandler} uses of it. */
function controllerOf(stream: http2.ClientHttp2Stream | undefined): Dispatcher.DispatchController {
  return {
    pause: () => void stream?.pause(),
    resume: () => void stream?.resume(),
  } as Dispatcher.DispatchController;
}

/** @param headers names and values in turn */
function http2Headers(headers: readonly string[]): http2.OutgoingHttpHeaders {
  const fields: http2.OutgoingHttpHeaders = {};
  for (let at = 0; at < headers.length; at += 2)
    fields[headers[at] === "host" ? ":authority" : (headers[at] as string)] = headers[at + 1];
  return fields;
}
