/** Counts events sent to watchers, and those who are cut off. */
import { formatLabels, type Metric } from "./exposition.ts";
import { Counters } from "./vectors.ts";

export interface WatchMetrics {
  /** @returns adds to the count of one resource; to be asked for once per watch. Names come from the catalogue, which bounds the series */
  counterOf(group: string, version: string, resource: string): (events: number) => void;
  /** A watcher was cut off, because it reads nothing. */
  cutOff(group: string, resource: string): void;
  collect(): Metric[];
}

export function watchMetrics(): WatchMetrics {
  const slow = new Counters();
  const counters = new Map<string, { value: number; readonly add: (events: number) => void }>();
  return {
    counterOf(group, version, resource) {
      const labels = formatLabels(["group", "version", "resource"], [group, version, resource]);
      let counter = counters.get(labels);
      if (counter === undefined) {
        const fresh = {
          value: 0,
          add: (events: number): void => {
            fresh.value += events;
          },
        };
        counter = fresh;
        counters.set(labels, fresh);
      }
      return counter.add;
    },
    cutOff: (group, resource) => slow.count(formatLabels(["group", "resource"], [group, resource])),
    collect() {
      const samples = [...counters].map(([labels, { value }]) => ({ suffix: "", labels, value }));
      const help = "Watchers that were cut off because they read nothing.";
      return [
        { name: "apiserver_watch_events_total", type: "counter", stability: "ALPHA", help: "Events sent to watchers.", samples },
        { name: "apiserver_terminated_watchers_total", type: "counter", stability: "ALPHA", help, samples: slow.samples() },
      ];
    },
  };
}
