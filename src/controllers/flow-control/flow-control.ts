/** API Priority and Fairness: see docs/flow-control.md. */
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { FlowControlObserver } from "../../flow-control/contract.ts";
import { flowControlFilter, type TrackedRequest } from "../../flow-control/filter.ts";
import { Levels } from "../../flow-control/levels.ts";
import { workEstimator } from "../../flow-control/width/estimate-work.ts";
import { objectStats } from "../../flow-control/width/object-stats.ts";
import { WatchCounts } from "../../flow-control/width/watch-counts.ts";
import type { FairQueuingClock } from "../../lib/fair-queuing/contract.ts";
import type { EventLoopTurns } from "../../lib/fair-queuing/event-loop-turns.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import type { Filter, RequestState } from "../../request/context.ts";
import type { QueueObservers } from "../contract.ts";
import { type Configuration, followConfiguration } from "./configuration.ts";

interface FlowControlOptions {
  readonly registry: RegistryContext;
  readonly clock: Clock;
  /** The clock of queues, with fractions of milliseconds. */
  readonly fairClock: FairQueuingClock;
  readonly turns: EventLoopTurns;
  readonly logger: Logger;
  readonly observer: FlowControlObserver;
  readonly queues?: QueueObservers | undefined;
  /** The requests that the server executes at once. */
  readonly serverSeats: number;
  /** The limit of all requests except watches, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Called for each rejected request. */
  readonly rejected: (context: RequestState) => void;
}

/** Flow control of a server. */
export interface FlowControl {
  readonly filter: Filter;
  readonly configuration: Configuration<TrackedRequest>;
}

/** Limits requests by the mandatory objects, until the configuration is started. */
export function openFlowControl(options: FlowControlOptions): FlowControl {
  const { registry, clock, fairClock, logger, observer, serverSeats } = options;
  const failed = (problem: string): void => logger.error("Failed to divide the seats of the server", { problem });
  const levels = new Levels<TrackedRequest>({ serverSeats, clock: fairClock, observer, failed });
  const configuration = followConfiguration({ ...options, levels });
  const watches = new WatchCounts();
  const estimate = workEstimator({
    gates: registry.gates,
    stats: objectStats(registry.catalog, realClock(clock)),
    watches,
  });
  const filter = flowControlFilter({
    ...options,
    levels: () => configuration.current(),
    quiesced: () => configuration.changed(),
    estimate,
    watches,
  });
  return { filter, configuration };
}
