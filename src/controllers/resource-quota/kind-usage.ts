/** Measures the objects of one kind, by namespace, and reports when they use less. */

import { addAmounts } from "../../admission/quota/amounts.ts";
import type { Amounts, Evaluator, ScopeRequirement } from "../../admission/quota/contract.ts";
import type { Clock } from "../../apimachinery/clock.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { followCache } from "../../watch-cache/follow.ts";
import { hasCaughtUp } from "../caught-up.ts";
import { openUsageCounter, type UsageChange, type UsageCounter } from "./usage-counter.ts";

interface KindUsageOptions {
  readonly store: ResourceStore;
  readonly evaluator: Evaluator;
  /** What objects use depends on other objects, so their usage is not kept. */
  readonly isRelated: boolean;
  readonly clock: Clock;
  /** Called when objects of the namespace use less, or otherwise than before. */
  replenish(namespace: string): void;
  /** Called when an object was added, which was charged in most cases. */
  added(namespace: string): void;
  /** Called when events may have been missed. */
  missed(): void;
  failed(error: unknown): void;
}

/** The usage of one kind. */
export interface KindUsage {
  /**
   * Returns what the objects of a namespace use, at least as new as the revision.
   * @returns undefined when the objects cannot be read
   */
  usageOf(namespace: string, scopes: readonly ScopeRequirement[], revision: number): Promise<Amounts | undefined>;
  /** Makes further calls count all objects again. */
  recount(): void;
  stop(): void;
}

/** Starts to follow the objects of a kind. */
export function openKindUsage(options: KindUsageOptions): KindUsage {
  const { store, evaluator, isRelated } = options;
  /** By namespace, then by scopes. */
  const counters = new Map<string, Map<string, UsageCounter>>();
  const countersOf = ({ index }: Entry): Iterable<UsageCounter> => counters.get(index.namespace)?.values() ?? [];
  const follower = followCache({
    ...{ cache: store.cache, prefix: store.form.prefix, clock: options.clock, failed: options.failed },
    set(entry) {
      const changes = new Set<UsageChange>();
      for (const counter of countersOf(entry)) changes.add(counter.set(entry));
      const { namespace } = entry.index;
      if (changes.has("changed")) options.replenish(namespace);
      else if (changes.has("added")) options.added(namespace);
    },
    deleted(entry) {
      for (const counter of countersOf(entry)) counter.deleted(entry);
      options.replenish(entry.index.namespace);
    },
    knownKeys: () => [],
    missing() {},
    relisted() {
      counters.clear();
      options.missed();
    },
  });

  const counterOf = (namespace: string, scopes: readonly ScopeRequirement[]): UsageCounter => {
    const key = JSON.stringify(scopes);
    const ofNamespace = counters.get(namespace) ?? new Map<string, UsageCounter>();
    counters.set(namespace, ofNamespace);
    const counter = ofNamespace.get(key) ?? openUsageCounter({ store, evaluator, namespace, scopes });
    ofNamespace.set(key, counter);
    return counter;
  };
  return {
    async usageOf(namespace, scopes, revision) {
      await follower.firstListDone;
      if (!(await hasCaughtUp(follower, store.cache, revision))) return undefined;
      if (evaluator.countsAs !== undefined) return countOf(store, evaluator.countsAs, namespace, scopes);
      if (isRelated) return sumOf(store, evaluator, namespace, scopes);
      const counter = counterOf(namespace, scopes);
      await counter.loaded;
      return counter.totals;
    },
    recount: () => counters.clear(),
    stop: () => follower.stop(),
  };
}

/** Objects without scopes of their own are in no quota that has scopes. */
function countOf(
  { cache, keyOf }: ResourceStore,
  names: readonly string[],
  namespace: string,
  scopes: readonly ScopeRequirement[],
): Amounts {
  const count = scopes.length > 0 ? 0 : cache.latest().count(keyOf(namespace, ""));
  return new Map(names.map((name) => [name, { mantissa: BigInt(count), exponent: 0, format: "DecimalSI" }]));
}

function sumOf(
  store: ResourceStore,
  evaluator: Evaluator,
  namespace: string,
  scopes: readonly ScopeRequirement[],
): Amounts {
  const sum: Parameters<typeof addAmounts>[0] = new Map();
  if (scopes.length > 0) return sum;
  for (const entry of store.cache.latest().range(store.keyOf(namespace, "")))
    addAmounts(sum, evaluator.usageOf(store.decode(entry)));
  return sum;
}
