/** Runs callbacks once something has closed; one listener for all of them, since most requests have several. */
import type { Writable } from "node:stream";

export class CloseCallbacks {
  #callbacks: (() => void)[] | undefined = [];

  constructor(source: Writable) {
    source.once("close", () => {
      const callbacks = this.#callbacks ?? [];
      this.#callbacks = undefined;
      for (const run of callbacks) run();
    });
  }

  /** Runs at once when it is closed already. */
  add(run: () => void): void {
    if (this.#callbacks === undefined) run();
    else this.#callbacks.push(run);
  }
}
