/**
 * Runs callbacks after a stream closes, with one listener for all, because most requests have
 * several.
 */
import type { Writable } from "node:stream";

/** The callbacks of one stream. */
export class CloseCallbacks {
  #callbacks: (() => void)[] | undefined = [];

  constructor(source: Writable) {
    source.once("close", () => {
      const callbacks = this.#callbacks ?? [];
      this.#callbacks = undefined;
      for (const run of callbacks) run();
    });
  }

  /** Adds a callback; runs it immediately if the stream is closed. */
  add(run: () => void): void {
    if (this.#callbacks === undefined) run();
    else this.#callbacks.push(run);
  }
}
