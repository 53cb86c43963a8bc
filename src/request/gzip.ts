/**
 * Compression of long responses to reads, as upstream does; in zlib's threads, so that the event
 * loop is not blocked.
 */
import { constants, createGzip, type Gzip, gzip } from "node:zlib";
import { guarded } from "./boundary.ts";
import { drained } from "./drained.ts";
import type { AnswerHeaders, BodyStream, Exchange } from "./exchange.ts";

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

interface GzipOptions {
  /** Whether each compressed piece waits until the connection has a slot for it. */
  readonly takesSlots: boolean;
}

/**
 * Compresses a stream. A stalled client holds one piece and the state of zlib, about 300 KiB.
 * @param sink receives the compressed bytes; its response has the headers of `gzipHeaders`
 */
export function gzipBody(exchange: Exchange, sink: BodyStream, options: GzipOptions): BodyStream {
  return new GzipBody(exchange, sink, options);
}

class GzipBody implements BodyStream {
  readonly #gzip: Gzip = createGzip(options);
  readonly #sink: BodyStream;
  readonly #takesSlots: boolean;
  readonly #exchange: Exchange;
  #ended = false;

  constructor(exchange: Exchange, sink: BodyStream, { takesSlots }: GzipOptions) {
    this.#sink = sink;
    this.#takesSlots = takesSlots;
    const gzip = this.#gzip;
    this.#exchange = exchange;
    gzip.on(
      "data",
      guarded(exchange, "compressed", (packed: Buffer) => this.#send(packed)),
    );
    gzip.on(
      "end",
      guarded(exchange, "compressed", () => sink.end()),
    );
    gzip.on("error", () => sink.abort()); // The client must not accept a truncated response as complete.
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

  /**
   * Passes on the rest without waiting for the client, so that the sink's timeout for stalled clients
   * starts. A slot is granted whether or not the client reads.
   */
  end(): void {
    this.#ended = true;
    this.#gzip.end();
    this.#gzip.resume();
  }

  abort(): void {
    this.#gzip.destroy();
    this.#sink.abort();
  }

  #send(packed: Buffer): void {
    const reserved = this.#takesSlots ? this.#sink.reserve?.() : undefined;
    if (reserved === undefined) return this.#write(packed);
    this.#gzip.pause();
    const write = (): void => {
      this.#gzip.resume();
      this.#write(packed);
    };
    void reserved.then(guarded(this.#exchange, "compressed", write));
  }

  #write(packed: Buffer): void {
    if (this.#sink.write(packed) || this.#ended) return;
    this.#gzip.pause();
    void this.#sink.drained().then(() => this.#gzip.resume());
  }
}
