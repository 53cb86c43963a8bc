/**
 * The metrics of storage and the watch caches.
 * Source: k8s.io/apiserver@v0.36.0/pkg/storage/cacher/metrics/metrics.go and
 * pkg/storage/etcd3/metrics/metrics.go.
 */
import type { GroupResource } from "../apimachinery/object.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";

/** The counters of one cache. */
interface CountedCache {
  readonly capacity: number;
  readonly loads: number;
  readonly received: number;
  readonly dispatched: number;
  readonly storedLists: number;
  readonly storedObjects: number;
  readonly decodeErrors: number;
  readonly consistentReads: Readonly<
    Record<"cache" | "store", { readonly succeeded: number; readonly failed: number }>
  >;
  readonly lists: ReadonlyMap<string, { readonly lists: number; readonly fetched: number }>;
  readonly listed: number;
  /** The number of reads per bucket of waiting time, and the total waiting time. */
  readonly waits: readonly number[];
  readonly waitedSeconds: number;
  readonly checks: Readonly<Record<"success" | "failure" | "error", number>>;
  readonly shardWatches: number;
  readonly shardWatchesStarted: number;
  readonly excludedByShard: number;
}

type Counted = readonly (readonly [GroupResource, CountedCache])[];

const names = ["group", "resource"];

type Numbers = (counts: CountedCache) => number;

const stored: Numbers = ({ storedLists }) => storedLists;
const listed: Numbers = ({ lists }) => lists.size;

/** The series is included when `since`, or by default the value, is above 0. */
const counters: readonly [name: string, stability: "ALPHA" | "BETA", help: string, value: Numbers, since?: Numbers][] =
  [
    ["apiserver_watch_cache_initializations_total", "ALPHA", "Initializations of a watch cache.", ({ loads }) => loads],
    [
      "apiserver_watch_cache_events_received_total",
      "ALPHA",
      "Events received by a watch cache.",
      ({ received }) => received,
    ],
    [
      "apiserver_watch_cache_events_dispatched_total",
      "ALPHA",
      "Events dispatched by a watch cache.",
      ({ dispatched }) => dispatched,
    ],
    ["apiserver_storage_events_received_total", "BETA", "Events received from storage.", ({ received }) => received],
    ["apiserver_storage_list_total", "ALPHA", "List requests to storage.", ({ storedLists }) => storedLists],
    [
      "apiserver_storage_decode_errors_total",
      "ALPHA",
      "Failures to decode stored objects.",
      ({ decodeErrors }) => decodeErrors,
    ],
    [
      "apiserver_storage_list_fetched_objects_total",
      "ALPHA",
      "Objects read from storage for lists.",
      ({ storedObjects }) => storedObjects,
      stored,
    ],
    [
      "apiserver_storage_list_evaluated_objects_total",
      "ALPHA",
      "Objects from storage that were evaluated for lists.",
      ({ storedObjects }) => storedObjects,
      stored,
    ],
    [
      "apiserver_storage_list_returned_objects_total",
      "ALPHA",
      "Objects from storage returned in lists.",
      ({ storedObjects }) => storedObjects,
      stored,
    ],
    [
      "apiserver_cache_list_returned_objects_total",
      "ALPHA",
      "Objects returned in lists from a watch cache.",
      ({ listed: objects }) => objects,
      listed,
    ],
    [
      "apiserver_watch_filtered_events_total",
      "ALPHA",
      "Objects in events that watches excluded by their shard selector.",
      ({ excludedByShard }) => excludedByShard,
    ],
  ];

/**
 * @param waitBounds the upper bounds of `waits`, in seconds
 * @returns a function that collects the metrics
 */
export function cacheMetrics(counted: () => Counted, waitBounds: readonly number[]): () => Metric[] {
  return () => {
    const all = counted();
    return [
      ...counters.map(([name, stability, help, value, since]): Metric => {
        return { name, type: "counter", stability, help, samples: samplesOf(all, value, since ?? value) };
      }),
      listCounter("apiserver_cache_list_total", "Lists served from a watch cache.", all, ({ lists }) => lists),
      listCounter(
        "apiserver_cache_list_fetched_objects_total",
        "Objects evaluated for lists from a watch cache.",
        all,
        ({ fetched }) => fetched,
      ),
      shardWatches(all),
      capacity(all),
      consistentReads(all),
      consistencyChecks(all),
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

function shardWatches(all: Counted): Metric {
  const samples = samplesOf(
    all,
    (counts) => counts.shardWatches,
    (counts) => counts.shardWatchesStarted,
  );
  const help = "Open watches with a shard selector.";
  return { name: "apiserver_watch_shards_total", type: "gauge", stability: "ALPHA", help, samples };
}

function capacity(all: Counted): Metric {
  const help = "The most recent events that a watch cache keeps.";
  const samples = samplesOf(
    all,
    (counts) => counts.capacity,
    ({ loads }) => loads,
  );
  return { name: "watch_cache_capacity", type: "gauge", stability: "ALPHA", help, samples };
}

function consistentReads(all: Counted): Metric {
  const samples = all.flatMap(([{ group, resource }, { consistentReads: reads }]) =>
    [
      { fallback: "false", success: "false", value: reads.cache.failed },
      { fallback: "false", success: "true", value: reads.cache.succeeded },
      { fallback: "true", success: "false", value: reads.store.failed },
      { fallback: "true", success: "true", value: reads.store.succeeded },
    ]
      .filter(({ value }) => value > 0)
      .map(({ fallback, success, value }) => ({
        suffix: "",
        labels: formatLabels(["fallback", "group", "resource", "success"], [fallback, group, resource, success]),
        value,
      })),
  );
  const help = "Consistent lists from a watch cache, or with fallback from the store, because the cache was behind.";
  return { name: "apiserver_watch_cache_consistent_read_total", type: "counter", stability: "ALPHA", help, samples };
}

function consistencyChecks(all: Counted): Metric {
  const samples = all.flatMap(([{ group, resource }, { checks }]) =>
    Object.entries(checks)
      .filter(([, value]) => value > 0)
      .map(([status, value]) => ({
        suffix: "",
        labels: formatLabels(["group", "resource", "status"], [group, resource, status]),
        value,
      })),
  );
  const help = "Comparisons of a watch cache with the store, by their result.";
  return { name: "apiserver_storage_consistency_checks_total", type: "counter", stability: "ALPHA", help, samples };
}

function readWaits(all: Counted, bounds: readonly number[]): Metric {
  const samples = all.flatMap(([{ group, resource }, { waits, waitedSeconds }]) => {
    const histogram = Histogram.of(bounds, waits, waitedSeconds);
    return histogram.count === 0 ? [] : [...histogram.samples(formatLabels(names, [group, resource]))];
  });
  const help = "Time in seconds that reads waited for a watch cache to become fresh.";
  return { name: "apiserver_watch_cache_read_wait_seconds", type: "histogram", stability: "ALPHA", help, samples };
}
