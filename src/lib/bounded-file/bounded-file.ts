/** Reads files that a user names: whatever they are, reading ends. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

export interface BoundedFileOptions {
  /** Longer files are an error. */
  readonly bytesMax?: number;
  /** How long to wait for more from a pipe, or a device, that has nothing at the moment. */
  readonly waitMs?: number;
}

const bytesMaxDefault = 16 * 2 ** 20;
const waitMsDefault = 10_000;
const pollMs = 10;
const pieceBytes = 64 * 1024;

/**
 * Reads all of a file. A pipe nobody writes into does not hold up whoever reads it for longer than is said.
 * @throws Error of the system; with code EFBIG when the file is too long, ETIMEDOUT when nothing comes from a pipe or a device
 */
export async function readBoundedFile(
  path: string,
  { bytesMax = bytesMaxDefault, waitMs = waitMsDefault }: BoundedFileOptions = {},
): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const isPipe = (await file.stat()).isFIFO();
    const pieces: Buffer[] = [];
    let length = 0;
    for (let waited = 0; ; ) {
      const piece = await readPiece(file);
      // A pipe has ended when somebody has written into it, and nobody does any more.
      const isOver = piece?.length === 0 && !(isPipe && length === 0);
      if (isOver) return Buffer.concat(pieces, length);
      if (piece === undefined || piece.length === 0) {
        if (waited >= waitMs) throw failure("ETIMEDOUT", `read ${path}: nothing came for ${waitMs / 1000} s`);
        await setTimeout(pollMs);
        waited += pollMs;
        continue;
      }
      waited = 0;
      length += piece.length;
      if (length > bytesMax) throw failure("EFBIG", `read ${path}: more than ${bytesMax} bytes`);
      pieces.push(piece);
    }
  } finally {
    await file.close();
  }
}

/** @returns nothing in it at the end, or of a pipe without writers; undefined when more may come */
async function readPiece(file: FileHandle): Promise<Buffer | undefined> {
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, null);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return undefined;
    throw error;
  }
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
