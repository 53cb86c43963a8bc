/** The request side of an exchange, over HTTP/1.1 and HTTP/2: its body, its headers, its end. */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../apimachinery/clock.ts";
import { badRequest, RequestTimeout, tooLarge } from "../../apimachinery/errors.ts";
import { headerLines } from "../../apimachinery/header-text.ts";
import { BytePieces } from "../../lib/byte-pieces/byte-pieces.ts";
import { type FailingExchange, runGuarded } from "../../request/boundary.ts";

/** Limits of one body. */
interface BodyLimits {
  readonly bytesMax: number;
  /** The Content-Length, if present. */
  readonly contentLength: string | undefined;
  readonly clock: Clock;
  readonly withinMs: number;
  /** Called with the number of bytes after the last one. */
  readonly received: (bytes: number) => void;
}

/** A body that is being read. */
interface Reading {
  readonly pieces: BytePieces;
  readonly resolve: (body: Buffer) => void;
  readonly reject: (error: Error) => void;
  readonly received: (bytes: number) => void;
}

/**
 * Bytes beyond the limit that are read and discarded: many clients read no response before they
 * have sent everything.
 */
const discardedBytesMax = 16 << 20;

/**
 * Reads a body. The source flows only until the promise settles.
 * @throws ApiError 413 beyond the limit, 400 when the client disconnects, 504 when the body takes
 *   too long
 */
export function readBody(
  source: Readable,
  { bytesMax, contentLength, clock, withinMs, received }: BodyLimits,
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // The listeners remain after success: no events follow the end, and removing them is expensive. All that they keep in
  // memory is this, because Node's streams survive until a full collection of garbage.
  let reading: Reading | undefined = { pieces: new BytePieces(), resolve, reject, received };
  const fail = (error: Error): void => {
    reading?.reject(error);
    reading = undefined;
    cancel();
    source.off("data", take).off("end", finish).off("close", leave);
    source.pause();
  };
  const take = (piece: Buffer): void => {
    if (reading === undefined) return;
    const { pieces } = reading;
    pieces.add(piece);
    if (pieces.length <= bytesMax) return;
    pieces.drop();
    if (pieces.length > bytesMax + discardedBytesMax) fail(tooLarge(`limit is ${bytesMax}`));
  };
  const finish = (): void => {
    if (reading === undefined) return;
    const { pieces, resolve: done, received: reached } = reading;
    if (pieces.length > bytesMax) return fail(tooLarge(`limit is ${bytesMax}`));
    reading = undefined;
    cancel();
    reached(pieces.length);
    done(pieces.join());
  };
  const leave = (): void => {
    if (reading !== undefined) fail(badRequest("the client went away while its request was read"));
  };
  const cancel = clock.after(withinMs, () => fail(new RequestTimeout()));
  if (source.destroyed) leave();
  else if (contentLength !== undefined && Number(contentLength) > bytesMax + discardedBytesMax)
    fail(tooLarge(`limit is ${bytesMax}`));
  else source.on("data", take).on("end", finish).on("close", leave);
  return promise;
}

/**
 * Reads a body in pieces and leaves the source open.
 * @param received called with the number of bytes after the last piece
 */
export async function* bodyPieces(source: Readable, received: (bytes: number) => void): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const piece of source.iterator({ destroyOnReturn: false })) {
    size += (piece as Buffer).length;
    yield piece as Buffer;
  }
  received(size);
}

/** Runs callbacks after a stream closes, with one listener for all, because most requests have several. */
export class CloseCallbacks {
  #callbacks: (() => void)[] | undefined = [];
  readonly #exchange: FailingExchange;

  /** @param exchange receives what a callback throws; the other callbacks run anyway */
  constructor(source: Writable, exchange: FailingExchange) {
    this.#exchange = exchange;
    source.once("close", () => {
      const callbacks = this.#callbacks ?? [];
      this.#callbacks = undefined;
      for (const run of callbacks) runGuarded(exchange, "close", run);
    });
  }

  /** Adds a callback; runs it immediately if the stream is closed. */
  add(run: () => void): void {
    if (this.#callbacks === undefined) runGuarded(this.#exchange, "close", run);
    else this.#callbacks.push(run);
  }
}

/**
 * Returns the first line of a header. Node joins the lines of repeated headers.
 * @param name lower-case
 */
export function firstLine(
  headers: Readonly<IncomingHttpHeaders>,
  rawHeaders: readonly string[],
  name: string,
): string | undefined {
  const value = headers[name];
  const joined = Array.isArray(value) ? value.join(", ") : value;
  return joined?.includes(", ") ? headerLines(rawHeaders, name)[0] : joined;
}

/**
 * Removes headers from a request.
 * @param rawHeaders names and values alternately
 * @param headers the same by lower-case name
 * @param isMeant receives lower-case names
 */
export function forgetHeaders(
  rawHeaders: string[],
  headers: Record<string, unknown>,
  isMeant: (name: string) => boolean,
): void {
  let kept = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (isMeant(name)) {
      delete headers[name];
    } else {
      rawHeaders[kept++] = rawHeaders[at] as string;
      rawHeaders[kept++] = rawHeaders[at + 1] as string;
    }
  }
  rawHeaders.length = kept;
}
