/**
 * The metrics of flow control. Their series go with the objects that their labels name.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/metrics/metrics.go.
 */
import type { FlowControlObserver, RequestKind } from "../flow-control/contract.ts";
import type { Progress } from "../lib/fair-queuing/contract.ts";
import type { Metric } from "./exposition.ts";
import { LevelCounts, type SchemaCounts } from "./flow-control-level.ts";
import { flowControlRows, levelRows, schemaRows } from "./flow-control-rows.ts";
import type { Histogram } from "./histogram.ts";
import { InFlightWatermarks } from "./in-flight-watermarks.ts";
import type { MetricRow } from "./metric-row.ts";
import { TimingHistogram } from "./timing-histogram.ts";
import { distributed, measured } from "./vectors.ts";

interface FlowControlMetrics {
  readonly observer: FlowControlObserver;
  collect(): Metric[];
}

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
      ...levelMetrics([...levels]),
      ...schemaMetrics([...levels]),
      measured(flowControlRows.fairFraction, levels.size === 0 ? [] : [[[], fairFraction]]),
      distributed(
        flowControlRows.readVsWrite,
        Object.entries(phases).flatMap(([phase, { ratios }]) =>
          Object.entries(ratios).map(([kind, ratio]) => [[phase, kind], ratio] as const),
        ),
      ),
      measured(flowControlRows.inFlight, phases.executing.marks.values()),
      measured(flowControlRows.inQueue, phases.waiting.marks.values()),
    ],
  };
}

function phaseCounts(now: () => number) {
  return {
    marks: new InFlightWatermarks(now),
    ratios: {
      mutating: new TimingHistogram(flowControlRows.readVsWrite.buckets, now),
      readOnly: new TimingHistogram(flowControlRows.readVsWrite.buckets, now),
    },
  };
}

type LevelRow = MetricRow & { readonly labels: readonly ["priority_level"] };
type BoundsRow = MetricRow & { readonly labels: readonly ["priority_level", "bound"] };

const levelGauges: readonly (readonly [row: LevelRow, value: (level: LevelCounts) => number])[] = [
  [levelRows.nominal, ({ limits }) => limits.nominal],
  [levelRows.concurrencyLimit, ({ limits }) => limits.nominal],
  [levelRows.lower, ({ limits }) => limits.min],
  [levelRows.upper, ({ limits }) => limits.max],
  [levelRows.current, ({ adjustment }) => adjustment.current],
  [levelRows.demandHighWatermark, ({ adjustment }) => adjustment.demandHighWatermark],
  [levelRows.demandAverage, ({ adjustment }) => adjustment.demandAverage],
  [levelRows.demandDeviation, ({ adjustment }) => adjustment.demandDeviation],
  [levelRows.demandSmoothed, ({ adjustment }) => adjustment.demandSmoothed],
  [levelRows.target, ({ adjustment }) => adjustment.target],
  [levelRows.virtualTime, ({ progress }) => progress().current],
  [levelRows.dispatchTime, ({ progress }) => progress().dispatch],
  [levelRows.latestStart, ({ progress }) => progress().latestStart],
];

function levelMetrics(levels: readonly LevelCounts[]): Metric[] {
  return [
    ...levelGauges.map(([row, value]) =>
      measured(
        row,
        levels.map((level) => [[level.name], value(level)]),
      ),
    ),
    distributed(
      levelRows.seatUtilization,
      levels.map(({ name, seatUtilization }) => [["executing", name], seatUtilization]),
    ),
    distributed(
      levelRows.requestUtilization,
      levels.flatMap(({ name, phases }) =>
        Object.entries(phases).map(([phase, ratio]) => [[phase, name], ratio] as const),
      ),
    ),
    distributed(
      levelRows.demand,
      levels.map(({ name, demand }) => [[name], demand]),
    ),
    measured(
      levelRows.epochAdvances,
      levels.flatMap(({ name, epochAdvances }) =>
        epochAdvances === 0 ? [] : [[[name, "true"], epochAdvances] as const],
      ),
    ),
    boundsMetric(levelRows.startBounds, levels, ({ nextStartMin, nextStartMax }) => [nextStartMin, nextStartMax]),
    boundsMetric(levelRows.discountedStartBounds, levels, ({ discountedMin, discountedMax }) => [
      discountedMin,
      discountedMax,
    ]),
  ];
}

function boundsMetric(
  row: BoundsRow,
  levels: readonly LevelCounts[],
  boundsOf: (progress: Progress) => readonly [min: number, max: number],
): Metric {
  return measured(
    row,
    levels.flatMap(({ name, progress }) => {
      const [min, max] = boundsOf(progress());
      return [[[name, "min"], min] as const, [[name, "max"], max] as const];
    }),
  );
}

type SchemaRow = MetricRow & { readonly labels: readonly ["priority_level", "flow_schema"] };
type SchemaValue = readonly [row: SchemaRow, value: (schema: SchemaCounts) => number];

const schemaGauges: readonly SchemaValue[] = [
  [schemaRows.waitingRequests, (schema) => schema.waitingRequests],
  [schemaRows.waitingSeats, (schema) => schema.waitingSeats],
  [schemaRows.executingRequests, (schema) => schema.executingRequests],
  [schemaRows.executingSeats, (schema) => schema.executingSeats],
  [schemaRows.concurrencyInUse, (schema) => schema.executingSeats],
];
/** They have a series when they are above 0. */
const schemaCounters: readonly SchemaValue[] = [
  [schemaRows.dispatches, (schema) => schema.dispatches],
  [schemaRows.notAccommodated, (schema) => schema.notAccommodated],
];

/** A flow schema at a level. */
interface SchemaSeries {
  readonly labels: readonly [level: string, schema: string];
  readonly schema: SchemaCounts;
}

function schemaMetrics(levels: readonly LevelCounts[]): Metric[] {
  const all: readonly SchemaSeries[] = levels.flatMap(({ name, schemas }) =>
    Array.from(schemas, (schema) => ({ labels: [name, schema.name] as const, schema })),
  );
  const valuesOf = (value: SchemaValue[1]) => all.map(({ labels, schema }) => [labels, value(schema)] as const);
  return [
    ...schemaGauges.map(([row, value]) => measured(row, valuesOf(value))),
    ...schemaCounters.map(([row, value]) =>
      measured(
        row,
        valuesOf(value).filter(([, count]) => count > 0),
      ),
    ),
    ...schemaHistograms(all),
    measured(
      schemaRows.rejections,
      all.flatMap(({ labels, schema }) =>
        Array.from(schema.rejections, ([reason, count]) => [[...labels, reason], count] as const),
      ),
    ),
  ];
}

function schemaHistograms(all: readonly SchemaSeries[]): Metric[] {
  const plain = (row: SchemaRow, of: (schema: SchemaCounts) => Histogram): Metric =>
    distributed(
      row,
      all.map(({ labels, schema }) => [labels, of(schema)] as const).filter(([, { count }]) => count > 0),
    );
  /** Those by the value of one more label. */
  const divided = (of: (schema: SchemaCounts) => Readonly<Record<string, Histogram>>) =>
    all.flatMap(({ labels, schema }) =>
      Object.entries(of(schema))
        .filter(([, { count }]) => count > 0)
        .map(([value, one]) => [[...labels, value], one] as const),
    );
  return [
    plain(schemaRows.lengths, ({ lengths }) => lengths),
    distributed(
      schemaRows.waits,
      divided(({ waits }) => waits),
    ),
    distributed(
      schemaRows.executions,
      divided(({ executions }) => executions),
    ),
    plain(schemaRows.watches, ({ watches }) => watches),
    plain(schemaRows.seats, ({ seats }) => seats),
  ];
}
