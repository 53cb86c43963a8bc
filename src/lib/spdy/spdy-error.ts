/**
 * The peer broke the protocol or a limit of it, or the connection has ended. Source: SPDY
 * Protocol Draft 3.1, section 2.4, Error Handling.
 */
export class SpdyError extends Error {
  override readonly name = "SpdyError";
}
