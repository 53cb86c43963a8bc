/** How controllers keep up with their keys. Source: component-base's metrics/prometheus/workqueue */
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { exponentialBounds, Histogram } from "./histogram.ts";

/** Seconds. */
const bounds = exponentialBounds(1e-8, 10, 10);

class Queue {
  adds = 0;
  retries = 0;
  depth = 0;
  readonly waited = new Histogram(bounds);
  readonly worked = new Histogram(bounds);
  /** When the looks began that are under way, in milliseconds. */
  readonly running = new Set<{ readonly since: number }>();
}

export interface QueueMetrics {
  /** @param name of the queue; the same counts for the same name */
  observers(name: string): { added(): () => () => void; retried(): void };
  collect(): Metric[];
}

/** @param now milliseconds, and parts of them */
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
            const look = { since: now() };
            queue.depth -= 1;
            queue.waited.observe((look.since - addedAt) / 1000);
            queue.running.add(look);
            return () => {
              queue.running.delete(look);
              queue.worked.observe((now() - look.since) / 1000);
            };
          };
        },
        retried() {
          queue.retries += 1;
        },
      };
    },
    collect() {
      const at = now();
      const secondsOf = ({ running }: Queue): number[] => Array.from(running, ({ since }) => (at - since) / 1000);
      const all = Array.from(queues, ([name, queue]) => [formatLabels(["name"], [name]), queue] as const);
      const plain = (
        name: string,
        type: "counter" | "gauge",
        help: string,
        value: (queue: Queue) => number,
      ): Metric => {
        const samples = all.map(([labels, queue]) => ({ suffix: "", labels, value: value(queue) }));
        return { name, type, stability: "BETA", help, samples };
      };
      const distribution = (name: string, help: string, of: (queue: Queue) => Histogram): Metric => {
        const samples: Sample[] = all.flatMap(([labels, queue]) => [...of(queue).samples(labels)]);
        return { name, type: "histogram", stability: "BETA", help, samples };
      };
      return [
        plain("workqueue_adds_total", "counter", "Keys that were added to the queue.", ({ adds }) => adds),
        plain("workqueue_depth", "gauge", "Keys that wait for their turn.", ({ depth }) => depth),
        plain(
          "workqueue_retries_total",
          "counter",
          "Keys that were to be looked at again later.",
          ({ retries }) => retries,
        ),
        plain(
          "workqueue_unfinished_work_seconds",
          "gauge",
          "Seconds that the looks under way have taken together.",
          (queue) => secondsOf(queue).reduce((sum, one) => sum + one, 0),
        ),
        plain(
          "workqueue_longest_running_processor_seconds",
          "gauge",
          "Seconds that the longest look under way has taken.",
          (queue) => Math.max(0, ...secondsOf(queue)),
        ),
        distribution(
          "workqueue_queue_duration_seconds",
          "Seconds that a key waited for its turn.",
          ({ waited }) => waited,
        ),
        distribution("workqueue_work_duration_seconds", "Seconds that a look at a key took.", ({ worked }) => worked),
      ];
    },
  };
}
