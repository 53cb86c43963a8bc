/** Repeats a task, as controllers do that act at an interval and not on changes. */
import { repeat } from "../apimachinery/repeat.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { Controller, ControllerOptions } from "./contract.ts";
import { openWorkQueue } from "./work-queue.ts";

interface Repeated {
  /** For the log: what failed, such as `repair the node ports in use`. */
  readonly task: string;
  readonly intervalMs: number;
  /** Whether it also runs at the start, not first after an interval. */
  readonly runsAtStart?: boolean;
  /** Delay of the first retry, doubled for each further one up to the interval; the interval when unset. */
  readonly retryMs?: number;
  /**
   * Never runs twice at the same time.
   * @param registry for the writes of this run
   */
  run(registry: RegistryContext): Promise<void>;
}

const key = "task";

/** Creates a controller that runs the task at each interval, and retries it when it fails. */
export function repeatedController(
  { registry, logger }: ControllerOptions,
  { task, intervalMs, runsAtStart = false, retryMs = intervalMs, run }: Repeated,
): Controller {
  let cancel = (): void => {};
  const queue = openWorkQueue({
    registry,
    reconcile: (_key, deciding) => run(deciding).then(() => true),
    failed: (_key, error) => logger.warn(`Failed to ${task}`, { error: String(error) }),
    concurrency: 1,
    keysMax: 1,
    firstDelayMs: retryMs,
    delayMaxMs: intervalMs,
  });
  return {
    start() {
      cancel = repeat(registry.clock, intervalMs, () => queue.add(key));
      if (runsAtStart) queue.add(key);
    },
    async stop() {
      cancel();
      await queue.stop();
    },
  };
}
