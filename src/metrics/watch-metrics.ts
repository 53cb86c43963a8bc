/** The metrics of watches. Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/metrics/metrics.go. */
import type { Clock } from "../apimachinery/clock.ts";
import type { RequestState } from "../request/context.ts";
import type { Metric } from "./exposition.ts";
import { exponentialBounds, type Histogram } from "./histogram.ts";
import type { MetricRows } from "./metric-row.ts";
import { requestLabels } from "./request-labels.ts";
import { Counters, distributed, Histograms, measured, newHistogram } from "./vectors.ts";

export const watchRows = {
  events: {
    name: "apiserver_watch_events_total",
    type: "counter",
    stability: "ALPHA",
    help: "Events sent to watchers.",
    labels: ["group", "version", "resource"],
  },
  sizes: {
    name: "apiserver_watch_events_sizes",
    type: "histogram",
    stability: "ALPHA",
    help: "Size of events sent to watchers in bytes.",
    labels: ["group", "version", "resource"],
    buckets: exponentialBounds(1024, 2, 8),
  },
  lists: {
    name: "apiserver_watch_list_duration_seconds",
    type: "histogram",
    stability: "BETA",
    help: "Duration from the start of a watch list to its bookmark in seconds.",
    labels: ["group", "version", "resource", "scope"],
    buckets: [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60],
  },
  terminated: {
    name: "apiserver_terminated_watchers_total",
    type: "counter",
    stability: "ALPHA",
    help: "Watches terminated because their client does not read.",
    labels: ["group", "resource"],
  },
} as const satisfies MetricRows;

/** Records watches. */
export interface WatchMetrics {
  /**
   * Called once per watch, with names from the catalog, which bounds the number of series.
   *
   * @returns a function that receives the sizes of sent events in bytes
   */
  counterOf(group: string, version: string, resource: string): (sizes: readonly number[]) => void;
  /** Records that the initial objects of a watch and the bookmark after them were sent. */
  listed(context: RequestState): void;
  /** Records a watch that was terminated because its client does not read. */
  cutOff(group: string, resource: string): void;
  collect(): Metric[];
}

/** The events that watches of a version of a resource have sent. */
interface Sent {
  readonly labels: readonly [group: string, version: string, resource: string];
  readonly histogram: Histogram;
  readonly add: (sizes: readonly number[]) => void;
}

/** @returns empty metrics */
export function watchMetrics(clock: Clock): WatchMetrics {
  const terminated = new Counters(watchRows.terminated);
  const lists = new Histograms(watchRows.lists);
  const sent = new Map<string, Sent>();
  return {
    counterOf(group, version, resource) {
      const key = `${group}/${version}/${resource}`;
      const series = sent.get(key) ?? sentBy(group, version, resource);
      sent.set(key, series);
      return series.add;
    },
    listed(context) {
      const labels = requestLabels(context)?.split(" ");
      if (labels === undefined) return;
      const [, , group = "", version = "", resource = "", , scope = ""] = labels;
      lists.observe([group, version, resource, scope], (clock.now() - context.receivedAt) / 1000);
    },
    cutOff: (group, resource) => terminated.count([group, resource]),
    collect: () => [
      measured(
        watchRows.events,
        Array.from(sent.values(), ({ labels, histogram }) => [labels, histogram.count] as const),
      ),
      distributed(
        watchRows.sizes,
        Array.from(sent.values(), ({ labels, histogram }) => [labels, histogram] as const),
      ),
      lists.metric(),
      terminated.metric(),
    ],
  };
}

function sentBy(...labels: Sent["labels"]): Sent {
  const histogram = newHistogram(watchRows.sizes);
  const add = (sizes: readonly number[]): void => {
    for (const size of sizes) histogram.observe(size);
  };
  return { labels, histogram, add };
}
