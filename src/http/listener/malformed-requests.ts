/**
 * Bytes on an HTTP/1.1 connection that are no request, such as a body without a length. As Go's server, which parses a
 * request after it has answered the one before, this one first sends the responses to the requests before them.
 * Source: `conn.serve` in Go's `net/http/server.go`.
 */
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "../../apimachinery/clock.ts";

/** The connection on which the bytes were received. */
export interface MalformedConnection {
  readonly clock: Clock;
  readonly lingerMs: number;
  /** The response to the latest request. */
  readonly latest: ServerResponse | undefined;
  /** Whether an error follows the latest response. */
  malformed: boolean;
}

/** Ends a connection that has failed, or whose client has sent something that the parser of Node.js rejects. */
export function endMalformed(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  connection: MalformedConnection | undefined,
): void {
  if (connection === undefined) return void socket.destroy();
  const { latest } = connection;
  const isAnswered = latest === undefined || latest.writableFinished;
  const end = (): void => endWith(socket, statusOf(error), connection);
  if (isAnswered) return end();
  if (!error.code?.startsWith("HPE_") || !latest.req.complete)
    return latest.headersSent ? void socket.destroy() : end();
  // The parser reports the error again for further bytes.
  if (connection.malformed) return;
  connection.malformed = true;
  latest.once("finish", end);
}

function statusOf({ code }: NodeJS.ErrnoException): string {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return "431 Request Header Fields Too Large";
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return "413 Payload Too Large";
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return "408 Request Timeout";
    default:
      return "400 Bad Request";
  }
}

/**
 * Sends the last response of a connection. Discards what the client still sends, so that it receives the response, for
 * a limited time.
 */
export function endWith(
  socket: Duplex,
  status: string,
  { clock, lingerMs }: Pick<MalformedConnection, "clock" | "lingerMs">,
): void {
  if (!socket.writable) return void socket.destroy();
  socket
    .resume()
    .end(`HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`);
  socket.once(
    "close",
    clock.after(lingerMs, () => socket.destroy()),
  );
}
