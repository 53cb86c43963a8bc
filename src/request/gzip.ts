/**
 * Compression of long responses to reads, as upstream does; in zlib's threads, so that the event
 * loop is not blocked.
 */
import { constants, gzip } from "node:zlib";
import { guarded } from "./boundary.ts";
import type { AnswerHeaders, Exchange } from "./exchange.ts";

/**
 * Longer responses are compressed. Source:
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/handlers/responsewriters/writers.go.
 */
export const gzipThresholdBytes = 128 << 10;

/** Compresses a piece at once; level 1 halves JSON at least. */
const options = { level: constants.Z_BEST_SPEED, chunkSize: 64 << 10 };

/** Like upstream, accepts the bare word only, without quality or wildcard. */
export function acceptsGzip(header: string | undefined): boolean {
  return (header ?? "").split(",").some((token) => token.trim() === "gzip");
}

/** @returns the headers with those of a compressed response */
export function gzipHeaders(headers: AnswerHeaders): AnswerHeaders {
  return { ...headers, "content-encoding": "gzip", vary: [...[headers.vary ?? []].flat(), "Accept-Encoding"] };
}

/** Sends one body after compressing it, unless the request was answered meanwhile by a timeout. */
export function respondGzipped(exchange: Exchange, status: number, headers: AnswerHeaders, body: Buffer): void {
  const compressed = (error: Error | null, packed: Buffer): void => {
    if (exchange.answered || exchange.closed) return;
    if (error === null) exchange.respond(status, gzipHeaders(headers), packed);
    else exchange.respond(status, headers, body); // Out of memory: send it uncompressed.
  };
  gzip(body, options, guarded(exchange, "compressed", compressed));
}
