/**
 * The metrics of work queues.
 * Source: k8s.io/component-base@v0.36.0/metrics/prometheus/workqueue/metrics.go.
 */
import type { Metric } from "./exposition.ts";
import { exponentialBounds, Histogram } from "./histogram.ts";
import type { MetricRow, MetricRows } from "./metric-row.ts";
import { distributed, measured } from "./vectors.ts";

/** In seconds. */
const buckets = exponentialBounds(1e-8, 10, 10);

export const queueRows = {
  adds: {
    name: "workqueue_adds_total",
    type: "counter",
    stability: "BETA",
    help: "Keys added to the queue.",
    labels: ["name"],
  },
  depth: {
    name: "workqueue_depth",
    type: "gauge",
    stability: "BETA",
    help: "Keys that wait in the queue.",
    labels: ["name"],
  },
  retries: {
    name: "workqueue_retries_total",
    type: "counter",
    stability: "BETA",
    help: "Retried keys.",
    labels: ["name"],
  },
  unfinished: {
    name: "workqueue_unfinished_work_seconds",
    type: "gauge",
    stability: "BETA",
    help: "Total duration of the running reconciliations in seconds.",
    labels: ["name"],
  },
  longest: {
    name: "workqueue_longest_running_processor_seconds",
    type: "gauge",
    stability: "BETA",
    help: "Duration of the longest running reconciliation in seconds.",
    labels: ["name"],
  },
  waited: {
    name: "workqueue_queue_duration_seconds",
    type: "histogram",
    stability: "BETA",
    help: "Time in seconds that a key waited in the queue.",
    labels: ["name"],
    buckets,
  },
  worked: {
    name: "workqueue_work_duration_seconds",
    type: "histogram",
    stability: "BETA",
    help: "Duration of a reconciliation in seconds.",
    labels: ["name"],
    buckets,
  },
} as const satisfies MetricRows;

class Queue {
  adds = 0;
  retries = 0;
  depth = 0;
  readonly waited = new Histogram(buckets);
  readonly worked = new Histogram(buckets);
  /** The start times of the running reconciliations, in milliseconds. */
  readonly running = new Set<{ readonly since: number }>();
}

/** The metrics of all work queues. */
export interface QueueMetrics {
  /**
   * @param name the name of the queue; queues with equal names share their counts
   * @returns `added` returns a function that starts the reconciliation of the key, which returns a
   *   function that ends it
   */
  observers(name: string): { added(): () => () => void; retried(): void };
  collect(): Metric[];
}

/** @param now returns milliseconds with fractions */
export function queueMetrics(now: () => number): QueueMetrics {
  const queues = new Map<string, Queue>();
  return {
    observers(name) {
      const queue = queues.get(name) ?? new Queue();
      queues.set(name, queue);
      return {
        added() {
          queue.adds += 1;
          queue.depth += 1;
          const addedAt = now();
          return () => {
            const run = { since: now() };
            queue.depth -= 1;
            queue.waited.observe((run.since - addedAt) / 1000);
            queue.running.add(run);
            return () => {
              queue.running.delete(run);
              queue.worked.observe((now() - run.since) / 1000);
            };
          };
        },
        retried() {
          queue.retries += 1;
        },
      };
    },
    collect: () => metricsOf(queues, now()),
  };
}

type QueueRow = MetricRow & { readonly labels: readonly ["name"] };

/** @param at milliseconds, as the start times of the reconciliations */
function metricsOf(queues: ReadonlyMap<string, Queue>, at: number): Metric[] {
  const secondsOf = ({ running }: Queue): number[] => Array.from(running, ({ since }) => (at - since) / 1000);
  const values = (row: QueueRow, value: (queue: Queue) => number): Metric =>
    measured(
      row,
      Array.from(queues, ([name, queue]) => [[name], value(queue)] as const),
    );
  const histograms = (row: QueueRow, of: (queue: Queue) => Histogram): Metric =>
    distributed(
      row,
      Array.from(queues, ([name, queue]) => [[name], of(queue)] as const),
    );
  return [
    values(queueRows.adds, ({ adds }) => adds),
    values(queueRows.depth, ({ depth }) => depth),
    values(queueRows.retries, ({ retries }) => retries),
    values(queueRows.unfinished, (queue) => secondsOf(queue).reduce((sum, one) => sum + one, 0)),
    values(queueRows.longest, (queue) => Math.max(0, ...secondsOf(queue))),
    histograms(queueRows.waited, ({ waited }) => waited),
    histograms(queueRows.worked, ({ worked }) => worked),
  ];
}
