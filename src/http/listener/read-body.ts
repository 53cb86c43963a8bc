/** Collects a request body within a limit. */
import type { Readable } from "node:stream";
import type { Clock } from "../../apimachinery/clock.ts";
import { badRequest, timeout, tooLarge } from "../../apimachinery/errors.ts";

export interface BodyLimits {
  readonly bytesMax: number;
  /** The Content-Length, when there is one. */
  readonly announced: string | undefined;
  readonly clock: Clock;
  readonly withinMs: number;
  /** Told how many there were, once all are here. */
  readonly received: (bytes: number) => void;
}

/** Bytes beyond the limit that are still taken and thrown away: many clients do not look for an answer before they have sent everything. */
const discardedBytesMax = 16 << 20;

/**
 * The source flows only until the promise settles.
 * @throws ApiError 413 beyond the limit · 400 when the client goes away · 504 when the body takes too long
 */
export function readBody(
  source: Readable,
  { bytesMax, announced, clock, withinMs, received }: BodyLimits,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let settled = false; // Listeners are left where they are when all is well: nothing comes after the end, and taking them away costs more.
    const refuse = (error: Error): void => {
      settled = true;
      cancel();
      source.off("data", take).off("end", finish).off("close", leave);
      source.pause();
      reject(error);
    };
    const take = (piece: Buffer): void => {
      size += piece.length;
      if (size <= bytesMax) pieces.push(piece);
      else if (size > bytesMax + discardedBytesMax) refuse(tooLarge(`limit is ${bytesMax}`));
      else pieces.length = 0;
    };
    const finish = (): void => {
      if (size > bytesMax) return refuse(tooLarge(`limit is ${bytesMax}`));
      settled = true;
      cancel();
      received(size);
      resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size));
    };
    const leave = (): void => {
      if (!settled) refuse(badRequest("the client went away while its request was read"));
    };
    const cancel = clock.after(withinMs, () => refuse(timeout("request did not complete within the allotted timeout")));
    if (source.destroyed) return leave();
    if (announced !== undefined && Number(announced) > bytesMax + discardedBytesMax)
      return refuse(tooLarge(`limit is ${bytesMax}`));
    source.on("data", take).on("end", finish).on("close", leave);
  });
}
