/**
 * The configuration in effect: the flow schemas that classify requests, and the levels among which
 * they divide the seats of the server.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/apf_controller.go.
 */
import { mandatorySchemas } from "../apis/flowcontrol/mandatory.ts";
import { adjustLimits } from "../lib/fair-queuing/borrow-seats.ts";
import type { FairQueuingClock } from "../lib/fair-queuing/contract.ts";
import { type Classifier, compileClassifier, inMatchingOrder } from "./classifier.ts";
import type { FlowControlObserver, RequestDigest } from "./contract.ts";
import type { FlowCache, ObservedFlow } from "./flow-cache.ts";
import { type FlowSchema, readFlowSchema } from "./flow-schema.ts";
import { Level } from "./level.ts";
import { imaginedLevels, limitsOf, type PriorityLevel } from "./priority-level.ts";

interface LevelsOptions {
  /** The requests that the server executes at once. */
  readonly serverSeats: number;
  readonly clock: FairQueuingClock;
  readonly observer: FlowControlObserver;
  /** Reports that seats cannot be divided. */
  readonly failed: (problem: string) => void;
}

/** A flow schema in effect. */
export interface ActiveSchema<Request> extends FlowSchema {
  /** The state of `level`. */
  readonly state: Level<Request>;
  readonly flows: FlowCache;
}

const imaginedSchemas: readonly FlowSchema[] = Object.entries(mandatorySchemas).map(([name, spec]) =>
  readFlowSchema({ apiVersion: "", kind: "", metadata: { name }, spec }),
);

/** Priority levels and flow schemas. */
export class Levels<Request> {
  readonly #options: LevelsOptions;
  #levels = new Map<string, Level<Request>>();
  #classify: Classifier<ActiveSchema<Request>> = () => undefined;
  #catchAll: ActiveSchema<Request> | undefined;

  /** Starts with the mandatory objects. */
  constructor(options: LevelsOptions) {
    this.#options = options;
    this.configure([], []);
  }

  /** All levels, sorted by name. */
  all(): Level<Request>[] {
    return [...this.#levels.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @returns the flow schema of a request */
  classify(request: RequestDigest): ActiveSchema<Request> {
    const found = this.#classify(request) ?? this.#catchAll;
    if (found === undefined) throw new Error("the flow schema catch-all is missing");
    return found;
  }

  /** Replaces the configuration. Missing mandatory objects keep their last state. */
  configure(levels: readonly PriorityLevel[], schemas: readonly FlowSchema[]): void {
    this.#configureLevels(levels);
    this.#configureSchemas(schemas);
    this.#configureLimits();
    this.adjust();
  }

  #configureLevels(configs: readonly PriorityLevel[]): void {
    const { clock, observer } = this.#options;
    const before = this.#levels;
    const next = new Map<string, Level<Request>>();
    const missing = imaginedLevels.filter(({ name }) => !configs.some((config) => config.name === name));
    const kept = missing.map((imagined) => before.get(imagined.name)?.config ?? imagined);
    for (const config of [...configs, ...kept]) {
      const level = before.get(config.name) ?? new Level<Request>(config, clock, observer);
      level.config = config;
      level.isQuiescing = false;
      next.set(config.name, level);
    }
    for (const [name, level] of before) {
      if (next.has(name)) continue;
      level.isQuiescing = true;
      if (level.queues.idle) level.remove();
      else next.set(name, level);
    }
    this.#levels = next;
  }

  /** Levels that were deleted get no more requests. */
  #configureSchemas(schemas: readonly FlowSchema[]): void {
    const missing = imaginedSchemas.filter(({ name }) => !schemas.some((schema) => schema.name === name));
    const active = inMatchingOrder([...schemas, ...missing]).flatMap((schema) => {
      const level = this.#levels.get(schema.level);
      if (level === undefined || level.isQuiescing) return [];
      return [{ ...schema, state: level, flows: level.flowsOf(schema.name) }];
    });
    for (const level of this.#levels.values()) {
      if (level.isQuiescing) continue;
      level.keepFlowsOf(new Set(active.filter((schema) => schema.state === level).map(({ name }) => name)));
    }
    this.#classify = compileClassifier(active);
    this.#catchAll = active.find(({ name }) => name === "catch-all");
  }

  #configureLimits(): void {
    const { serverSeats, observer } = this.#options;
    const levels = [...this.#levels.values()];
    const shares = levels.reduce((total, { config }) => total + config.shares, 0);
    for (const level of levels) level.configure(limitsOf(level.config, serverSeats, shares));
    observer.capacity(
      this.#nominalSeats(),
      levels.reduce((total, { queueCapacity }) => total + queueCapacity, 0),
    );
  }

  /** Can be more than the seats of the server, because each level's limit is rounded up. */
  #nominalSeats(): number {
    return [...this.#levels.values()].reduce((total, { limits }) => total + limits.nominal, 0);
  }

  /** Lets levels borrow seats, by their demand since the last call. */
  adjust(): void {
    const { serverSeats, observer, failed } = this.#options;
    const levels = [...this.#levels.values()];
    const { limits, targets, fairFraction, problem } = adjustLimits(
      levels.map((level) => level.borrowing()),
      this.#nominalSeats(),
    );
    if (problem !== undefined) failed(problem);
    observer.fairFraction(fairFraction);
    const denominator = Math.max(1, Math.round(serverSeats / 10));
    for (const [index, level] of levels.entries())
      level.adjust(limits[index] as number, targets[index] as number, denominator);
  }
}

/** @returns the flow of a request; levels with fewer than two queues do not distinguish flows */
export function flowOf<Request>(
  { state, flows, distinguisher }: ActiveSchema<Request>,
  { user, info }: RequestDigest,
): ObservedFlow {
  if (distinguisher === undefined || state.config.queuing.queues <= 1) return flows.get("");
  return flows.get(distinguisher === "ByUser" ? user.name : info.namespace);
}
