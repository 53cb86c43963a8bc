/** A request and its response as the socket carries them, the same over HTTP/1.1 and HTTP/2. */
import type { Duplex } from "node:stream";
import type { Authorities } from "../lib/x509/authorities.ts";
import type { StageObserver } from "./stages.ts";

/** Lower-case names; a list is sent as one line per value. */
export type AnswerHeaders = Record<string, string | string[]>;

/** One request and its response, the same over HTTP/1.1 and HTTP/2. */
export interface Exchange {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly protocol: "HTTP/1.1" | "HTTP/2.0";
  /** Returns the first line of a header, as Go's `Header.Get`. `headerLines` returns all. @param name lower-case */
  header(name: string): string | undefined;
  /** Names, in any case, and values alternately, one pair per header line. */
  readonly rawHeaders: readonly string[];
  /**
   * Removes headers from the request, so that credentials reach no other server.
   * @param isMeant receives lower-case names
   */
  forgetHeaders(isMeant: (name: string) => boolean): void;
  readonly remote: RemoteEnd;
  /**
   * The client certificate of the connection, undefined when absent; computed once per connection.
   */
  readonly peerCertificate: PeerCertificate | undefined;
  /**
   * Reads the body.
   * @throws ApiError 413 beyond the limit, 400 when the client disconnected, 504 when the body takes too long
   */
  body(bytesMax: number): Promise<Buffer>;
  /** Whether the client announced a body, which can be empty. */
  readonly hasBody: boolean;
  /**
   * Reads the body in pieces, for proxies: no faster than the caller asks for them, without a limit
   * of size or time. Must be called before the response, which can start before the end of the body;
   * the end of the response discards the rest. The iterator throws the error of the stream when the
   * client disconnects.
   */
  bodyPieces(): AsyncIterable<Buffer>;
  /**
   * Sends the whole response and adds `content-length`. Ignored when the request was answered
   * already, such as after a timeout.
   */
  respond(status: number, headers: AnswerHeaders, body?: Buffer): void;
  /** Starts a response in pieces (lists, watches). Ignored like `respond`. */
  stream(status: number, headers: AnswerHeaders): BodyStream;
  /** Present when the client requests a WebSocket that the server may accept; never over HTTP/2. */
  readonly webSocket: WebSocketRequest | undefined;
  /**
   * Present when the client requests another protocol, such as a WebSocket or SPDY, on a path that
   * the server may upgrade; never over HTTP/2, and never with a body.
   */
  readonly upgrade: UpgradeRequest | undefined;
  /**
   * Closes the connection.
   * @param when `afterRequest`: must be called before the response; `now`: with all requests on it, as
   *   if the network had failed, for the test kit
   */
  endConnection(when?: "afterRequest" | "now"): void;
  /**
   * Calls `run` once when the client has disconnected or the response is complete. What it throws is
   * passed to `fail`.
   */
  onClose(run: () => void): void;
  /** Closes the connection, or resets the stream, unless the response is complete. */
  abort(): void;
  /** Sets what `fail` does; until then it aborts. */
  onFailure(run: (error: unknown) => void): void;
  /**
   * Ends this request alone, because code that serves it has thrown an unexpected error outside of
   * its promise. See `guarded` in boundary.ts.
   */
  fail(error: unknown): void;
  /** Called at each stage of the request, by traces and tests; undefined in most servers. */
  entered: StageObserver | undefined;
  readonly closed: boolean;
  /** Whether a response was started. */
  readonly answered: boolean;
  /** The response's status; 0 before it. */
  readonly status: number;
  /** Bytes of the response's body so far. */
  readonly sentBytes: number;
  /** Bytes of the request's body; -1 until it has been read to its end. */
  readonly receivedBytes: number;
}

/** A response in pieces. */
export interface BodyStream {
  /**
   * @param taken called when the socket has accepted the piece, whose memory may be reused; never
   *   if the client disconnects before
   * @returns false when the caller should wait for `drained` before writing more
   */
  write(piece: Buffer, taken?: () => void): boolean;
  /** Resolves when the socket has accepted all pieces, or the client has disconnected. */
  drained(): Promise<void>;
  /**
   * Reserves the next `write` of a long response on a connection that others may share. Undefined
   * where others do not.
   * @returns a promise if the caller must wait before it writes
   */
  reserve?(): Promise<void> | undefined;
  /** Frees what `reserve` has reserved, because nothing is written for now. */
  unreserve?(): void;
  /** Bytes written and not yet accepted by the socket. */
  readonly pendingBytes: number;
  end(): void;
  /** Closes the connection or the stream, for a client that does not read. */
  abort(): void;
}

/**
 * A request for a WebSocket. Any other response rejects it and ends the connection. Source: RFC
 * 6455, section 4.
 */
export interface WebSocketRequest {
  /** The requested subprotocols, without those that carry a token. */
  readonly protocols: readonly string[];
  /**
   * Opens the WebSocket. Messages of the client are discarded.
   * @param protocol one of the requested ones
   * @returns a stream that accepts whole frames, and ends with a close frame
   * @throws ApiError 400 when the handshake is malformed
   */
  accept(protocol: string | undefined): Promise<BodyStream>;
}

/**
 * A request to use the connection for another protocol. An ordinary response rejects it and ends
 * the connection. Source: RFC 9110, section 7.8.
 */
export interface UpgradeRequest {
  /** The header `Upgrade` as sent. */
  readonly protocol: string;
  /**
   * Releases the connection. The caller writes the whole response, with its status line, and closes
   * the connection. The server closes it at its own end.
   * @param status of the response that the caller will write, for audit and metrics
   */
  take(status: number): Duplex;
}

/** The other end of a connection. */
export interface RemoteEnd {
  /** Empty when the connection has ended. */
  readonly address: string;
  readonly port: number;
}

/** The verified identity in a client certificate. */
export interface PeerCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The values of the user uid attribute in the subject. */
  readonly uids: readonly string[];
  /** SHA-256 of the DER in hexadecimal, used as credential id. */
  readonly fingerprint: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Whether it is a client certificate, valid now, and signed by one of the authorities. */
  isTrustedBy(authorities: Authorities): boolean;
}
