/** Counts events sent to watchers, their bytes, and those who are cut off. */
import type { Clock } from "../apimachinery/clock.ts";
import type { RequestContext } from "../http/contract.ts";
import { formatLabels, type Metric } from "./exposition.ts";
import { exponentialBounds, Histogram } from "./histogram.ts";
import { requestLabels } from "./request-labels.ts";
import { Counters, Histograms } from "./vectors.ts";

export interface WatchMetrics {
  /**
   * @returns takes the bytes of each event that is sent for one resource; to be asked for once per watch. Names come from the catalogue, which bounds
   *   the series
   */
  counterOf(group: string, version: string, resource: string): (sizes: readonly number[]) => void;
  /** The objects that were there, and the bookmark behind them, were sent. */
  listed(context: RequestContext): void;
  /** A watcher was cut off, because it reads nothing. */
  cutOff(group: string, resource: string): void;
  collect(): Metric[];
}

const sizeBounds = exponentialBounds(1024, 2, 8);

const listBounds = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60];

export function watchMetrics(clock: Clock): WatchMetrics {
  const slow = new Counters();
  const lists = new Histograms(listBounds);
  const sent = new Map<string, { readonly histogram: Histogram; readonly add: (sizes: readonly number[]) => void }>();
  return {
    counterOf(group, version, resource) {
      const labels = formatLabels(["group", "version", "resource"], [group, version, resource]);
      let known = sent.get(labels);
      if (known === undefined) {
        const histogram = new Histogram(sizeBounds);
        const add = (sizes: readonly number[]): void => {
          for (const size of sizes) histogram.observe(size);
        };
        known = { histogram, add };
        sent.set(labels, known);
      }
      return known.add;
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
      const help = "Watchers that were cut off because they read nothing.";
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
          help: "Bytes of the events sent to watchers.",
          samples: sizes,
        },
        {
          name: "apiserver_watch_list_duration_seconds",
          type: "histogram",
          stability: "BETA",
          help: "Seconds from a watch that begins with what is there to the bookmark that ends this.",
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
