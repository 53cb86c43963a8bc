/** Deletes what has ended, at the start and at an interval. */
import { repeat } from "../apimachinery/repeat.ts";
import type { Controller, ControllerOptions } from "./contract.ts";

interface Collection {
  readonly intervalMs: number;
  /** The message for the log when `collect` fails; the next interval tries again. */
  readonly failure: string;
  collect(): Promise<void>;
}

/** Creates a controller that collects at its start and at each interval. */
export function periodicCollector(
  { registry: { clock }, logger }: ControllerOptions,
  { intervalMs, failure, collect }: Collection,
): Controller {
  let cancel = (): void => {};
  let running: Promise<void> = Promise.resolve();
  const run = (): void => {
    running = collect().catch((error: unknown) => logger.error(failure, { error: String(error) }));
  };
  return {
    start() {
      cancel = repeat(clock, intervalMs, run);
      run();
    },
    async stop() {
      cancel();
      await running;
    },
  };
}
