/**
 * Upstream ends an evaluation when its request times out. Here other requests wait for it, so it
 * ends earlier.
 */

/**
 * The longest time of one expression, as CPU time: on an overloaded machine, time passes without
 * work. Those whose cost depends on their data take at most 0.15 s, see
 * docs/compatibility/admission-policies.md.
 */
const expressionMsMax = 2000;

/** The clocks of a time limit. Both return milliseconds since any moment. */
export interface TimeSource {
  elapsed(): number;
  /** The CPU time of this thread, which never passes faster than the elapsed time. */
  cpu(): number;
}

const threadTime: TimeSource = {
  elapsed: () => performance.now(),
  cpu() {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  },
};

/** The time limit of evaluations that follow each other. */
export class TimeLimit {
  readonly #time: TimeSource;
  /** The CPU time at which the evaluation ends. */
  #endsAtCpu = 0;
  /** The CPU time is not over before this time; undefined before the first call. */
  #checkAt: number | undefined;

  constructor(time: TimeSource = threadTime) {
    this.#time = time;
  }

  /** Another evaluation starts. Does not read the clocks, because most evaluations are short. */
  restart(): void {
    this.#checkAt = undefined;
  }

  /**
   * For `EvaluationOptions.isInterrupted`; the time starts with the first call. Reads the CPU time
   * only when it can be over: that takes five times as long as to read the elapsed time.
   */
  readonly isExceeded = (): boolean => {
    const now = this.#time.elapsed();
    if (this.#checkAt !== undefined && now <= this.#checkAt) return false;
    const cpu = this.#time.cpu();
    if (this.#checkAt === undefined) this.#endsAtCpu = cpu + expressionMsMax;
    this.#checkAt = now + this.#endsAtCpu - cpu;
    return cpu > this.#endsAtCpu;
  };
}
