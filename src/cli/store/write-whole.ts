import { writeSync } from "node:fs";

/** The time after which a full pipe is written to again. */
const fullPipeMs = 1;
const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes all bytes before it returns. A pipe accepts a part of them, or none for the moment, when its reader is slower.
 * @param write as `writeSync` of node:fs
 * @throws Error with code EPIPE when no process reads the pipe any more
 */
export function writeWhole(
  file: number,
  bytes: Buffer,
  write: (file: number, bytes: Buffer, start: number) => number = writeSync,
): void {
  for (let written = 0; written < bytes.length; ) {
    try {
      written += write(file, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(never, 0, 0, fullPipeMs);
    }
  }
}
