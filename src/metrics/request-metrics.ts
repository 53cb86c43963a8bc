/** Counts requests, their duration and the size of what was read. Source: apiserver's endpoints/metrics. */
import type { Clock } from "../apimachinery/clock.ts";
import type { Filter, RequestContext } from "../http/contract.ts";
import { isLongRunning } from "../http/request-info.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";
import { requestLabelNames, requestLabels, terminationLabels } from "./request-labels.ts";
import { Counters } from "./vectors.ts";

const durationBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const serviceLevelBounds = durationBounds.filter((bound) => bound >= 0.05);
const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const bodyBounds = Array.from({ length: 31 }, (_, index) => 50_000 + index * 100_000);
/** What upstream calls writes where it tells of their bodies. */
const bodyVerbs: Readonly<Record<string, string>> = {
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  APPLY: "patch",
  DELETE: "delete",
  DELETECOLLECTION: "delete_collection",
};
const fieldValidations: readonly string[] = ["", "Ignore", "Warn", "Strict"];
const readOnlyVerbs = new Set(["get", "list", "watch", "head", "options"]);

interface Series {
  readonly labels: readonly string[];
  readonly byStatus: Map<number, number>;
  aborts: number;
  readonly duration: Histogram;
  /** Of gets and lists only, as upstream does. */
  readonly sizes: Histogram | undefined;
  /** Of the bodies of writes. */
  readonly bodies: Histogram | undefined;
}

export interface RequestMetrics {
  /** The first filter: counts the request from here until its exchange closes. */
  readonly filter: Filter;
  /** A request was ended because it took too long. */
  terminated(context: RequestContext): void;
  collect(): Metric[];
}

/** One series per distinct set of labels; these come from the catalogue, which bounds them. */
export function requestMetrics(clock: Clock): RequestMetrics {
  const all = new Map<string, Series>();
  /** One request each as a sample, by its labels. */
  const deprecated = new Map<string, string>();
  /** The values of `fieldValidation` that there were. */
  const validations = new Set<string>();
  const terminations = new Counters();
  const longRunning = new Set<RequestContext>();
  const inFlight = { mutating: 0, readOnly: 0 };

  function record(context: RequestContext): void {
    const key = requestLabels(context);
    if (key === undefined) return;
    let series = all.get(key);
    if (series === undefined) {
      series = newSeries(key.split(" "));
      all.set(key, series);
    }
    const gone = context.resolved?.version.deprecated; // A definition may come to say so later.
    if (gone !== undefined && !deprecated.has(key)) deprecated.set(key, gone.removedIn ?? "");
    const { status, sentBytes, receivedBytes, target } = context.exchange;
    validations.add(target.includes("fieldValidation") ? fieldValidationOf(context.info.query) : "");
    if (status === 0) {
      series.aborts++; // The client went before there was an answer.
      return;
    }
    series.byStatus.set(status, (series.byStatus.get(status) ?? 0) + 1);
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
      const kind = readOnlyVerbs.has(context.info.verb) ? "readOnly" : "mutating";
      inFlight[kind]++;
      context.exchange.onClose(() => {
        inFlight[kind]--;
        record(context);
      });
    },
    terminated: (context) => terminations.count(terminationLabels(context, 504)),
    collect: () => [
      requestTotal(all.values()),
      requestDuration(all.values()),
      ...serviceLevelDurations(all.values()),
      requestAborts(all.values()),
      responseSizes(all.values()),
      requestBodySizes(all.values()),
      fieldValidationDurations(validations),
      {
        name: "apiserver_request_terminations_total",
        type: "counter",
        stability: "ALPHA",
        help: "Requests that were ended because they took too long.",
        samples: terminations.samples(),
      },
      currentInFlight(inFlight),
      openLongRunning(longRunning),
      requestedDeprecated(deprecated),
    ],
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
    help: "Requests answered, by what was asked and the HTTP status.",
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
    help: "Seconds from a request to the end of its answer.",
    samples,
  };
}

/**
 * The same durations without the time that webhooks and queues took, of which there is none yet; without watches and dry runs.
 * They are made when they are asked for, since their buckets are some of those that are counted.
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
  const help = "Seconds from a request to the end of its answer, without the time that webhooks and queues took.";
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
  const help = "Requests whose client went before there was an answer.";
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
    help: "Bytes of the answers to reads.",
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
    help: "Bytes of the bodies of writes.",
    samples,
  };
}

/** What upstream does not know is as nothing at all. */
function fieldValidationOf(query: URLSearchParams): string {
  const given = query.getAll("fieldValidation");
  return given.length === 1 && fieldValidations.includes(given[0] as string) ? (given[0] as string) : "";
}

/** Upstream shows the series and never adds to them. */
function fieldValidationDurations(values: Iterable<string>): Metric {
  const none = new Histogram(serviceLevelBounds);
  const samples = Array.from(values, (value) => [...none.samples(formatLabels(["field_validation"], [value]))]).flat();
  const help = "Nothing is counted here, as by kube-apiserver: a series for each value of fieldValidation there was.";
  return { name: "field_validation_request_duration_seconds", type: "histogram", stability: "ALPHA", help, samples };
}

function currentInFlight(inFlight: Readonly<Record<string, number>>): Metric {
  const samples = Object.entries(inFlight).map(([kind, value]) => ({
    suffix: "",
    labels: formatLabels(["request_kind"], [kind]),
    value,
  }));
  const help = "Requests being answered, watches and open connections aside.";
  return { name: "apiserver_current_inflight_requests", type: "gauge", stability: "STABLE", help, samples };
}

function openLongRunning(open: Iterable<RequestContext>): Metric {
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
    help: "Watches and connections that are open.",
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
  const help = "1 for each deprecated API that was asked for.";
  return {
    name: "apiserver_requested_deprecated_apis",
    type: "gauge",
    stability: "STABLE",
    help,
    samples: [...samples.values()],
  };
}

/** Reads have no dry run. */
const readLabelNames = withoutDryRun(requestLabelNames);

function withoutDryRun(labels: readonly string[]): string[] {
  return labels.filter((_, index) => index !== 1);
}
