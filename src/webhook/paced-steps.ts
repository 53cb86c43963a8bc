/** Runs steps that keep the process busy one after the other, in order, with a pause before each. */
export class PacedSteps {
  readonly #pause: (next: () => void, waiting: number) => void;
  readonly #waiting: (() => void)[] = [];

  /** @param pause calls `next` after the pause; `waiting` is the number of steps, at least 1 */
  constructor(pause: (next: () => void, waiting: number) => void) {
    this.#pause = pause;
  }

  /** Runs a step later. */
  add(step: () => void): void {
    if (this.#waiting.push(step) === 1) this.#pause(this.#next, 1);
  }

  readonly #next = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) this.#pause(this.#next, this.#waiting.length);
  };
}
