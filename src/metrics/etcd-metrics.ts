/**
 * The metrics of requests to etcd. Source: k8s.io/apiserver@v0.36.0/pkg/storage/etcd3/metrics/metrics.go.
 */
import type { GroupResource } from "../apimachinery/object.ts";
import type { StorageObserver } from "../storage/contract.ts";
import { formatLabels, labelFormatter, type Metric, type Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";
import { Counters, Histograms } from "./vectors.ts";

/** Records what the engine etcd does. */
export interface EtcdMetrics {
  readonly observer: StorageObserver;
  /** Sets how the resource of a key is found; its requests before have none. */
  resolve(findByKey: (key: string) => GroupResource | undefined): void;
  collect(): Metric[];
}

const secondsBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const leaseBounds = [10, 50, 100, 500, 1000, 2500, 5000];

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
  const requests = new Counters();
  const errors = new Counters();
  const durations = new Histograms(secondsBounds);
  const bookmarks = new Counters();
  const leases = new Histogram(leaseBounds);
  const sizes = new Map<string, number>();
  const requestLabels = labelFormatter(["operation", "group", "resource"]);
  const resourceLabels = labelFormatter(["group", "resource"]);
  let findByKey: (key: string) => GroupResource | undefined = () => undefined;
  const resourceOf = (key: string | undefined): GroupResource =>
    (key !== undefined && (findByKey(key) ?? internal.find(([prefix]) => key.startsWith(prefix))?.[1])) || none;
  return {
    observer: {
      requested(operation, key) {
        const since = now();
        const { group, resource } = resourceOf(key);
        const labels = requestLabels(operation, group, resource);
        return (succeeded) => {
          durations.observe(labels, (now() - since) / 1000);
          requests.count(labels);
          if (!succeeded) errors.count(labels);
        };
      },
      subscribed(prefix) {
        const { group, resource } = resourceOf(prefix);
        const labels = resourceLabels(group, resource);
        return () => bookmarks.count(labels);
      },
      leased: (keys) => leases.observe(keys),
      memberSize: (url, bytes = -1) => void sizes.set(url, bytes),
    },
    resolve(find) {
      findByKey = find;
    },
    collect: () => [
      counter("etcd_requests_total", "Requests to etcd.", requests),
      counter("etcd_request_errors_total", "Requests to etcd that failed.", errors),
      {
        ...counter("etcd_request_duration_seconds", "Duration of requests to etcd in seconds.", durations),
        type: "histogram",
      },
      counter("etcd_bookmark_total", "Progress notifications of etcd.", bookmarks),
      { ...counter("etcd_bookmark_counts", "Progress notifications of etcd.", bookmarks), ...deprecatedBookmarks },
      {
        name: "etcd_lease_object_counts",
        type: "histogram",
        stability: "ALPHA",
        help: "Objects that shared a lease of etcd.",
        samples: leases.count === 0 ? [] : [...leases.samples("")],
      },
      memberSizes(sizes),
    ],
  };
}

const deprecatedBookmarks = { type: "gauge", deprecatedSince: "1.36.0" } as const;

function counter(name: string, help: string, counts: Counters | Histograms): Metric {
  return { name, type: "counter", stability: "ALPHA", help, samples: counts.samples() };
}

function memberSizes(sizes: ReadonlyMap<string, number>): Metric {
  const sample = ([url, value]: readonly [string, number]): Sample => ({
    suffix: "",
    labels: formatLabels(["endpoint"], [url]),
    value,
  });
  return {
    name: "apiserver_storage_db_total_size_in_bytes",
    type: "gauge",
    stability: "ALPHA",
    deprecatedSince: "1.28.0",
    help: "Size of the database of a member in bytes; -1 when it does not answer.",
    samples: [...sizes].map(sample),
  };
}
