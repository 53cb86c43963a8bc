/** Repeats a function, as controllers do that act at an interval and not on changes. */
import { repeat } from "../apimachinery/repeat.ts";
import type { Controller, ControllerOptions } from "./contract.ts";
import { openWorkQueue } from "./work-queue.ts";

interface Repeated {
  /** For the log: what failed, such as `repair the node ports in use`. */
  readonly task: string;
  readonly intervalMs: number;
  /** Never runs twice at the same time. */
  run(): Promise<void>;
}

const key = "task";

/** Creates a controller that runs the function at each interval, first after one. */
export function repeatedController(
  { registry: { clock }, logger }: ControllerOptions,
  { task, intervalMs, run }: Repeated,
): Controller {
  let cancel = (): void => {};
  const queue = openWorkQueue({
    clock,
    reconcile: () => run().then(() => true),
    failed: (_key, error) => logger.warn(`Failed to ${task}`, { error: String(error) }),
    concurrency: 1,
    keysMax: 1,
    firstDelayMs: intervalMs,
    delayMaxMs: intervalMs,
  });
  return {
    start() {
      cancel = repeat(clock, intervalMs, () => queue.add(key));
    },
    async stop() {
      cancel();
      await queue.stop();
    },
  };
}
