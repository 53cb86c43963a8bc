import type { Metric } from "./exposition.ts";
import { Histogram } from "./histogram.ts";

/** The first bound is the shortest block that is recorded. */
const bounds = [0.25, 0.5, 1, 2, 5, 10, 30];

/** The blocks of the event loop; kube-apiserver, which has threads, has no such metric. */
export interface EventLoopMetric {
  blocked(seconds: number): void;
  collect(): Metric[];
}

/** @returns a metric without blocks */
export function eventLoopMetric(): EventLoopMetric {
  const histogram = new Histogram(bounds);
  return {
    blocked: (seconds) => histogram.observe(seconds),
    collect: () => [
      {
        name: "coxswain_event_loop_blocked_seconds",
        type: "histogram",
        stability: undefined,
        help: "Times of more than 250 ms in which the event loop served no other request.",
        samples: [...histogram.samples("")],
      },
    ],
  };
}
