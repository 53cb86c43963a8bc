/** Sends one request to a backend over HTTP/1.1, on its own connection. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { OpenBackend } from "./contract.ts";

/** Of a response, in bytes. Upstream allows 10 MiB. */
export const headerBytesMax = 1 << 20;

/** A request without its body. */
export interface BackendRequest {
  readonly method: string;
  /** Path and query, escaped. */
  readonly path: string;
  /** Names and values in turn. A body needs `content-length` or `transfer-encoding`. */
  readonly headers: readonly string[];
  readonly body?: AsyncIterable<Buffer> | undefined;
}

/** The start of a response; the message is its body. */
export interface BackendResponse {
  readonly message: IncomingMessage;
  /** Present after 101: the connection, and bytes that were received after the response. */
  readonly upgraded: { readonly socket: Duplex; readonly head: Buffer } | undefined;
}

/**
 * Sends a request and waits for the headers of its response. The body is sent at the pace of the
 * backend, also after the response has started.
 *
 * @param signal closes the connection, with a WebhookError as reason
 * @throws WebhookError, or an error of the connection, see `failureText`
 */
export function sendRequest(
  open: OpenBackend,
  { method, path, headers, body }: BackendRequest,
  signal: AbortSignal,
): Promise<BackendResponse> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const request = httpRequest({
      method,
      path,
      headers,
      maxHeaderSize: headerBytesMax,
      createConnection: (_options, done) => {
        // Types of Node require a socket with an error.
        open(signal).then(
          (socket) => done(null, socket),
          (error: Error) => (done as (error: Error) => void)(error),
        );
        return undefined;
      },
    });
    const abort = (): void => void request.destroy(signal.reason);
    signal.addEventListener("abort", abort);
    request.once("close", () => signal.removeEventListener("abort", abort));
    request.on("error", reject); // After the response, its body reports errors.
    request.once("response", (message) => resolve({ message, upgraded: undefined }));
    request.once("upgrade", (message, socket, head) => resolve({ message, upgraded: { socket, head } }));
    if (body === undefined) request.end();
    else sendBody(request, body).catch((error: Error) => request.destroy(error));
  });
}

async function sendBody(request: ReturnType<typeof httpRequest>, body: AsyncIterable<Buffer>): Promise<void> {
  for await (const piece of body) {
    if (request.destroyed) return;
    if (!request.write(piece)) await accepted(request);
  }
  request.end();
}

/** Resolves when the connection has accepted the data, or closed. */
function accepted(request: ReturnType<typeof httpRequest>): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      request.off("drain", done).off("close", done);
      resolve();
    };
    request.on("drain", done).on("close", done);
  });
}
