/** Repeats a task, as controllers do that act at an interval and not on changes. */
import { repeat } from "../apimachinery/repeat.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { whenChanged } from "../registry/when-changed.ts";
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
  /** Whether it is skipped while the store does not change, see `whenChanged`. */
  readonly dependsOnStoreOnly?: boolean;
  /**
   * Never runs twice at the same time.
   * @param registry for the writes of this run
   * @returns false if the next run is not skipped
   */
  run(registry: RegistryContext): Promise<unknown>;
}

const key = "task";

/** Creates a controller that runs the task at each interval, and retries it when it fails. */
export function repeatedController(
  { registry, logger }: ControllerOptions,
  { task, intervalMs, runsAtStart = false, retryMs = intervalMs, dependsOnStoreOnly = false, run }: Repeated,
): Controller {
  let cancel = (): void => {};
  let succeeded = false;
  const queue = openWorkQueue({
    registry,
    async reconcile(_key, deciding) {
      succeeded = false;
      succeeded = (await run(deciding)) !== false;
      return true;
    },
    failed: (_key, error) => logger.warn(`Failed to ${task}`, { error: String(error) }),
    concurrency: 1,
    keysMax: 1,
    firstDelayMs: retryMs,
    delayMaxMs: intervalMs,
  });
  const enqueue = (): void => void queue.add(key);
  const runOnce = async (): Promise<boolean> => {
    enqueue();
    await queue.idle();
    return succeeded;
  };
  return {
    start() {
      const { clock, storage } = registry;
      cancel = repeat(clock, intervalMs, dependsOnStoreOnly ? whenChanged(storage, runOnce) : enqueue);
      if (runsAtStart) queue.add(key);
    },
    async stop() {
      cancel();
      await queue.stop();
    },
  };
}
