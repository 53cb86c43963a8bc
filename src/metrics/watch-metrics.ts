/** The metrics of watches. Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/metrics/metrics.go. */
import type { Clock } from "../apimachinery/clock.ts";
import type { RequestState } from "../request/context.ts";
import { formatLabels, type Metric } from "./exposition.ts";
import { exponentialBounds, Histogram } from "./histogram.ts";
import { requestLabels } from "./request-labels.ts";
import { Counters, Histograms } from "./vectors.ts";

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

const sizeBounds = exponentialBounds(1024, 2, 8);

const listBounds = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60];

interface SentEvents {
  readonly histogram: Histogram;
  readonly add: (sizes: readonly number[]) => void;
}

function sentEvents(): SentEvents {
  const histogram = new Histogram(sizeBounds);
  return {
    histogram,
    add(sizes) {
      for (const size of sizes) histogram.observe(size);
    },
  };
}

/** @returns empty metrics */
export function watchMetrics(clock: Clock): WatchMetrics {
  const slow = new Counters();
  const lists = new Histograms(listBounds);
  const sent = new Map<string, SentEvents>();
  return {
    counterOf(group, version, resource) {
      const labels = formatLabels(["group", "version", "resource"], [group, version, resource]);
      const series = sent.get(labels) ?? sentEvents();
      sent.set(labels, series);
      return series.add;
    },
    listed(context) {
      const labels = requestLabels(context)?.split(" ");
      if (labels === undefined) return;
      const [, , group = "", version = "", resource = "", , scope = ""] = labels;
      const names = ["group", "version", "resource", "scope"];
      lists.observe(formatLabels(names, [group, version, resource, scope]), (clock.now() - context.receivedAt) / 1000);
    },
    cutOff: (group, resource) => slow.count(formatLabels(["group", "resource"], [group, resource])),
    collect() {
      const counts = [...sent].map(([labels, { histogram }]) => ({ suffix: "", labels, value: histogram.count }));
      const sizes = [...sent].flatMap(([labels, { histogram }]) => [...histogram.samples(labels)]);
      const help = "Watches terminated because their client does not read.";
      return [
        {
          name: "apiserver_watch_events_total",
          type: "counter",
          stability: "ALPHA",
          help: "Events sent to watchers.",
          samples: counts,
        },
        {
          name: "apiserver_watch_events_sizes",
          type: "histogram",
          stability: "ALPHA",
          help: "Size of events sent to watchers in bytes.",
          samples: sizes,
        },
        {
          name: "apiserver_watch_list_duration_seconds",
          type: "histogram",
          stability: "BETA",
          help: "Duration from the start of a watch list to its bookmark in seconds.",
          samples: lists.samples(),
        },
        {
          name: "apiserver_terminated_watchers_total",
          type: "counter",
          stability: "ALPHA",
          help,
          samples: slow.samples(),
        },
      ];
    },
  };
}
