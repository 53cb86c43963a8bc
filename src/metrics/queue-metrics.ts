/**
 * The metrics of work queues.
 * Source: k8s.io/component-base@v0.36.0/metrics/prometheus/workqueue/metrics.go.
 */
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { exponentialBounds, Histogram } from "./histogram.ts";

/** In seconds. */
const bounds = exponentialBounds(1e-8, 10, 10);

class Queue {
  adds = 0;
  retries = 0;
  depth = 0;
  readonly waited = new Histogram(bounds);
  readonly worked = new Histogram(bounds);
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

/** @param at milliseconds, as the start times of the reconciliations */
function metricsOf(queues: ReadonlyMap<string, Queue>, at: number): Metric[] {
  const secondsOf = ({ running }: Queue): number[] => Array.from(running, ({ since }) => (at - since) / 1000);
  const all = Array.from(queues, ([name, queue]) => [formatLabels(["name"], [name]), queue] as const);
  const plain = (name: string, type: "counter" | "gauge", help: string, value: (queue: Queue) => number): Metric => {
    const samples = all.map(([labels, queue]) => ({ suffix: "", labels, value: value(queue) }));
    return { name, type, stability: "BETA", help, samples };
  };
  const distribution = (name: string, help: string, of: (queue: Queue) => Histogram): Metric => {
    const samples: Sample[] = all.flatMap(([labels, queue]) => [...of(queue).samples(labels)]);
    return { name, type: "histogram", stability: "BETA", help, samples };
  };
  return [
    plain("workqueue_adds_total", "counter", "Keys added to the queue.", ({ adds }) => adds),
    plain("workqueue_depth", "gauge", "Keys that wait in the queue.", ({ depth }) => depth),
    plain("workqueue_retries_total", "counter", "Retried keys.", ({ retries }) => retries),
    plain(
      "workqueue_unfinished_work_seconds",
      "gauge",
      "Total duration of the running reconciliations in seconds.",
      (queue) => secondsOf(queue).reduce((sum, one) => sum + one, 0),
    ),
    plain(
      "workqueue_longest_running_processor_seconds",
      "gauge",
      "Duration of the longest running reconciliation in seconds.",
      (queue) => Math.max(0, ...secondsOf(queue)),
    ),
    distribution(
      "workqueue_queue_duration_seconds",
      "Time in seconds that a key waited in the queue.",
      ({ waited }) => waited,
    ),
    distribution("workqueue_work_duration_seconds", "Duration of a reconciliation in seconds.", ({ worked }) => worked),
  ];
}
