/** Counts events sent to watchers. */
import { formatLabels, type Metric } from "./exposition.ts";

export interface WatchMetrics {
  /** @returns adds to the count of one resource; to be asked for once per watch. Names come from the catalogue, which bounds the series */
  counterOf(group: string, version: string, resource: string): (events: number) => void;
  collect(): Metric;
}

export function watchMetrics(): WatchMetrics {
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
    collect() {
      const samples = [...counters].map(([labels, { value }]) => ({ suffix: "", labels, value }));
      return { name: "apiserver_watch_events_total", type: "counter", stability: "ALPHA", help: "Events sent to watchers.", samples };
    },
  };
}
