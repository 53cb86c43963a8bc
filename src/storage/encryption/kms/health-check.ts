import type { Clock } from "../../../apimachinery/clock.ts";

/** What a check of a service found. */
export interface CheckResult {
  /** With upstream's text; undefined: none. */
  readonly problem: string | undefined;
  /** The text of the checks that follow for a moment: that of a failed call lacks the provider, as upstream's. */
  readonly remembered: string | undefined;
}

const healthyResultMs = 20_000;
const failedResultMs = 3_000;

/** Checks a service unless that was done a moment ago; callers at the same time share one check. */
export class HealthCheck {
  readonly #clock: Clock;
  readonly #checkNow: () => Promise<CheckResult>;
  #checked: { readonly problem: string | undefined; readonly until: number } = { problem: undefined, until: 0 };
  #checking: Promise<string | undefined> | undefined;

  /** @param checkNow does not reject */
  constructor(clock: Clock, checkNow: () => Promise<CheckResult>) {
    this.#clock = clock;
    this.#checkNow = checkNow;
  }

  /** @returns the problem, with upstream's text */
  run(): Promise<string | undefined> {
    if (this.#clock.now() < this.#checked.until) return Promise.resolve(this.#checked.problem);
    this.#checking ??= this.#checkNow().then(({ problem, remembered }) => {
      this.#checking = undefined;
      const validMs = problem === undefined ? healthyResultMs : failedResultMs;
      this.#checked = { problem: remembered, until: this.#clock.now() + validMs };
      return problem;
    });
    return this.#checking;
  }
}
