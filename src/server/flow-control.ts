/** Builds flow control: priority levels, or plain limits. */
import { realClock } from "../apimachinery/clock.ts";
import type { Controller } from "../controllers/contract.ts";
import { openFlowControl as openPriorityAndFairness } from "../controllers/flow-control/flow-control.ts";
import { dumpRoutes } from "../flow-control/debug-tables.ts";
import { maxInFlightFilter } from "../flow-control/max-in-flight.ts";
import { EventLoopTurns } from "../lib/fair-queuing/event-loop-turns.ts";
import { flowControlMetrics } from "../metrics/flow-control-metrics.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { Filter, PathRoute, RequestState } from "../request/context.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";

/** Flow control of a server. */
export interface ServerFlowControl {
  readonly filters: readonly Filter[];
  readonly routes: readonly PathRoute[];
  /** Upstream's names of the post-start hooks. */
  readonly healthChecks: readonly string[];
  /** Follows the stored configuration. */
  readonly controller: (Controller & { readonly ready: Promise<void> }) | undefined;
}

interface Needs {
  readonly registry: RegistryContext;
  readonly metrics: ServerMetrics;
}

/** @throws Error when the limits are not valid */
export function openFlowControl(options: ServerOptions, { registry, metrics }: Needs): ServerFlowControl {
  const { enablePriorityAndFairness, maxRequestsInflight, maxMutatingRequestsInflight, clock, logger } = options;
  const now = performance.now.bind(performance);
  const { observer, collect } = flowControlMetrics(now);
  metrics.add(collect);
  const rejected = (context: RequestState): void => {
    const { isResourceRequest, group, version, resource } = context.info;
    const resolved = isResourceRequest ? registry.catalog.find(group, version, resource) : undefined;
    Object.assign(context, { resolved }); // For its labels, when it has ended, too.
    metrics.requests.terminated(context, 429);
  };
  if (!enablePriorityAndFairness) {
    const limits = { readOnly: maxRequestsInflight, mutating: maxMutatingRequestsInflight };
    const isLimited = limits.readOnly + limits.mutating > 0;
    const filters = isLimited ? [maxInFlightFilter({ limits, observer, rejected })] : [];
    return { filters, routes: [], healthChecks: ["max-in-flight-filter"], controller: undefined };
  }
  const fairClock = { now, after: realClock(clock).after };
  const { filter, configuration } = openPriorityAndFairness({
    registry,
    clock,
    fairClock,
    turns: new EventLoopTurns({ now, nextTurn: setImmediate }),
    logger,
    observer,
    queues: metrics.queues.observers,
    serverSeats: maxRequestsInflight + maxMutatingRequestsInflight,
    requestTimeoutMs: options.requestTimeoutMs,
    rejected,
  });
  return {
    filters: [filter],
    routes: dumpRoutes(() => configuration.current(), { clock, fairClock }),
    healthChecks: ["priority-and-fairness-config-consumer", "priority-and-fairness-filter"],
    controller: configuration,
  };
}

/**
 * Checks the options that limit requests.
 * @throws Error with upstream's text
 */
export function checkLimits(options: ServerOptions): void {
  const { enablePriorityAndFairness, maxRequestsInflight: readOnly, maxMutatingRequestsInflight: mutating } = options;
  if (readOnly < 0) throw new Error("--max-requests-inflight can not be negative value");
  if (mutating < 0) throw new Error("--max-mutating-requests-inflight can not be negative value");
  if (options.goawayChance < 0 || options.goawayChance > 0.02)
    throw new Error("--goaway-chance can not be less than 0 or greater than 0.02");
  if (!enablePriorityAndFairness || readOnly + mutating > 0) return;
  const values = `MaxRequestsInFlight=${readOnly} and MaxMutatingRequestsInFlight=${mutating}`;
  throw new Error(`invalid configuration: ${values}; they must add up to something positive`);
}
