/** The end of what a request occupies. */
import type { RequestExecution, RequestState } from "../request/context.ts";

/**
 * Calls `run` once: when the endpoint has returned and the response has been sent or the client has
 * disconnected, because a client that disconnects does not free what the endpoint still uses. For a
 * watch, when it has sent its first objects or has ended.
 */
export function whenServed(context: RequestState, run: () => void): void {
  const served = new Served(context.info.verb === "watch", run);
  context.execution = served;
  context.exchange.onClose(() => served.closed());
}

class Served implements RequestExecution {
  readonly #isWatch: boolean;
  readonly #run: () => void;
  #returned = false;
  #closed = false;
  #ended = false;

  constructor(isWatch: boolean, run: () => void) {
    this.#isWatch = isWatch;
    this.#run = run;
  }

  returned(): void {
    this.#returned = true;
    if (this.#closed) this.#end();
  }

  closed(): void {
    this.#closed = true;
    if (this.#returned || this.#isWatch) this.#end();
  }

  watchStarted(): void {
    if (this.#isWatch) this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#run();
  }
}
