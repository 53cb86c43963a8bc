/** Keeps the bytes of a body while they pass, up to a limit. */
import type { Readable } from "node:stream";

/** @returns the body when it has ended; undefined when it was longer, or did not end */
export function capture(stream: Readable, bytesMax: number): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let pieces: Buffer[] = [];
    let bytes = 0;
    stream.on("data", (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= bytesMax) pieces.push(piece);
      else pieces = [];
    });
    stream.once("end", () => resolve(bytes <= bytesMax ? Buffer.concat(pieces) : undefined));
    stream.once("close", () => resolve(undefined));
  });
}

/** Splits a stream into lines while it passes. @param onLine undefined for a line that is too long */
export function captureLines(stream: Readable, lineBytesMax: number, onLine: (line: Buffer | undefined) => void): void {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const add = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes <= lineBytesMax) pieces.push(piece);
    else pieces = [];
  };
  stream.on("data", (piece: Buffer) => {
    let start = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, start)) {
      add(piece.subarray(start, end));
      if (bytes > 0) onLine(bytes <= lineBytesMax ? Buffer.concat(pieces) : undefined);
      pieces = [];
      bytes = 0;
      start = end + 1;
    }
    add(piece.subarray(start));
  });
}
