/** The metrics of requests. Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/metrics/metrics.go. */
import type { Clock } from "../apimachinery/clock.ts";
import type { Filter } from "../request/context.ts";
import { isLongRunning } from "../request/request-info.ts";
import type { Metric } from "./exposition.ts";
import type { Histogram } from "./histogram.ts";
import type { MetricRows } from "./metric-row.ts";
import {
  type CountedRequest,
  type RequestLabels,
  requestLabelNames,
  requestLabels,
  terminationLabelNames,
  terminationLabels,
} from "./request-labels.ts";
import { Counters, distributed, Histograms, measured, newHistogram } from "./vectors.ts";

const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const serviceLevelBuckets = durationBuckets.filter((bound) => bound >= 0.05);
/** Those of reads and of long-running requests, which have no dry run. */
const readLabelNames = ["verb", "group", "version", "resource", "subresource", "scope", "component"] as const;

export const requestRows = {
  total: {
    name: "apiserver_request_total",
    type: "counter",
    stability: "STABLE",
    help: "Requests by verb, resource and status code.",
    labels: [...requestLabelNames, "code"],
  },
  durations: {
    name: "apiserver_request_duration_seconds",
    type: "histogram",
    stability: "STABLE",
    help: "Duration of requests in seconds, to the end of the response.",
    labels: requestLabelNames,
    buckets: durationBuckets,
  },
  serviceLevel: {
    name: "apiserver_request_sli_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of requests in seconds for service level indicators.",
    labels: readLabelNames,
    buckets: serviceLevelBuckets,
  },
  formerServiceLevel: {
    name: "apiserver_request_slo_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    deprecatedSince: "1.27.0",
    help: "Duration of requests in seconds for service level indicators.",
    labels: readLabelNames,
    buckets: serviceLevelBuckets,
  },
  aborts: {
    name: "apiserver_request_aborts_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests whose client closed the connection before the response.",
    labels: ["verb", "group", "version", "resource", "subresource", "scope"],
  },
  responseSizes: {
    name: "apiserver_response_sizes",
    type: "histogram",
    stability: "STABLE",
    help: "Size of responses to reads in bytes.",
    labels: readLabelNames,
    buckets: [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9],
  },
  bodySizes: {
    name: "apiserver_request_body_size_bytes",
    type: "histogram",
    stability: "ALPHA",
    help: "Size of request bodies of writes in bytes.",
    labels: ["group", "resource", "verb"],
    buckets: Array.from({ length: 31 }, (_, index) => 50_000 + index * 100_000),
  },
  fieldValidation: {
    name: "field_validation_request_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Always empty, as in kube-apiserver: one series for each requested value of fieldValidation.",
    labels: ["field_validation"],
    buckets: serviceLevelBuckets,
  },
  terminations: {
    name: "apiserver_request_terminations_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests that this server ended: by their timeout, by flow control, or without another server.",
    labels: terminationLabelNames,
  },
  longRunning: {
    name: "apiserver_longrunning_requests",
    type: "gauge",
    stability: "STABLE",
    help: "Current long-running requests.",
    labels: readLabelNames,
  },
  deprecated: {
    name: "apiserver_requested_deprecated_apis",
    type: "gauge",
    stability: "STABLE",
    help: "1 for each requested deprecated API.",
    labels: ["group", "version", "resource", "subresource", "removed_release"],
  },
} as const satisfies MetricRows;

/** For series that are merged from series, whose number the catalog bounds. */
const noMax = Number.POSITIVE_INFINITY;

/** The verbs of writes in the metric of body sizes. */
const bodyVerbs: Readonly<Record<string, string>> = {
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  APPLY: "patch",
  DELETE: "delete",
  DELETECOLLECTION: "delete_collection",
};
const fieldValidations: readonly string[] = ["", "Ignore", "Warn", "Strict"];

interface Series {
  readonly labels: RequestLabels;
  readonly byStatus: Map<number, number>;
  aborts: number;
  readonly duration: Histogram;
  /** As upstream, for gets and lists only. */
  readonly sizes: Histogram | undefined;
  /** The body sizes of writes. */
  readonly bodies: Histogram | undefined;
}

/** Records requests. */
export interface RequestMetrics {
  /** The first filter: observes a request until its exchange closes. */
  readonly filter: Filter<CountedRequest>;
  /** Records a request that was ended by its timeout (504), or rejected by flow control (429). */
  terminated(context: CountedRequest, code?: 429 | 504): void;
  /** Records a request for another server that this server has answered with an error. */
  notForwarded(context: CountedRequest, code: number): void;
  /** @returns the current metrics */
  collect(): Metric[];
}

/** @returns empty metrics; the catalog bounds the number of series */
export function requestMetrics(clock: Clock): RequestMetrics {
  const all = new Map<string, Series>();
  /** The removal release of each requested deprecated API, by the labels of a request. */
  const deprecated = new Map<string, string>();
  /** The requested values of `fieldValidation`. */
  const validations = new Set<string>();
  const terminations = new Counters(requestRows.terminations);
  const longRunning = new Set<CountedRequest>();

  function record(context: CountedRequest): void {
    const key = requestLabels(context);
    if (key === undefined) return;
    let series = all.get(key);
    if (series === undefined) {
      series = newSeries(splitLabels(key));
      all.set(key, series);
    }
    const deprecation = context.resolved?.version.deprecated; // A definition can change later.
    if (deprecation !== undefined && !deprecated.has(key)) deprecated.set(key, deprecation.removedIn ?? "");
    const { status, sentBytes, receivedBytes, target } = context.exchange;
    validations.add(target.includes("fieldValidation") ? fieldValidationOf(context.info.query) : "");
    if (status === 0) {
      series.aborts++; // The client closed the connection before the response.
      return;
    }
    const code = status === 101 ? 0 : status; // Upstream does not see the response of a connection that is released.
    series.byStatus.set(code, (series.byStatus.get(code) ?? 0) + 1);
    series.duration.observe((clock.now() - context.receivedAt) / 1000);
    series.sizes?.observe(sentBytes);
    if (receivedBytes >= 0) series.bodies?.observe(receivedBytes);
  }

  return {
    filter(context) {
      if (isLongRunning(context.info)) {
        longRunning.add(context);
        return context.exchange.onClose(() => {
          longRunning.delete(context);
          record(context);
        });
      }
      context.exchange.onClose(() => record(context));
    },
    terminated: (context, code = 504) => terminations.count(terminationLabels(context, code)),
    notForwarded: (context, code) => terminations.count(terminationLabels(context, code, "aggregator")),
    collect: () => [
      requestTotal(all.values()),
      distributed(
        requestRows.durations,
        Array.from(all.values(), ({ labels, duration }) => [labels, duration] as const),
      ),
      ...serviceLevelDurations(all.values()),
      requestAborts(all.values()),
      responseSizes(all.values()),
      requestBodySizes(all.values()),
      fieldValidationDurations(validations),
      terminations.metric(),
      openLongRunning(longRunning),
      requestedDeprecated(deprecated),
    ],
  };
}

/** @param key the result of `requestLabels` */
const splitLabels = (key: string): RequestLabels => key.split(" ") as unknown as RequestLabels;

function newSeries(labels: RequestLabels): Series {
  const [verb] = labels;
  const isRead = verb === "GET" || verb === "LIST";
  return {
    labels,
    byStatus: new Map(),
    aborts: 0,
    duration: newHistogram(requestRows.durations),
    sizes: isRead ? newHistogram(requestRows.responseSizes) : undefined,
    bodies: Object.hasOwn(bodyVerbs, verb) ? newHistogram(requestRows.bodySizes) : undefined,
  };
}

function requestTotal(all: Iterable<Series>): Metric {
  return measured(
    requestRows.total,
    [...all].flatMap(({ labels, byStatus }) =>
      Array.from(byStatus, ([status, count]) => [[...labels, String(status)], count] as const),
    ),
  );
}

/**
 * The durations without watches and dry runs. Upstream subtracts the time of webhooks and priority
 * and fairness queues; here it is included. Merged for each scrape, because the buckets are a
 * subset of those of request durations.
 */
function serviceLevelDurations(all: Iterable<Series>): Metric[] {
  const merged = new Histograms(requestRows.serviceLevel, noMax);
  for (const { labels, duration } of all) {
    const [verb, dryRun] = labels;
    if (verb !== "WATCH" && dryRun === "") merged.merge(withoutDryRun(labels), duration);
  }
  const metric = merged.metric();
  return [metric, { ...metric, ...requestRows.formerServiceLevel }];
}

function requestAborts(all: Iterable<Series>): Metric {
  const counts = new Counters(requestRows.aborts, noMax);
  for (const { labels, aborts } of all) {
    const [verb, , group, version, resource, subresource, scope] = labels;
    if (aborts > 0) counts.count([verb, group, version, resource, subresource, scope], aborts);
  }
  return counts.metric();
}

function responseSizes(all: Iterable<Series>): Metric {
  return distributed(
    requestRows.responseSizes,
    [...all].flatMap(({ labels, sizes }) => (sizes === undefined ? [] : [[withoutDryRun(labels), sizes] as const])),
  );
}

function requestBodySizes(all: Iterable<Series>): Metric {
  const merged = new Histograms(requestRows.bodySizes, noMax);
  for (const { labels, bodies } of all) {
    const [verb, , group, , resource] = labels;
    if (bodies !== undefined && bodies.count > 0) merged.merge([group, resource, bodyVerbs[verb] as string], bodies);
  }
  return merged.metric();
}

/** @returns an empty string for unsupported values, as upstream */
function fieldValidationOf(query: URLSearchParams): string {
  const values = query.getAll("fieldValidation");
  return values.length === 1 && fieldValidations.includes(values[0] as string) ? (values[0] as string) : "";
}

/** Upstream exposes these series and never records values. */
function fieldValidationDurations(values: Iterable<string>): Metric {
  const empty = newHistogram(requestRows.fieldValidation);
  return distributed(
    requestRows.fieldValidation,
    Array.from(values, (value) => [[value], empty] as const),
  );
}

function openLongRunning(open: Iterable<CountedRequest>): Metric {
  const counts = new Counters(requestRows.longRunning, noMax);
  for (const context of open) {
    const key = requestLabels(context);
    if (key !== undefined) counts.count(withoutDryRun(splitLabels(key)));
  }
  return counts.metric();
}

function requestedDeprecated(removedIn: ReadonlyMap<string, string>): Metric {
  const requested = new Map<string, readonly [RequestLabels, release: string]>();
  for (const [key, release] of removedIn) {
    const labels = splitLabels(key);
    requested.set(`${labels.slice(2, 6).join(" ")} ${release}`, [labels, release]);
  }
  return measured(
    requestRows.deprecated,
    Array.from(
      requested.values(),
      ([[, , group, version, resource, subresource], release]) =>
        [[group, version, resource, subresource, release], 1] as const,
    ),
  );
}

function withoutDryRun([verb, , ...rest]: RequestLabels) {
  return [verb, ...rest] as const;
}
