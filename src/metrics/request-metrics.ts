/** The metrics of requests. Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/metrics/metrics.go. */
import type { Clock } from "../apimachinery/clock.ts";
import type { Filter } from "../request/context.ts";
import { isLongRunning } from "../request/request-info.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";
import { type CountedRequest, requestLabelNames, requestLabels, terminationLabels } from "./request-labels.ts";
import { Counters } from "./vectors.ts";

const durationBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const serviceLevelBounds = durationBounds.filter((bound) => bound >= 0.05);
const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const bodyBounds = Array.from({ length: 31 }, (_, index) => 50_000 + index * 100_000);
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
  readonly labels: readonly string[];
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
  const terminations = new Counters();
  const longRunning = new Set<CountedRequest>();

  function record(context: CountedRequest): void {
    const key = requestLabels(context);
    if (key === undefined) return;
    let series = all.get(key);
    if (series === undefined) {
      series = newSeries(key.split(" "));
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
      requestDuration(all.values()),
      ...serviceLevelDurations(all.values()),
      requestAborts(all.values()),
      responseSizes(all.values()),
      requestBodySizes(all.values()),
      fieldValidationDurations(validations),
      requestTerminations(terminations),
      openLongRunning(longRunning),
      requestedDeprecated(deprecated),
    ],
  };
}

function requestTerminations(terminations: Counters): Metric {
  return {
    name: "apiserver_request_terminations_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests that this server ended: by their timeout, by flow control, or without another server.",
    samples: terminations.samples(),
  };
}

function newSeries(labels: readonly string[]): Series {
  const [verb = ""] = labels;
  const isRead = verb === "GET" || verb === "LIST";
  return {
    labels,
    byStatus: new Map(),
    aborts: 0,
    duration: new Histogram(durationBounds),
    sizes: isRead ? new Histogram(sizeBounds) : undefined,
    bodies: Object.hasOwn(bodyVerbs, verb) ? new Histogram(bodyBounds) : undefined,
  };
}

function requestTotal(all: Iterable<Series>): Metric {
  const samples: Sample[] = [];
  for (const { labels, byStatus } of all) {
    for (const [status, value] of byStatus)
      samples.push({
        suffix: "",
        labels: formatLabels([...requestLabelNames, "code"], [...labels, String(status)]),
        value,
      });
  }
  return {
    name: "apiserver_request_total",
    type: "counter",
    stability: "STABLE",
    help: "Requests by verb, resource and status code.",
    samples,
  };
}

function requestDuration(all: Iterable<Series>): Metric {
  const samples: Sample[] = [];
  for (const { labels, duration } of all) samples.push(...duration.samples(formatLabels(requestLabelNames, labels)));
  return {
    name: "apiserver_request_duration_seconds",
    type: "histogram",
    stability: "STABLE",
    help: "Duration of requests in seconds, to the end of the response.",
    samples,
  };
}

/**
 * The durations without watches and dry runs. Upstream subtracts the time of webhooks and priority
 * and fairness queues; here it is included. Merged for each scrape, because the buckets are a
 * subset of those of request durations.
 */
function serviceLevelDurations(all: Iterable<Series>): Metric[] {
  const merged = new Map<string, Histogram>();
  for (const { labels, duration } of all) {
    if (labels[0] === "WATCH" || labels[1] !== "") continue;
    const key = formatLabels(readLabelNames, withoutDryRun(labels));
    const histogram = merged.get(key) ?? new Histogram(serviceLevelBounds);
    histogram.add(duration);
    merged.set(key, histogram);
  }
  const samples = [...merged].flatMap(([labels, histogram]) => [...histogram.samples(labels)]);
  const help = "Duration of requests in seconds for service level indicators.";
  const type = "histogram";
  const stability = "ALPHA";
  return [
    { name: "apiserver_request_sli_duration_seconds", type, stability, help, samples },
    { name: "apiserver_request_slo_duration_seconds", type, stability, deprecatedSince: "1.27.0", help, samples },
  ];
}

function requestAborts(all: Iterable<Series>): Metric {
  const counts = new Map<string, number>();
  for (const { labels, aborts } of all) {
    const [verb = "", , group = "", version = "", resource = "", subresource = "", scope = ""] = labels;
    const key = formatLabels(
      ["verb", "group", "version", "resource", "subresource", "scope"],
      [verb, group, version, resource, subresource, scope],
    );
    if (aborts > 0) counts.set(key, (counts.get(key) ?? 0) + aborts);
  }
  const samples = [...counts].map(([labels, value]) => ({ suffix: "", labels, value }));
  const help = "Requests whose client closed the connection before the response.";
  return { name: "apiserver_request_aborts_total", type: "counter", stability: "ALPHA", help, samples };
}

function responseSizes(all: Iterable<Series>): Metric {
  const samples: Sample[] = [];
  for (const { labels, sizes } of all) {
    if (sizes !== undefined) samples.push(...sizes.samples(formatLabels(readLabelNames, withoutDryRun(labels))));
  }
  return {
    name: "apiserver_response_sizes",
    type: "histogram",
    stability: "STABLE",
    help: "Size of responses to reads in bytes.",
    samples,
  };
}

function requestBodySizes(all: Iterable<Series>): Metric {
  const merged = new Map<string, Histogram>();
  for (const { labels, bodies } of all) {
    if (bodies === undefined || bodies.count === 0) continue;
    const [verb = "", , group = "", , resource = ""] = labels;
    const key = formatLabels(["group", "resource", "verb"], [group, resource, bodyVerbs[verb] as string]);
    const histogram = merged.get(key) ?? new Histogram(bodyBounds);
    histogram.add(bodies);
    merged.set(key, histogram);
  }
  const samples = [...merged].flatMap(([labels, histogram]) => [...histogram.samples(labels)]);
  return {
    name: "apiserver_request_body_size_bytes",
    type: "histogram",
    stability: "ALPHA",
    help: "Size of request bodies of writes in bytes.",
    samples,
  };
}

/** @returns an empty string for unsupported values, as upstream */
function fieldValidationOf(query: URLSearchParams): string {
  const values = query.getAll("fieldValidation");
  return values.length === 1 && fieldValidations.includes(values[0] as string) ? (values[0] as string) : "";
}

/** Upstream exposes these series and never records values. */
function fieldValidationDurations(values: Iterable<string>): Metric {
  const empty = new Histogram(serviceLevelBounds);
  const samples = Array.from(values, (value) => [...empty.samples(formatLabels(["field_validation"], [value]))]).flat();
  const help = "Always empty, as in kube-apiserver: one series for each requested value of fieldValidation.";
  return { name: "field_validation_request_duration_seconds", type: "histogram", stability: "ALPHA", help, samples };
}

function openLongRunning(open: Iterable<CountedRequest>): Metric {
  const counts = new Map<string, number>();
  for (const context of open) {
    const key = requestLabels(context);
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const samples = [...counts].map(([key, value]) => ({
    suffix: "",
    labels: formatLabels(readLabelNames, withoutDryRun(key.split(" "))),
    value,
  }));
  return {
    name: "apiserver_longrunning_requests",
    type: "gauge",
    stability: "STABLE",
    help: "Current long-running requests.",
    samples,
  };
}

function requestedDeprecated(removedIn: ReadonlyMap<string, string>): Metric {
  const samples = new Map<string, Sample>();
  for (const [key, release] of removedIn) {
    const [, , group = "", version = "", resource = "", subresource = ""] = key.split(" ");
    const labels = formatLabels(
      ["group", "version", "resource", "subresource", "removed_release"],
      [group, version, resource, subresource, release],
    );
    samples.set(labels, { suffix: "", labels, value: 1 });
  }
  const help = "1 for each requested deprecated API.";
  return {
    name: "apiserver_requested_deprecated_apis",
    type: "gauge",
    stability: "STABLE",
    help,
    samples: [...samples.values()],
  };
}

/** The label names of metrics without the label `dry_run`. */
const readLabelNames = withoutDryRun(requestLabelNames);

function withoutDryRun(labels: readonly string[]): string[] {
  return labels.filter((_, index) => index !== 1);
}
