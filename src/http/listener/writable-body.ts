/** An answer in pieces over any writable stream. */
import type { Writable } from "node:stream";
import type { BodyStream } from "../contract.ts";

export function writableBody(sink: Writable, abort: () => void): BodyStream {
  const gone = (): boolean => sink.destroyed || sink.closed || sink.writableEnded;
  return {
    write: (piece) => (gone() ? true : sink.write(piece)),
    drained() {
      if (gone() || !sink.writableNeedDrain) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          sink.off("drain", done);
          sink.off("close", done);
          resolve();
        };
        sink.once("drain", done);
        sink.once("close", done);
      });
    },
    get pendingBytes() {
      return sink.writableLength;
    },
    end() {
      if (!gone()) sink.end();
    },
    abort,
  };
}
