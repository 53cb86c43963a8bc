/** What the metrics of flow control count for one priority level, and for its flow schemas. */
import type {
  AdjustedLevel,
  ConfiguredLimits,
  LevelObserver,
  RejectReason,
  SchemaObserver,
} from "../flow-control/contract.ts";
import type { Progress } from "../lib/fair-queuing/contract.ts";
import { levelRows, schemaRows } from "./flow-control-rows.ts";
import { TimingHistogram } from "./timing-histogram.ts";
import { newHistogram } from "./vectors.ts";

const noAdjustment: AdjustedLevel = {
  current: 0,
  denominator: 1,
  demandAverage: 0,
  demandDeviation: 0,
  demandHighWatermark: 0,
  demandSmoothed: 0,
  target: 0,
};

/** The counts of one priority level. */
export class LevelCounts implements LevelObserver {
  readonly name: string;
  readonly progress: () => Progress;
  readonly removed: () => void;
  readonly schemas = new Set<SchemaCounts>();
  readonly seatUtilization: TimingHistogram;
  readonly demand: TimingHistogram;
  readonly phases: Readonly<Record<"waiting" | "executing", TimingHistogram>>;
  limits: ConfiguredLimits = { nominal: 0, min: 0, max: 0 };
  adjustment = noAdjustment;
  epochAdvances = 0;

  /** @param options `now` in milliseconds with fractions; `removed` forgets these counts */
  constructor(
    name: string,
    options: { progress: () => Progress; now: () => number; removed: (self: LevelCounts) => void },
  ) {
    const { progress, now, removed } = options;
    this.name = name;
    this.progress = progress;
    this.removed = () => removed(this);
    this.seatUtilization = new TimingHistogram(levelRows.seatUtilization.buckets, now);
    this.demand = new TimingHistogram(levelRows.demand.buckets, now);
    this.phases = {
      waiting: new TimingHistogram(levelRows.requestUtilization.buckets, now),
      executing: new TimingHistogram(levelRows.requestUtilization.buckets, now),
    };
  }

  schema(name: string): SchemaCounts {
    const counts = new SchemaCounts(name, (self) => this.schemas.delete(self));
    this.schemas.add(counts);
    return counts;
  }

  configured(limits: ConfiguredLimits, queueCapacity: number): void {
    this.limits = limits;
    this.phases.waiting.setDenominator(queueCapacity);
  }

  adjusted(adjustment: AdjustedLevel): void {
    this.adjustment = adjustment;
    for (const ratio of [this.seatUtilization, this.demand, this.phases.executing])
      ratio.setDenominator(adjustment.denominator);
  }

  seatDemand(seats: number, at: number): void {
    this.demand.set(seats, at);
  }

  seatsInUse(seats: number, at: number): void {
    this.seatUtilization.set(seats, at);
  }

  requests(phase: "waiting" | "executing", requests: number, at: number): void {
    this.phases[phase].set(requests, at);
  }

  epochAdvance(): void {
    this.epochAdvances++;
  }
}

/** The counts of one flow schema at one level. */
export class SchemaCounts implements SchemaObserver {
  readonly name: string;
  readonly removed: () => void;
  readonly seats = newHistogram(schemaRows.seats);
  readonly watches = newHistogram(schemaRows.watches);
  readonly lengths = newHistogram(schemaRows.lengths);
  readonly waits = { true: newHistogram(schemaRows.waits), false: newHistogram(schemaRows.waits) };
  readonly executions = { regular: newHistogram(schemaRows.executions), watch: newHistogram(schemaRows.executions) };
  readonly rejections = new Map<RejectReason, number>();
  waitingRequests = 0;
  waitingSeats = 0;
  executingRequests = 0;
  executingSeats = 0;
  dispatches = 0;
  notAccommodated = 0;

  constructor(name: string, removed: (self: SchemaCounts) => void) {
    this.name = name;
    this.removed = () => removed(this);
  }

  estimated(seats: number): void {
    this.seats.observe(seats);
  }

  watchCount(watches: number): void {
    this.watches.observe(watches);
  }

  queueLength(length: number): void {
    this.lengths.observe(length);
  }

  waiting(requests: 1 | -1, seats: number): void {
    this.waitingRequests += requests;
    this.waitingSeats += requests * seats;
  }

  waited(seconds: number, executes: boolean): void {
    this.waits[executes ? "true" : "false"].observe(seconds);
  }

  noAccommodation(): void {
    this.notAccommodated++;
  }

  dispatched(): void {
    this.dispatches++;
  }

  executing(requests: 1 | -1): void {
    this.executingRequests += requests;
  }

  seatsInUse(change: number): void {
    this.executingSeats += change;
  }

  executed(seconds: number, type: "regular" | "watch"): void {
    this.executions[type].observe(seconds);
  }

  rejected(reason: RejectReason): void {
    this.rejections.set(reason, (this.rejections.get(reason) ?? 0) + 1);
  }
}
