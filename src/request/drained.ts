import type { Writable } from "node:stream";

/** Resolves when the sink has accepted all data, or closed; the caller ensures that it is open. */
export function drained(sink: Writable): Promise<void> {
  if (!sink.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      sink.off("drain", done).off("close", done);
      resolve();
    };
    sink.on("drain", done).on("close", done);
  });
}
