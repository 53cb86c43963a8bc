/** Limits on the resources of clients. */
export interface Limits {
  /** Concurrent connections; further ones are closed immediately. */
  readonly connectionsMax: number;
  /** From the connection until the end of the TLS handshake. */
  readonly handshakeMs: number;
  /**
   * HTTP/1.1: from the handshake, or the first byte of a later request, until the end of its
   * headers.
   */
  readonly headersMs: number;
  /** From the headers until the last byte of the body. */
  readonly bodyMs: number;
  /**
   * From the end of a response in pieces until the client must have read the rest, or closed its
   * WebSocket.
   */
  readonly lingerMs: number;
  /**
   * A connection without a request is closed after this time; one with requests must answer a ping
   * (HTTP/2).
   */
  readonly idleMs: number;
  /** The time to answer a ping. */
  readonly pingMs: number;
  readonly headerBytesMax: number;
  readonly headersMax: number;
  /** Concurrent requests on one HTTP/2 connection; each watch is one. */
  readonly streamsMax: number;
  /** Memory of one HTTP/2 connection. */
  readonly sessionMiBMax: number;
}

/** The limits of a server. */
export const defaultLimits: Limits = {
  connectionsMax: 10_000,
  handshakeMs: 10_000,
  headersMs: 32_000,
  bodyMs: 60_000,
  lingerMs: 30_000,
  idleMs: 90_000,
  pingMs: 15_000,
  headerBytesMax: 1 << 20,
  headersMax: 1000,
  streamsMax: 1000,
  sessionMiBMax: 256,
};
