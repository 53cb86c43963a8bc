/** The peer broke the protocol or a limit of it, or the connection has ended. */
export class SpdyError extends Error {
  override readonly name = "SpdyError";
}
