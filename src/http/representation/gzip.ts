/** Long answers to reads, compressed as upstream compresses them: in zlib's threads, so that the event loop is free meanwhile. */
import { constants, createGzip, type Gzip, gzip } from "node:zlib";
import type { AnswerHeaders, BodyStream, Exchange } from "../contract.ts";
import { drained } from "../listener/body-stream.ts";

/** Answers of more bytes are compressed. Source: upstream's responsewriters. */
export const gzipThresholdBytes = 128 << 10;

/** Whatever is left of a piece, in one go: level 1 makes less than half of JSON. */
const options = { level: constants.Z_BEST_SPEED, chunkSize: 64 << 10 };

/** Upstream looks for the bare word, without a quality, and takes no wildcard. */
export function acceptsGzip(header: string | undefined): boolean {
  return (header ?? "").split(",").some((token) => token.trim() === "gzip");
}

/** @returns those headers and what tells of the compression */
export function gzipHeaders(headers: AnswerHeaders): AnswerHeaders {
  return { ...headers, "content-encoding": "gzip", vary: [...[headers.vary ?? []].flat(), "Accept-Encoding"] };
}

/** Answers with one body, once it is compressed; not at all when the request was answered meanwhile, since it took too long. */
export function respondGzipped(exchange: Exchange, status: number, headers: AnswerHeaders, body: Buffer): void {
  gzip(body, options, (error, packed) => {
    if (exchange.answered || exchange.closed) return;
    if (error === null) exchange.respond(status, gzipHeaders(headers), packed);
    else exchange.respond(status, headers, body); // No memory for it: the answer itself is at hand.
  });
}

/**
 * Compresses what is written to it. A client that stalls makes it wait with one piece in hand and the state of zlib, some 300 KiB.
 * @param sink takes the compressed bytes; its response has the headers of `gzipHeaders`
 */
export function gzipBody(exchange: Exchange, sink: BodyStream): BodyStream {
  return new GzipBody(exchange, sink);
}

class GzipBody implements BodyStream {
  readonly #gzip: Gzip = createGzip(options);
  readonly #sink: BodyStream;
  #ended = false;

  constructor(exchange: Exchange, sink: BodyStream) {
    this.#sink = sink;
    const gzip = this.#gzip;
    gzip.on("data", (packed: Buffer) => {
      if (!sink.write(packed) && !this.#ended) this.#wait();
    });
    gzip.on("end", () => sink.end());
    gzip.on("error", () => sink.abort()); // The reader must not take the half for the whole.
    exchange.onClose(() => gzip.destroy());
  }

  get pendingBytes(): number {
    return this.#gzip.writableLength + this.#sink.pendingBytes;
  }

  write(piece: Buffer, taken?: () => void): boolean {
    if (this.#gzip.destroyed) return true;
    return this.#gzip.write(piece, taken && ((error) => error ?? taken()));
  }

  drained(): Promise<void> {
    return this.#gzip.destroyed ? Promise.resolve() : drained(this.#gzip);
  }

  /** What is left is little: it is handed on without waiting, so that the sink's patience with a client that stalls begins. */
  end(): void {
    this.#ended = true;
    this.#gzip.end();
    this.#gzip.resume();
  }

  abort(): void {
    this.#gzip.destroy();
    this.#sink.abort();
  }

  #wait(): void {
    this.#gzip.pause();
    void this.#sink.drained().then(() => this.#gzip.resume());
  }
}
