/** What the watch caches have done, and how they stand to the store. Source: apiserver's storage/metrics and storage/cacher/metrics */
import type { GroupResource } from "../apimachinery/object.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";

/** Of one cache; plain numbers that go on counting. */
export interface CountedCache {
  readonly loads: number;
  readonly received: number;
  readonly dispatched: number;
  readonly storedLists: number;
  readonly storedObjects: number;
  readonly decodeErrors: number;
  readonly consistentReads: number;
  readonly consistentFailures: number;
  readonly lists: ReadonlyMap<string, { readonly lists: number; readonly fetched: number }>;
  readonly listed: number;
  /** Reads by how long they waited, by the bounds below, and how long together. */
  readonly waits: readonly number[];
  readonly waitedSeconds: number;
}

type Counted = readonly (readonly [GroupResource, CountedCache])[];

const names = ["group", "resource"];

type Numbers = (counts: CountedCache) => number;

const stored: Numbers = ({ storedLists }) => storedLists;
const listed: Numbers = ({ lists }) => lists.size;

/** @param since shown once this is more than nothing; unset: the value itself */
const counters: readonly [name: string, stability: "ALPHA" | "BETA", help: string, value: Numbers, since?: Numbers][] =
  [
    [
      "apiserver_watch_cache_initializations_total",
      "ALPHA",
      "Times that a watch cache was loaded.",
      ({ loads }) => loads,
    ],
    [
      "apiserver_watch_cache_events_received_total",
      "ALPHA",
      "Changes that a watch cache was told of.",
      ({ received }) => received,
    ],
    [
      "apiserver_watch_cache_events_dispatched_total",
      "ALPHA",
      "Changes that a watch cache handed on.",
      ({ dispatched }) => dispatched,
    ],
    ["apiserver_storage_events_received_total", "BETA", "Changes that the store told of.", ({ received }) => received],
    [
      "apiserver_storage_list_total",
      "ALPHA",
      "Times that objects were listed in the store.",
      ({ storedLists }) => storedLists,
    ],
    [
      "apiserver_storage_decode_errors_total",
      "ALPHA",
      "Reads of stored objects that cannot be decoded, or are damaged.",
      ({ decodeErrors }) => decodeErrors,
    ],
    [
      "apiserver_storage_list_fetched_objects_total",
      "ALPHA",
      "Objects that were read from the store for lists.",
      ({ storedObjects }) => storedObjects,
      stored,
    ],
    [
      "apiserver_storage_list_evaluated_objects_total",
      "ALPHA",
      "Objects from the store that were looked at for lists.",
      ({ storedObjects }) => storedObjects,
      stored,
    ],
    [
      "apiserver_storage_list_returned_objects_total",
      "ALPHA",
      "Objects from the store that were in lists.",
      ({ storedObjects }) => storedObjects,
      stored,
    ],
    [
      "apiserver_cache_list_returned_objects_total",
      "ALPHA",
      "Objects in the lists that were made from a watch cache.",
      ({ listed: objects }) => objects,
      listed,
    ],
  ];

/** @param waitBounds of `waits`, in seconds */
export function cacheMetrics(counted: () => Counted, waitBounds: readonly number[]): () => Metric[] {
  return () => {
    const all = counted();
    return [
      ...counters.map(([name, stability, help, value, since]): Metric => {
        return { name, type: "counter", stability, help, samples: samplesOf(all, value, since ?? value) };
      }),
      listCounter("apiserver_cache_list_total", "Lists that were made from a watch cache.", all, ({ lists }) => lists),
      listCounter(
        "apiserver_cache_list_fetched_objects_total",
        "Objects of watch caches that were looked at for lists.",
        all,
        ({ fetched }) => fetched,
      ),
      consistentReads(all),
      readWaits(all, waitBounds),
    ];
  };
}

function samplesOf(all: Counted, value: Numbers, since: Numbers): Sample[] {
  return all
    .filter(([, counts]) => since(counts) > 0)
    .map(([{ group, resource }, counts]) => ({
      suffix: "",
      labels: formatLabels(names, [group, resource]),
      value: value(counts),
    }));
}

function listCounter(
  name: string,
  help: string,
  all: Counted,
  value: (counts: { lists: number; fetched: number }) => number,
): Metric {
  const samples = all.flatMap(([{ group, resource }, { lists }]) =>
    Array.from(lists, ([index, counts]) => ({
      suffix: "",
      labels: formatLabels(["group", "index", "resource"], [group, index, resource]),
      value: value(counts),
    })),
  );
  return { name, type: "counter", stability: "ALPHA", help, samples };
}

/** There is nothing to fall back to. */
function consistentReads(all: Counted): Metric {
  const labelsOf = ({ group, resource }: GroupResource, success: boolean): string =>
    formatLabels(["fallback", "group", "resource", "success"], ["false", group, resource, String(success)]);
  const samples = all.flatMap(([name, { consistentReads: reads, consistentFailures: failures }]) =>
    [
      { suffix: "", labels: labelsOf(name, false), value: failures },
      { suffix: "", labels: labelsOf(name, true), value: reads - failures },
    ].filter(({ value }) => value > 0),
  );
  const help = "Lists of the newest state that were asked of a watch cache.";
  return { name: "apiserver_watch_cache_consistent_read_total", type: "counter", stability: "ALPHA", help, samples };
}

function readWaits(all: Counted, bounds: readonly number[]): Metric {
  const samples = all.flatMap(([{ group, resource }, { waits, waitedSeconds }]) => {
    const histogram = Histogram.of(bounds, waits, waitedSeconds);
    return histogram.count === 0 ? [] : [...histogram.samples(formatLabels(names, [group, resource]))];
  });
  const help = "Seconds that reads waited for a watch cache to be new enough.";
  return { name: "apiserver_watch_cache_read_wait_seconds", type: "histogram", stability: "ALPHA", help, samples };
}
