/** The state of one priority level: its queues, its limits, and the demand for its seats. */
import type { BorrowingLevel } from "../lib/fair-queuing/borrow-seats.ts";
import type { FairQueuingClock, Flow, QueueSetObserver } from "../lib/fair-queuing/contract.ts";
import { FairQueueSet } from "../lib/fair-queuing/fair-queue-set.ts";
import { Integrator, noSeatDemand, type SeatDemandStats, updateSeatDemand } from "../lib/fair-queuing/seat-demand.ts";
import type { ConfiguredLimits, FlowControlObserver, LevelObserver, SchemaObserver } from "./contract.ts";
import { FlowCache, type ObservedFlow } from "./flow-cache.ts";
import { type PriorityLevel, widthMaxOf } from "./priority-level.ts";
import { RetryAfter } from "./retry-after.ts";

/** A priority level that exists, or has requests left. */
export class Level<Request> {
  readonly name: string;
  readonly queues: FairQueueSet<Request>;
  readonly retryAfter = new RetryAfter();
  /** Set when the object was deleted: the level is removed when its last request has ended. */
  isQuiescing = false;
  config: PriorityLevel;
  #limits: ConfiguredLimits = { nominal: 0, min: 0, max: 0 };
  #current = 0;
  #widthMax = 0;
  #demand: SeatDemandStats = noSeatDemand;
  readonly #integrator: Integrator;
  readonly #observer: LevelObserver;
  /** By flow schema. */
  readonly #flows = new Map<string, FlowCache>();

  constructor(config: PriorityLevel, clock: FairQueuingClock, observer: FlowControlObserver) {
    this.name = config.name;
    this.config = config;
    this.#integrator = new Integrator(() => clock.now());
    this.#observer = observer.level(config.name, () => this.queues.progress);
    this.queues = new FairQueueSet(clock, queueObserver(this.#observer, this.#integrator));
  }

  get limits(): ConfiguredLimits {
    return this.#limits;
  }

  /** The most seats of one request; 0 if the level sets no limit. */
  get widthMax(): number {
    return this.#widthMax;
  }

  /** Requests that can wait. */
  get queueCapacity(): number {
    const { queues, queueLengthMax } = this.config.queuing;
    return queues > 0 ? queues * queueLengthMax : 0;
  }

  /** Applies the configuration, with limits that depend on all levels. */
  configure(limits: ConfiguredLimits): void {
    this.#limits = limits;
    this.#widthMax = widthMaxOf(this.config, limits.nominal);
    this.queues.configure(this.config.queuing);
    this.#observer.configured(limits, Math.max(1, this.queueCapacity));
  }

  /** Ends a period of observation, and returns what the division of seats needs. */
  borrowing(): BorrowingLevel {
    this.#demand = updateSeatDemand(this.#demand, this.#integrator.reset());
    return { isExempt: this.config.isExempt, ...this.#limits, current: this.#current, demand: this.#demand };
  }

  /** @param denominator of ratios, if no seats are left */
  adjust(seats: number, target: number, denominator: number): void {
    const { average, deviation, highWatermark, smoothed } = this.#demand;
    this.#current = seats;
    this.#observer.adjusted({
      current: seats,
      denominator: seats > 0 ? seats : denominator,
      demandAverage: average,
      demandDeviation: deviation,
      demandHighWatermark: highWatermark,
      demandSmoothed: smoothed,
      target,
    });
    this.queues.setConcurrencyLimit(seats);
  }

  /** The flows of a flow schema at this level. */
  flowsOf(schema: string): FlowCache {
    const known = this.#flows.get(schema);
    if (known !== undefined) return known;
    const flows = new FlowCache(schema, this.#observer.schema(schema));
    this.#flows.set(schema, flows);
    return flows;
  }

  /** Forgets the flow schemas that do not use the level any more. */
  keepFlowsOf(schemas: ReadonlySet<string>): void {
    for (const [schema, { observer }] of this.#flows) {
      if (schemas.has(schema)) continue;
      observer.removed();
      this.#flows.delete(schema);
    }
  }

  remove(): void {
    this.keepFlowsOf(new Set());
    this.#observer.removed();
  }
}

function queueObserver(level: LevelObserver, integrator: Integrator): QueueSetObserver {
  let waiting = 0;
  let executing = 0;
  let seats = 0;
  return {
    waiting(flow, change, ofSeats, at) {
      waiting += change;
      level.requests("waiting", waiting, at);
      observerOf(flow).waiting(change, ofSeats);
    },
    executing(flow, change, at) {
      executing += change;
      level.requests("executing", executing, at);
      observerOf(flow).executing(change);
    },
    seatsInUse(flow, change, at) {
      seats += change;
      level.seatsInUse(seats, at);
      observerOf(flow).seatsInUse(change);
    },
    seatDemand(demand, at) {
      integrator.set(demand, at);
      level.seatDemand(demand, at);
    },
    queueLength: (flow, length) => observerOf(flow).queueLength(length),
    noAccommodation: (flow) => observerOf(flow).noAccommodation(),
    epochAdvance: () => level.epochAdvance(),
  };
}

/** All flows of a level come from its flow caches. */
const observerOf = (flow: Flow): SchemaObserver => (flow as ObservedFlow).observer;
