/** What a client may take from the listener before it is cut off. */
export interface Limits {
  /** Connections at a time; further ones are closed at once. */
  readonly connectionsMax: number;
  /** From the connection to the end of the TLS handshake. */
  readonly handshakeMs: number;
  /** HTTP/1.1: from the handshake, or the first byte of a later request, to the last of its headers. */
  readonly headersMs: number;
  /** From the headers to the last byte of the body. */
  readonly bodyMs: number;
  /** From the end of an answer in pieces until the client must have taken what is left of it, or must have closed its WebSocket. */
  readonly lingerMs: number;
  /** A connection without a request is closed after so long; one with requests must answer a ping (HTTP/2). */
  readonly idleMs: number;
  /** How long the answer to a ping may take. */
  readonly pingMs: number;
  readonly headerBytesMax: number;
  readonly headersMax: number;
  /** Requests at a time on one HTTP/2 connection; each watch is one. */
  readonly streamsMax: number;
  /** What one HTTP/2 connection may hold in memory. */
  readonly sessionMiBMax: number;
}

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
