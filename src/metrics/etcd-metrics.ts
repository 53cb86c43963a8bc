/**
 * The metrics of requests to etcd. Source: k8s.io/apiserver@v0.36.0/pkg/storage/etcd3/metrics/metrics.go.
 */
import type { GroupResource } from "../apimachinery/object.ts";
import type { StorageObserver } from "../storage/contract.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, distributed, Histograms, measured, newHistogram } from "./vectors.ts";

export const etcdRows = {
  requests: {
    name: "etcd_requests_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests to etcd.",
    labels: ["operation", "group", "resource"],
  },
  errors: {
    name: "etcd_request_errors_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests to etcd that failed.",
    labels: ["operation", "group", "resource"],
  },
  durations: {
    name: "etcd_request_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of requests to etcd in seconds.",
    labels: ["operation", "group", "resource"],
    buckets: [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60],
  },
  bookmarks: {
    name: "etcd_bookmark_total",
    type: "counter",
    stability: "ALPHA",
    help: "Progress notifications of etcd.",
    labels: ["group", "resource"],
  },
  formerBookmarks: {
    name: "etcd_bookmark_counts",
    type: "gauge",
    stability: "ALPHA",
    deprecatedSince: "1.36.0",
    help: "Progress notifications of etcd.",
    labels: ["group", "resource"],
  },
  leases: {
    name: "etcd_lease_object_counts",
    type: "histogram",
    stability: "ALPHA",
    help: "Objects that shared a lease of etcd.",
    buckets: [10, 50, 100, 500, 1000, 2500, 5000],
  },
  sizes: {
    name: "apiserver_storage_db_total_size_in_bytes",
    type: "gauge",
    stability: "ALPHA",
    deprecatedSince: "1.28.0",
    help: "Size of the database of a member in bytes; -1 when it does not answer.",
    labels: ["endpoint"],
  },
} as const satisfies MetricRows;

/** Records what the engine etcd does. */
export interface EtcdMetrics {
  readonly observer: StorageObserver;
  /** Sets how the resource of a key is found; its requests before have none. */
  resolve(findByKey: (key: string) => GroupResource | undefined): void;
  collect(): Metric[];
}

/**
 * What is stored without being a resource, under the names that upstream gives it. Sources:
 * k8s.io/kubernetes@v1.36.0/pkg/controlplane/instance.go, pkg/registry/core/rest/storage_core.go
 */
const internal: readonly (readonly [prefix: string, name: GroupResource])[] = [
  ["/registry/masterleases/", { group: "", resource: "apiServerIPInfo" }],
  ["/registry/peerserverleases/", { group: "", resource: "apiServerPeerIPInfo" }],
  ["/registry/ranges/servicenodeports", { group: "", resource: "servicenodeportallocations" }],
];
const none: GroupResource = { group: "", resource: "" };

/** @param now milliseconds since any fixed time, with fractions */
export function etcdMetrics(now: () => number): EtcdMetrics {
  const requests = new Counters(etcdRows.requests);
  const errors = new Counters(etcdRows.errors);
  const durations = new Histograms(etcdRows.durations);
  const bookmarks = new Counters(etcdRows.bookmarks);
  const leases = newHistogram(etcdRows.leases);
  const sizes = new Map<string, number>();
  let findByKey: (key: string) => GroupResource | undefined = () => undefined;
  const resourceOf = (key: string | undefined): GroupResource =>
    (key !== undefined && (findByKey(key) ?? internal.find(([prefix]) => key.startsWith(prefix))?.[1])) || none;
  return {
    observer: {
      requested(operation, key) {
        const since = now();
        const { group, resource } = resourceOf(key);
        return (succeeded) => {
          durations.observe([operation, group, resource], (now() - since) / 1000);
          requests.count([operation, group, resource]);
          if (!succeeded) errors.count([operation, group, resource]);
        };
      },
      subscribed(prefix) {
        const { group, resource } = resourceOf(prefix);
        return () => bookmarks.count([group, resource]);
      },
      leased: (keys) => leases.observe(keys),
      memberSize: (url, bytes = -1) => void sizes.set(url, bytes),
    },
    resolve(find) {
      findByKey = find;
    },
    collect: () => [
      ...[requests, errors, durations, bookmarks].map((one) => one.metric()),
      { ...bookmarks.metric(), ...etcdRows.formerBookmarks },
      distributed(etcdRows.leases, leases.count === 0 ? [] : [[[], leases]]),
      measured(
        etcdRows.sizes,
        Array.from(sizes, ([url, bytes]) => [[url], bytes] as const),
      ),
    ],
  };
}
