/**
 * The metrics of flow control. Their series go with the objects that their labels name.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/metrics/metrics.go.
 */
import type { FlowControlObserver, RequestKind } from "../flow-control/contract.ts";
import type { Progress } from "../lib/fair-queuing/contract.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { LevelCounts, type SchemaCounts } from "./flow-control-level.ts";
import type { Histogram } from "./histogram.ts";
import { InFlightWatermarks } from "./in-flight-watermarks.ts";
import { TimingHistogram } from "./timing-histogram.ts";

interface FlowControlMetrics {
  readonly observer: FlowControlObserver;
  collect(): Metric[];
}

type About = Pick<Metric, "name" | "type" | "stability" | "help" | "deprecatedSince">;
type LevelGauge = readonly [about: About, value: (level: LevelCounts) => number];

const readWriteBounds = [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const schemaLabels = ["priority_level", "flow_schema"];

/** @param now milliseconds since any fixed time, with fractions */
export function flowControlMetrics(now: () => number): FlowControlMetrics {
  const levels = new Set<LevelCounts>();
  const phases = { waiting: phaseCounts(now), executing: phaseCounts(now) };
  let fairFraction = 0;
  const count = (phase: "waiting" | "executing", kind: RequestKind, change: 1 | -1): void => {
    const { marks, ratios } = phases[phase];
    const at = now();
    ratios[kind].set(marks.change(kind, change, at), at);
  };
  return {
    observer: {
      level(name, progress) {
        const counts = new LevelCounts(name, { progress, now, removed: (self) => levels.delete(self) });
        levels.add(counts);
        return counts;
      },
      fairFraction: (fraction) => {
        fairFraction = fraction;
      },
      capacity(executing, waiting) {
        for (const [phase, limit] of [[phases.executing, executing] as const, [phases.waiting, waiting] as const])
          for (const ratio of Object.values(phase.ratios)) ratio.setDenominator(Math.max(1, limit));
      },
      waiting: (kind, change) => count("waiting", kind, change),
      executing: (kind, change) => count("executing", kind, change),
    },
    collect: () => [
      ...levelGauges.map(([about, value]) => levelMetric(about, levels, value)),
      ...levelHistograms(levels),
      ...schemaMetrics(levels),
      {
        ...metric("seat_fair_frac", "ALPHA", "Fraction of its target that each priority level gets."),
        samples: [...levels].length === 0 ? [] : [{ suffix: "", labels: "", value: fairFraction }],
      },
      {
        ...metric("read_vs_write_current_requests", "ALPHA", "Requests as a fraction of the limit, over time."),
        type: "histogram",
        samples: Object.entries(phases).flatMap(([phase, { ratios }]) =>
          Object.entries(ratios).flatMap(([kind, ratio]) => [
            ...ratio.samples(formatLabels(["phase", "request_kind"], [phase, kind])),
          ]),
        ),
      },
      {
        name: "apiserver_current_inflight_requests",
        type: "gauge",
        stability: "STABLE",
        help: "The most requests that executed at once in the last second, without long-running ones.",
        samples: phases.executing.marks.samples(),
      },
      {
        name: "apiserver_current_inqueue_requests",
        type: "gauge",
        stability: "ALPHA",
        help: "The most requests that waited at once in the last second.",
        samples: phases.waiting.marks.samples(),
      },
    ],
  };
}

function phaseCounts(now: () => number) {
  return {
    marks: new InFlightWatermarks(now),
    ratios: {
      mutating: new TimingHistogram(readWriteBounds, now),
      readOnly: new TimingHistogram(readWriteBounds, now),
    },
  };
}

function metric(name: string, stability: "ALPHA" | "BETA", help: string, deprecatedSince?: string): About {
  const about = { name: `apiserver_flowcontrol_${name}`, type: "gauge", stability, help } as const;
  return deprecatedSince === undefined ? about : { ...about, deprecatedSince };
}

const nominal = "Configured seats of each priority level.";
const levelGauges: readonly LevelGauge[] = [
  [metric("nominal_limit_seats", "BETA", nominal), ({ limits }) => limits.nominal],
  [metric("request_concurrency_limit", "ALPHA", nominal, "1.30.0"), ({ limits }) => limits.nominal],
  [metric("lower_limit_seats", "ALPHA", "Seats that each level does not lend."), ({ limits }) => limits.min],
  [metric("upper_limit_seats", "ALPHA", "Seats of each level with those it can borrow."), ({ limits }) => limits.max],
  [metric("current_limit_seats", "ALPHA", "Seats of each level now."), ({ adjustment }) => adjustment.current],
  [
    metric("demand_seats_high_watermark", "ALPHA", "The most seats that the level needed in the last period."),
    ({ adjustment }) => adjustment.demandHighWatermark,
  ],
  [
    metric("demand_seats_average", "ALPHA", "The average of the seats that the level needed in the last period."),
    ({ adjustment }) => adjustment.demandAverage,
  ],
  [
    metric("demand_seats_stdev", "ALPHA", "The deviation of the seats that the level needed in the last period."),
    ({ adjustment }) => adjustment.demandDeviation,
  ],
  [metric("demand_seats_smoothed", "ALPHA", "Smoothed demand."), ({ adjustment }) => adjustment.demandSmoothed],
  [metric("target_seats", "ALPHA", "Seats that each level should get."), ({ adjustment }) => adjustment.target],
  [metric("current_r", "ALPHA", "Virtual time of the queues."), ({ progress }) => progress().current],
  [metric("dispatch_r", "ALPHA", "Virtual time of the last dispatch."), ({ progress }) => progress().dispatch],
  [
    metric("latest_s", "ALPHA", "Virtual start of the request that was dispatched last."),
    ({ progress }) => progress().latestStart,
  ],
];

function levelMetric(about: About, levels: Iterable<LevelCounts>, value: LevelGauge[1]): Metric {
  const samples = [...levels].map((level) => ({ suffix: "", labels: labelsOf(level), value: value(level) }));
  return { ...about, samples };
}

const labelsOf = ({ name }: LevelCounts): string => formatLabels(["priority_level"], [name]);

function levelHistograms(levels: ReadonlySet<LevelCounts>): Metric[] {
  const all = [...levels];
  return [
    {
      ...metric("priority_level_seat_utilization", "ALPHA", "Seats in use as a fraction of the limit, over time."),
      type: "histogram",
      samples: all.flatMap(({ name, seatUtilization }) => [
        ...seatUtilization.samples(formatLabels(["phase", "priority_level"], ["executing", name])),
      ]),
    },
    {
      ...metric("priority_level_request_utilization", "ALPHA", "Requests as a fraction of the limit, over time."),
      type: "histogram",
      samples: all.flatMap(({ name, phases }) =>
        Object.entries(phases).flatMap(([phase, ratio]) => [
          ...ratio.samples(formatLabels(["phase", "priority_level"], [phase, name])),
        ]),
      ),
    },
    {
      ...metric("demand_seats", "ALPHA", "Seats that the level needs as a fraction of its limit, over time."),
      type: "histogram",
      samples: all.flatMap((level) => [...level.demand.samples(labelsOf(level))]),
    },
    {
      ...metric("epoch_advance_total", "ALPHA", "Times that the virtual time was wound back."),
      type: "counter",
      samples: all
        .filter(({ epochAdvances }) => epochAdvances > 0)
        .map(({ name, epochAdvances: value }) => ({
          suffix: "",
          labels: formatLabels(["priority_level", "success"], [name, "true"]),
          value,
        })),
    },
    boundsMetric("next_s_bounds", "Virtual starts of the queues.", all, (progress) => [
      progress.nextStartMin,
      progress.nextStartMax,
    ]),
    boundsMetric(
      "next_discounted_s_bounds",
      "Virtual starts of the queues without work in progress.",
      all,
      (progress) => [progress.discountedMin, progress.discountedMax],
    ),
  ];
}

function boundsMetric(
  name: string,
  help: string,
  levels: readonly LevelCounts[],
  boundsOf: (progress: Progress) => readonly [number, number],
): Metric {
  const samples = levels.flatMap((level) => {
    const values = boundsOf(level.progress());
    return ["min", "max"].map((bound, index) => ({
      suffix: "",
      labels: formatLabels(["priority_level", "bound"], [level.name, bound]),
      value: values[index] as number,
    }));
  });
  return { ...metric(name, "ALPHA", help), samples };
}

/** A flow schema at a level, with its encoded labels. */
interface SchemaSeries {
  readonly level: string;
  readonly schema: SchemaCounts;
  readonly labels: string;
}

const seatsInUse = "Seats in use. The seats of a watch are in use until its first objects are sent.";
const schemaGauges: readonly (readonly [about: About, value: (schema: SchemaCounts) => number])[] = [
  [metric("current_inqueue_requests", "BETA", "Waiting requests."), (schema) => schema.waitingRequests],
  [metric("current_inqueue_seats", "ALPHA", "Seats of waiting requests."), (schema) => schema.waitingSeats],
  [metric("current_executing_requests", "BETA", "Executing requests."), (schema) => schema.executingRequests],
  [metric("current_executing_seats", "BETA", seatsInUse), (schema) => schema.executingSeats],
  [metric("request_concurrency_in_use", "ALPHA", seatsInUse, "1.31.0"), (schema) => schema.executingSeats],
];
const schemaCounters: typeof schemaGauges = [
  [metric("dispatched_requests_total", "BETA", "Requests that were executed."), (schema) => schema.dispatches],
  [
    metric(
      "request_dispatch_no_accommodation_total",
      "ALPHA",
      "Times that a request needed more seats than were free.",
    ),
    (schema) => schema.notAccommodated,
  ],
];

/** Histograms by the value of an additional label. */
interface SchemaHistogram {
  readonly about: About;
  readonly label?: string;
  readonly of: (schema: SchemaCounts) => Readonly<Record<string, Histogram>>;
}

const schemaHistograms: readonly SchemaHistogram[] = [
  {
    about: metric("request_queue_length_after_enqueue", "ALPHA", "Length of the queue that a request has entered."),
    of: ({ lengths }) => ({ "": lengths }),
  },
  {
    about: metric("request_wait_duration_seconds", "BETA", "Time that a request has waited."),
    label: "execute",
    of: ({ waits }) => waits,
  },
  {
    about: metric("request_execution_seconds", "ALPHA", "Time that a request has executed."),
    label: "type",
    of: ({ executions }) => executions,
  },
  {
    about: metric("watch_count_samples", "ALPHA", "Watches that a write concerns."),
    of: ({ watches }) => ({ "": watches }),
  },
  {
    about: metric("work_estimated_seats", "ALPHA", "Estimated seats of a request."),
    of: ({ seats }) => ({ "": seats }),
  },
];

function schemaMetrics(levels: ReadonlySet<LevelCounts>): Metric[] {
  const all = [...levels].flatMap(({ name, schemas }) =>
    Array.from(schemas, (schema) => ({ level: name, schema, labels: formatLabels(schemaLabels, [name, schema.name]) })),
  );
  const samplesOf = (value: (schema: SchemaCounts) => number): Sample[] =>
    all.map(({ schema, labels }) => ({ suffix: "", labels, value: value(schema) }));
  return [
    ...schemaGauges.map(([about, value]) => ({ ...about, samples: samplesOf(value) })),
    ...schemaCounters.map(([about, value]) => ({
      ...about,
      type: "counter" as const,
      samples: samplesOf(value).filter(({ value: count }) => count > 0),
    })),
    ...schemaHistograms.map((one) => ({
      ...one.about,
      type: "histogram" as const,
      samples: histogramSamples(all, one),
    })),
    { ...metric("rejected_requests_total", "BETA", "Rejected requests."), type: "counter", samples: rejections(all) },
  ];
}

function histogramSamples(all: readonly SchemaSeries[], { label, of }: SchemaHistogram): Sample[] {
  const names = label === undefined ? schemaLabels : [...schemaLabels, label];
  return all.flatMap(({ level, schema }) =>
    Object.entries(of(schema)).flatMap(([value, one]) =>
      one.count === 0 ? [] : [...one.samples(formatLabels(names, [level, schema.name, value]))],
    ),
  );
}

function rejections(all: readonly SchemaSeries[]): Sample[] {
  return all.flatMap(({ level, schema }) =>
    Array.from(schema.rejections, ([reason, value]) => ({
      suffix: "",
      labels: formatLabels([...schemaLabels, "reason"], [level, schema.name, reason]),
      value,
    })),
  );
}
