/** `/metrics`: upstream's names for what exists here. Counting is our own, since a library's costs more than the counted request's routing. */
import type { Clock } from "../apimachinery/clock.ts";
import { formatGroupResource, type GroupResource } from "../apimachinery/object.ts";
import type { AuditCounts } from "../audit/contract.ts";
import type { RequestContext } from "../http/contract.ts";
import { gzipThresholdBytes, respondGzipped } from "../http/representation/gzip.ts";
import { auditMetrics } from "./audit-metrics.ts";
import { expositionType, formatLabels, formatMetrics, type Metric } from "./exposition.ts";
import { processMetrics, processStart } from "./process-metrics.ts";
import { type RequestMetrics, requestMetrics } from "./request-metrics.ts";
import type { ShowMetrics } from "./shown-metrics.ts";
import { type WatchMetrics, watchMetrics } from "./watch-metrics.ts";

/** What is read when somebody asks. */
export interface MetricsSources {
  readonly audit: AuditCounts;
  /** How many objects there are of each stored resource, and the revision its watch cache has come to. */
  objectCounts(): Iterable<readonly [GroupResource, count: number, revision: number]>;
  storageSizeBytes(): number;
  /** The fields of `/version`, in its order and under its names. */
  readonly build: Readonly<Record<string, string>>;
  /** Of the other parts. */
  readonly collectors?: readonly MetricsCollector[];
  /** What `/metrics/slis` has. */
  readonly slis?: MetricsCollector;
}

/** More metrics, read when somebody asks. */
export type MetricsCollector = () => Iterable<Metric>;

export interface Metrics {
  readonly requests: RequestMetrics;
  readonly watches: WatchMetrics;
  /** Serves `/metrics`. */
  handler(context: RequestContext): void;
  /** Serves `/metrics/slis`. */
  sliHandler(context: RequestContext): void;
}

/** @param show what is shown of them */
export function createMetrics(clock: Clock, sources: MetricsSources, show: ShowMetrics = (all) => [...all]): Metrics {
  const requests = requestMetrics(clock);
  const watches = watchMetrics(clock);
  const startedAt = clock.now() / 1000 - process.uptime();
  const answer = ({ exchange, auditId, gzip }: RequestContext, metrics: Metric[]): void => {
    const headers = {
      "audit-id": auditId,
      "cache-control": "no-cache, private",
      "content-type": expositionType,
      "process-start-time-unix": String(Math.floor(startedAt)),
    };
    const body = Buffer.from(formatMetrics(metrics.sort(byName)));
    if (gzip && body.length > gzipThresholdBytes) respondGzipped(exchange, 200, headers, body);
    else exchange.respond(200, headers, body);
  };
  return {
    requests,
    watches,
    sliHandler: (context) => answer(context, [...(sources.slis?.() ?? []), processStart(startedAt)]),
    handler(context) {
      const all = [
        ...requests.collect(),
        ...watches.collect(),
        ...storageMetrics(sources),
        ...auditMetrics(sources.audit),
        buildInfo(sources.build),
        ...processMetrics(startedAt),
        ...(sources.collectors ?? []).flatMap((collect) => [...collect()]),
      ];
      answer(context, show(all));
    },
  };
}

function storageMetrics(sources: MetricsSources): Metric[] {
  const counts = [...sources.objectCounts()];
  return [
    {
      name: "apiserver_storage_objects",
      type: "gauge",
      stability: "STABLE",
      deprecatedSince: "1.34.0",
      help: "Stored objects of each resource.",
      samples: counts.map(([resource, value]) => ({
        suffix: "",
        labels: formatLabels(["resource"], [formatGroupResource(resource)]),
        value,
      })),
    },
    {
      name: "apiserver_resource_objects",
      type: "gauge",
      stability: "ALPHA",
      help: "Stored objects of each resource.",
      samples: counts.map(([{ group, resource }, value]) => ({
        suffix: "",
        labels: formatLabels(["group", "resource"], [group, resource]),
        value,
      })),
    },
    {
      name: "apiserver_watch_cache_resource_version",
      type: "gauge",
      stability: "ALPHA",
      help: "The revision that the watch cache of each resource has come to.",
      samples: counts.map(([{ group, resource }, , value]) => ({
        suffix: "",
        labels: formatLabels(["group", "resource"], [group, resource]),
        value,
      })),
    },
    {
      name: "apiserver_storage_db_total_size_in_bytes",
      type: "gauge",
      stability: "ALPHA",
      deprecatedSince: "1.28.0",
      help: "Bytes that the store takes.",
      samples: [{ suffix: "", labels: formatLabels(["endpoint"], ["etcd-0"]), value: sources.storageSizeBytes() }],
    },
    {
      name: "apiserver_storage_size_bytes",
      type: "gauge",
      stability: "STABLE",
      help: "Bytes that the store takes.",
      samples: [
        { suffix: "", labels: formatLabels(["storage_cluster_id"], ["etcd-0"]), value: sources.storageSizeBytes() },
      ],
    },
  ];
}

const buildFields = {
  major: "major",
  minor: "minor",
  git_version: "gitVersion",
  git_commit: "gitCommit",
  git_tree_state: "gitTreeState",
  build_date: "buildDate",
  go_version: "goVersion",
  compiler: "compiler",
  platform: "platform",
} as const;

function buildInfo(build: Readonly<Record<string, string>>): Metric {
  const labels = formatLabels(
    Object.keys(buildFields),
    Object.values(buildFields).map((field) => build[field] ?? ""),
  );
  const help = "1, with what /version says as labels.";
  return {
    name: "kubernetes_build_info",
    type: "gauge",
    stability: "BETA",
    help,
    samples: [{ suffix: "", labels, value: 1 }],
  };
}

function byName(a: Metric, b: Metric): number {
  return a.name < b.name ? -1 : 1;
}
