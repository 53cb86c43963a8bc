/** Reads files that a user names, with limits that also hold for pipes and devices. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

interface BoundedFileOptions {
  /** Longer files are an error. */
  readonly bytesMax?: number;
  /** How long to wait for data of a pipe or device. */
  readonly waitMs?: number;
}

const bytesMaxDefault = 16 * 2 ** 20;
const waitMsDefault = 10_000;
const pollMs = 10;
const pieceBytes = 64 * 1024;

/**
 * Reads a whole file. Waits a limited time for a pipe without writers.
 * @throws Error of the system; with code EFBIG when the file is too long, and ETIMEDOUT when a pipe
 *   or device has no data in time
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
      // A pipe has ended when it had data and has no writers left.
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

/**
 * Returns an empty buffer at the end, or for a pipe without writers; undefined when more data may
 * follow.
 */
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
