/** Requests that wait because of a rule. */
import type { Clock } from "../../apimachinery/clock.ts";
import { timeout } from "../../apimachinery/errors.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { ActiveRule } from "./rules.ts";

export class Delays {
  readonly #clock: Clock;
  /** What ends each wait, and its rule. */
  readonly #waiting = new Map<() => void, ActiveRule>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits until the time has passed or the rule is removed. @throws ApiError when the client leaves before */
  async wait(exchange: Exchange, ms: number, rule: ActiveRule): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = (): void => {
        cancel();
        this.#waiting.delete(end);
        resolve();
      };
      const cancel = this.#clock.after(ms, end);
      this.#waiting.set(end, rule);
      exchange.onClose(end);
    });
    if (exchange.closed || exchange.answered) throw timeout("the client has closed the request");
  }

  /** Ends the waits of a rule. */
  release(rule: ActiveRule): void {
    for (const [end, of] of this.#waiting) if (of === rule) end();
  }
}
