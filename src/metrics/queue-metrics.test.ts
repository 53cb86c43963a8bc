import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { passTurns } from "../../test/support/pass-turns.ts";
import { openWorkQueue } from "../controllers/work-queue.ts";
import { queueMetrics } from "./queue-metrics.ts";

test("a work queue: waiting keys, running reconciliations and retries", async () => {
  const clock = manualClock();
  const metrics = queueMetrics(clock.now);
  const reconciliations: ((done: boolean) => void)[] = [];
  const queue = openWorkQueue({
    registry: { clock },
    reconcile: () => new Promise((resolve) => reconciliations.push(resolve)),
    failed: () => assert.fail(),
    concurrency: 1,
    keysMax: 10,
    observer: metrics.observers("q"),
  });
  const read = (): Record<string, number> =>
    Object.fromEntries(
      metrics
        .collect()
        .flatMap(({ name, samples }) =>
          samples
            .filter(({ suffix }) => suffix !== "_bucket")
            .map(({ suffix, value }) => [name.slice(10) + suffix, value]),
        ),
    );
  const turn = (): Promise<void> => passTurns(2); // A reconciliation begins in the turn after its key is added.
  for (const key of ["a", "b", "b"]) queue.add(key);
  await turn();
  clock.advance(2000);
  const {
    adds_total,
    depth,
    unfinished_work_seconds,
    longest_running_processor_seconds,
    queue_duration_seconds_count,
  } = read();
  assert.deepEqual(
    [adds_total, depth, unfinished_work_seconds, longest_running_processor_seconds, queue_duration_seconds_count],
    [2, 1, 2, 2, 1],
  );
  reconciliations[0]?.(false);
  await turn();
  reconciliations[1]?.(true);
  await turn();
  clock.advance(50);
  await turn();
  reconciliations[2]?.(true);
  await turn();
  assert.deepEqual(read(), {
    adds_total: 3,
    depth: 0,
    retries_total: 1,
    unfinished_work_seconds: 0,
    longest_running_processor_seconds: 0,
    queue_duration_seconds_count: 3,
    queue_duration_seconds_sum: 2,
    work_duration_seconds_count: 3,
    work_duration_seconds_sum: 2,
  });
  await queue.stop();
});
