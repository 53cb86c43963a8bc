/**
 * The endpoint `/metrics`, with upstream's names. No library is used, because its counters are
 * slower than the routing of a request.
 */
import type { Clock } from "../apimachinery/clock.ts";
import { formatGroupResource, type GroupResource } from "../apimachinery/object.ts";
import type { AuditCounts } from "../audit/contract.ts";
import type { RequestState } from "../request/context.ts";
import { gzipThresholdBytes, respondGzipped } from "../request/gzip.ts";
import { auditMetrics } from "./audit-metrics.ts";
import { expositionType, formatMetrics, type Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { processMetrics, processStart } from "./process-metrics.ts";
import { type RequestMetrics, requestMetrics } from "./request-metrics.ts";
import type { ShowMetrics } from "./shown-metrics.ts";
import { measured } from "./vectors.ts";
import { type WatchMetrics, watchMetrics } from "./watch-metrics.ts";

export const serverRows = {
  storageObjects: {
    name: "apiserver_storage_objects",
    type: "gauge",
    stability: "STABLE",
    deprecatedSince: "1.34.0",
    help: "Stored objects of each resource; -1 if they could not be counted.",
    labels: ["resource"],
  },
  resourceObjects: {
    name: "apiserver_resource_objects",
    type: "gauge",
    stability: "ALPHA",
    help: "Stored objects of each resource; -1 if they could not be counted.",
    labels: ["group", "resource"],
  },
  cacheRevisions: {
    name: "apiserver_watch_cache_resource_version",
    type: "gauge",
    stability: "ALPHA",
    help: "Revision of the watch cache of each resource.",
    labels: ["group", "resource"],
  },
  storageSizes: {
    name: "apiserver_storage_size_bytes",
    type: "gauge",
    stability: "STABLE",
    help: "Size of the storage in bytes.",
    labels: ["storage_cluster_id"],
  },
  build: {
    name: "kubernetes_build_info",
    type: "gauge",
    stability: "BETA",
    help: "Always 1, with the fields of /version as labels.",
    labels: [
      "major",
      "minor",
      "git_version",
      "git_commit",
      "git_tree_state",
      "build_date",
      "go_version",
      "compiler",
      "platform",
    ],
  },
  version: {
    name: "version_info",
    type: "gauge",
    stability: "ALPHA",
    help: "Always 1, with the releases of the binary and of its emulated behavior as labels.",
    labels: ["binary", "component", "emulation", "min_compat"],
  },
} as const satisfies MetricRows;

/** The sources that are read for each scrape. */
export interface MetricsSources {
  readonly audit: AuditCounts;
  /** The number of objects of each stored resource. */
  objectCounts(): Iterable<readonly [GroupResource, count: number]>;
  /** The revision of each watch cache. */
  cacheRevisions(): Iterable<readonly [GroupResource, revision: number]>;
  /** The sizes of the clusters that storage consists of; undefined for one that does not answer. */
  storageSizesBytes(): Promise<readonly (number | undefined)[]>;
  /** The fields of `/version`. */
  readonly build: Readonly<Record<string, string>>;
  /** The collectors of other components. */
  readonly collectors?: readonly MetricsCollector[];
  /** The metrics of `/metrics/slis`. */
  readonly slis?: MetricsCollector;
}

/** Returns the current metrics of a component. */
export type MetricsCollector = () => Iterable<Metric>;

/** The metrics of a server. */
export interface Metrics {
  readonly requests: RequestMetrics;
  readonly watches: WatchMetrics;
  /** Serves `/metrics`. */
  handler(context: RequestState): Promise<void>;
  /** Serves `/metrics/slis`. */
  sliHandler(context: RequestState): void;
}

/** @param show selects the metrics that are shown */
export function createMetrics(clock: Clock, sources: MetricsSources, show: ShowMetrics = (all) => [...all]): Metrics {
  const requests = requestMetrics(clock);
  const watches = watchMetrics(clock);
  const startedAt = clock.now() / 1000 - process.uptime();
  const respond = ({ exchange, auditId, gzip, headers: common }: RequestState, metrics: Metric[]): void => {
    const headers = {
      "audit-id": auditId,
      "cache-control": "no-cache, private",
      "content-type": expositionType,
      "process-start-time-unix": String(Math.floor(startedAt)),
      ...common,
    };
    const body = Buffer.from(formatMetrics(metrics.sort(byName)));
    if (gzip && body.length > gzipThresholdBytes) respondGzipped(exchange, 200, headers, body);
    else exchange.respond(200, headers, body);
  };
  return {
    requests,
    watches,
    sliHandler: (context) => respond(context, [...(sources.slis?.() ?? []), processStart(startedAt)]),
    async handler(context) {
      const sizes = storageSizes(await sources.storageSizesBytes());
      const all = [
        ...requests.collect(),
        ...watches.collect(),
        ...storageMetrics(sources),
        sizes,
        ...auditMetrics(sources.audit),
        buildInfo(sources.build),
        versionInfo(sources.build),
        ...processMetrics(startedAt),
        ...(sources.collectors ?? []).flatMap((collect) => [...collect()]),
      ];
      respond(context, show(all));
    },
  };
}

function storageMetrics(sources: MetricsSources): Metric[] {
  const counts = [...sources.objectCounts()];
  return [
    measured(
      serverRows.storageObjects,
      counts.map(([resource, count]) => [[formatGroupResource(resource)], count]),
    ),
    measured(
      serverRows.resourceObjects,
      counts.map(([{ group, resource }, count]) => [[group, resource], count]),
    ),
    measured(
      serverRows.cacheRevisions,
      Array.from(sources.cacheRevisions(), ([{ group, resource }, revision]) => [[group, resource], revision] as const),
    ),
  ];
}

/** A cluster that does not answer is left out. */
function storageSizes(sizes: readonly (number | undefined)[]): Metric {
  return measured(
    serverRows.storageSizes,
    sizes.flatMap((bytes, at) => (bytes === undefined ? [] : [[[`etcd-${at}`], bytes] as const])),
  );
}

function buildInfo(build: Readonly<Record<string, string>>): Metric {
  const field = (name: string): string => build[name] ?? "";
  const labels = [
    field("major"),
    field("minor"),
    field("gitVersion"),
    field("gitCommit"),
    field("gitTreeState"),
    field("buildDate"),
    field("goVersion"),
    field("compiler"),
    field("platform"),
  ] as const;
  return measured(serverRows.build, [[labels, 1]]);
}

/** The release that this server behaves as. */
function versionInfo(build: Readonly<Record<string, string>>): Metric {
  const { major, minor, emulationMajor, emulationMinor, minCompatibilityMajor, minCompatibilityMinor } = build;
  const emulated = `${emulationMajor}.${emulationMinor}`;
  const compatible = `${minCompatibilityMajor}.${minCompatibilityMinor}`;
  return measured(serverRows.version, [[[`${major}.${minor}.0`, "kube", emulated, compatible], 1]]);
}

function byName(a: Metric, b: Metric): number {
  return a.name < b.name ? -1 : 1;
}
