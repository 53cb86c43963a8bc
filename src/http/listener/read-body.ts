/** Collects a request body within a limit. */
import type { Readable } from "node:stream";
import { badRequest, tooLarge } from "../../api/errors.ts";

/**
 * @param announced the Content-Length, when there is one
 * @throws ApiError 413 beyond the limit; what follows is thrown away · 400 when the client goes away
 */
export function readBody(source: Readable, bytesMax: number, announced: string | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    const refuse = (): void => {
      source.off("data", take);
      source.resume();
      reject(tooLarge(`limit is ${bytesMax}`));
    };
    const take = (piece: Buffer): void => {
      size += piece.length;
      if (size > bytesMax) return refuse();
      pieces.push(piece);
    };
    if (announced !== undefined && Number(announced) > bytesMax) return refuse();
    source.on("data", take);
    source.once("end", () => resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size)));
    const gone = (): void => reject(badRequest("the client went away while its request was read"));
    source.once("error", gone);
    source.once("close", gone);
  });
}
