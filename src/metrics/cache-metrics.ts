/**
 * The metrics of storage and the watch caches.
 * Source: k8s.io/apiserver@v0.36.0/pkg/storage/cacher/metrics/metrics.go and
 * pkg/storage/etcd3/metrics/metrics.go.
 */
import type { GroupResource } from "../apimachinery/object.ts";
import type { Metric } from "./exposition.ts";
import { Histogram } from "./histogram.ts";
import type { MetricRow, MetricRows } from "./metric-row.ts";
import { distributed, measured } from "./vectors.ts";

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

export const cacheRows = {
  loads: {
    name: "apiserver_watch_cache_initializations_total",
    type: "counter",
    stability: "ALPHA",
    help: "Initializations of a watch cache.",
    labels: ["group", "resource"],
  },
  received: {
    name: "apiserver_watch_cache_events_received_total",
    type: "counter",
    stability: "ALPHA",
    help: "Events received by a watch cache.",
    labels: ["group", "resource"],
  },
  dispatched: {
    name: "apiserver_watch_cache_events_dispatched_total",
    type: "counter",
    stability: "ALPHA",
    help: "Events dispatched by a watch cache.",
    labels: ["group", "resource"],
  },
  storageReceived: {
    name: "apiserver_storage_events_received_total",
    type: "counter",
    stability: "BETA",
    help: "Events received from storage.",
    labels: ["group", "resource"],
  },
  storedLists: {
    name: "apiserver_storage_list_total",
    type: "counter",
    stability: "ALPHA",
    help: "List requests to storage.",
    labels: ["group", "resource"],
  },
  decodeErrors: {
    name: "apiserver_storage_decode_errors_total",
    type: "counter",
    stability: "ALPHA",
    help: "Failures to decode stored objects.",
    labels: ["group", "resource"],
  },
  storedFetched: {
    name: "apiserver_storage_list_fetched_objects_total",
    type: "counter",
    stability: "ALPHA",
    help: "Objects read from storage for lists.",
    labels: ["group", "resource"],
  },
  storedEvaluated: {
    name: "apiserver_storage_list_evaluated_objects_total",
    type: "counter",
    stability: "ALPHA",
    help: "Objects from storage that were evaluated for lists.",
    labels: ["group", "resource"],
  },
  storedReturned: {
    name: "apiserver_storage_list_returned_objects_total",
    type: "counter",
    stability: "ALPHA",
    help: "Objects from storage returned in lists.",
    labels: ["group", "resource"],
  },
  returned: {
    name: "apiserver_cache_list_returned_objects_total",
    type: "counter",
    stability: "ALPHA",
    help: "Objects returned in lists from a watch cache.",
    labels: ["group", "resource"],
  },
  excluded: {
    name: "apiserver_watch_filtered_events_total",
    type: "counter",
    stability: "ALPHA",
    help: "Objects in events that watches excluded by their shard selector.",
    labels: ["group", "resource"],
  },
  lists: {
    name: "apiserver_cache_list_total",
    type: "counter",
    stability: "ALPHA",
    help: "Lists served from a watch cache.",
    labels: ["group", "index", "resource"],
  },
  fetched: {
    name: "apiserver_cache_list_fetched_objects_total",
    type: "counter",
    stability: "ALPHA",
    help: "Objects evaluated for lists from a watch cache.",
    labels: ["group", "index", "resource"],
  },
  shardWatches: {
    name: "apiserver_watch_shards_total",
    type: "gauge",
    stability: "ALPHA",
    help: "Open watches with a shard selector.",
    labels: ["group", "resource"],
  },
  capacity: {
    name: "watch_cache_capacity",
    type: "gauge",
    stability: "ALPHA",
    help: "The most recent events that a watch cache keeps.",
    labels: ["group", "resource"],
  },
  consistentReads: {
    name: "apiserver_watch_cache_consistent_read_total",
    type: "counter",
    stability: "ALPHA",
    help: "Consistent lists from a watch cache, or with fallback from the store, because the cache was behind.",
    labels: ["fallback", "group", "resource", "success"],
  },
  checks: {
    name: "apiserver_storage_consistency_checks_total",
    type: "counter",
    stability: "ALPHA",
    help: "Comparisons of a watch cache with the store, by their result.",
    labels: ["group", "resource", "status"],
  },
  waits: {
    name: "apiserver_watch_cache_read_wait_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Time in seconds that reads waited for a watch cache to become fresh.",
    labels: ["group", "resource"],
    /** Those of the counts of a watch cache. */
    buckets: [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3],
  },
} as const satisfies MetricRows;

type Counted = readonly (readonly [GroupResource, CountedCache])[];

type CacheRow = MetricRow & { readonly labels: readonly ["group", "resource"] };
type Numbers = (counts: CountedCache) => number;

const stored: Numbers = ({ storedLists }) => storedLists;
const listed: Numbers = ({ lists }) => lists.size;

/** The series is included when `since`, or by default the value, is above 0. */
const counters: readonly (readonly [row: CacheRow, value: Numbers, since?: Numbers])[] = [
  [cacheRows.loads, ({ loads }) => loads],
  [cacheRows.received, ({ received }) => received],
  [cacheRows.dispatched, ({ dispatched }) => dispatched],
  [cacheRows.storageReceived, ({ received }) => received],
  [cacheRows.storedLists, stored],
  [cacheRows.decodeErrors, ({ decodeErrors }) => decodeErrors],
  [cacheRows.storedFetched, ({ storedObjects }) => storedObjects, stored],
  [cacheRows.storedEvaluated, ({ storedObjects }) => storedObjects, stored],
  [cacheRows.storedReturned, ({ storedObjects }) => storedObjects, stored],
  [cacheRows.returned, ({ listed: objects }) => objects, listed],
  [cacheRows.excluded, ({ excludedByShard }) => excludedByShard],
  [cacheRows.shardWatches, ({ shardWatches }) => shardWatches, ({ shardWatchesStarted }) => shardWatchesStarted],
  [cacheRows.capacity, ({ capacity }) => capacity, ({ loads }) => loads],
];

/** @returns a function that collects the metrics */
export function cacheMetrics(counted: () => Counted): () => Metric[] {
  return () => {
    const all = counted();
    return [
      ...counters.map(([row, value, since = value]) => measured(row, valuesOf(all, value, since))),
      measured(
        cacheRows.lists,
        byIndex(all, ({ lists }) => lists),
      ),
      measured(
        cacheRows.fetched,
        byIndex(all, ({ fetched }) => fetched),
      ),
      measured(cacheRows.consistentReads, all.flatMap(consistentReads)),
      measured(cacheRows.checks, all.flatMap(consistencyChecks)),
      distributed(cacheRows.waits, all.flatMap(readWaits)),
    ];
  };
}

type OfCache = Counted[number];

function valuesOf(all: Counted, value: Numbers, since: Numbers) {
  return all
    .filter(([, counts]) => since(counts) > 0)
    .map(([{ group, resource }, counts]) => [[group, resource], value(counts)] as const);
}

function byIndex(all: Counted, value: (counts: { lists: number; fetched: number }) => number) {
  return all.flatMap(([{ group, resource }, { lists }]) =>
    Array.from(lists, ([index, counts]) => [[group, index, resource], value(counts)] as const),
  );
}

function consistentReads([{ group, resource }, { consistentReads: reads }]: OfCache) {
  return (
    [
      [["false", group, resource, "false"], reads.cache.failed],
      [["false", group, resource, "true"], reads.cache.succeeded],
      [["true", group, resource, "false"], reads.store.failed],
      [["true", group, resource, "true"], reads.store.succeeded],
    ] as const
  ).filter(([, count]) => count > 0);
}

function consistencyChecks([{ group, resource }, { checks }]: OfCache) {
  return Object.entries(checks)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => [[group, resource, status], count] as const);
}

function readWaits([{ group, resource }, { waits, waitedSeconds }]: OfCache) {
  const histogram = Histogram.of(cacheRows.waits.buckets, waits, waitedSeconds);
  return histogram.count === 0 ? [] : [[[group, resource], histogram] as const];
}
