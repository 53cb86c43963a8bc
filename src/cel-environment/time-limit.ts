/**
 * Upstream ends an evaluation when its request times out. Here other requests wait for it, so it
 * ends earlier.
 */

/**
 * The longest time of one expression. Those whose cost depends on their data take at most 0.15 s of
 * CPU time, see docs/compatibility/admission.md.
 */
const expressionMsMax = 2000;

/** The time limit of evaluations that follow each other. */
export class TimeLimit {
  readonly #elapsed: () => number;
  #endsAt: number | undefined;

  /** @param elapsed returns milliseconds since any moment */
  constructor(elapsed: () => number = () => performance.now()) {
    this.#elapsed = elapsed;
  }

  /** Another evaluation starts. Does not read the clock, because most evaluations are short. */
  restart(): void {
    this.#endsAt = undefined;
  }

  /** For `EvaluationOptions.isInterrupted`; the time starts with the first call. */
  readonly isExceeded = (): boolean => {
    const now = this.#elapsed();
    this.#endsAt ??= now + expressionMsMax;
    return now > this.#endsAt;
  };
}
