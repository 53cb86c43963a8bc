/** What the metrics of flow control count for one priority level, and for its flow schemas. */
import type {
  AdjustedLevel,
  ConfiguredLimits,
  LevelObserver,
  RejectReason,
  SchemaObserver,
} from "../flow-control/contract.ts";
import type { Progress } from "../lib/fair-queuing/contract.ts";
import { Histogram } from "./histogram.ts";
import { TimingHistogram } from "./timing-histogram.ts";

const lengthBounds = [0, 10, 25, 50, 100, 250, 500, 1000];
const durationBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const watchBounds = [0, 1, 10, 100, 1000, 10_000];
const seatBounds = [1, 2, 4, 8, 16, 32, 64, 100];
const utilizationBounds = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const requestBounds = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1];
const demandBounds = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6];

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
    this.seatUtilization = new TimingHistogram(utilizationBounds, now);
    this.demand = new TimingHistogram(demandBounds, now);
    this.phases = {
      waiting: new TimingHistogram(requestBounds, now),
      executing: new TimingHistogram(requestBounds, now),
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
  readonly seats = new Histogram(seatBounds);
  readonly watches = new Histogram(watchBounds);
  readonly lengths = new Histogram(lengthBounds);
  readonly waits = { true: new Histogram(durationBounds), false: new Histogram(durationBounds) };
  readonly executions = { regular: new Histogram(durationBounds), watch: new Histogram(durationBounds) };
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
