/** The usage of the objects of one kind in one namespace and some scopes, kept up to date by events. */
import { isDeepStrictEqual } from "node:util";
import { formatAmounts } from "../../admission/quota/amounts.ts";
import type { Amounts, Evaluator, ScopeRequirement } from "../../admission/quota/contract.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import { addQuantities, type Quantity, subtractQuantities } from "../../lib/quantity/quantity.ts";
import type { Entry } from "../../watch-cache/contract.ts";

interface CounterOptions {
  readonly store: ResourceStore;
  readonly evaluator: Evaluator;
  readonly namespace: string;
  readonly scopes: readonly ScopeRequirement[];
}

/** What a state of an object changes: of its usage, or, as `added`, of the objects that are counted. */
export type UsageChange = "none" | "added" | "changed";

/** A counter of usage. */
export interface UsageCounter {
  /** Resolves when the objects that existed are counted. */
  readonly loaded: Promise<void>;
  readonly totals: Amounts;
  set(entry: Entry): UsageChange;
  /** @param entry the last state, at the revision of the deletion */
  deleted(entry: Entry): void;
}

/** What one object adds to the totals. */
interface Contribution {
  readonly revision: number;
  /** Undefined for an object outside of the scopes, or a deleted one while the counter is loading. */
  readonly usage: Amounts | undefined;
}

/** Objects that are counted before the event loop serves others. */
const pieceMax = 200;

/** Counts the objects of the cache; events may arrive meanwhile, in any order of objects. */
export function openUsageCounter({ store, evaluator, namespace, scopes }: CounterOptions): UsageCounter {
  const contributions = new Map<string, Contribution>();
  const totals = new Map<string, Quantity>();
  let isLoading = true;

  const replace = (key: string, revision: number, usage: Amounts | undefined): UsageChange => {
    const before = contributions.get(key);
    if (before !== undefined && before.revision >= revision) return "none";
    contributions.set(key, { revision, usage });
    for (const [name, amount] of usage ?? []) totals.set(name, plus(totals.get(name), amount));
    for (const [name, amount] of before?.usage ?? [])
      totals.set(name, subtractQuantities(plus(totals.get(name)), amount));
    if (isSame(before?.usage, usage)) return "none";
    return before === undefined ? "added" : "changed";
  };
  const set = (entry: Entry): UsageChange => {
    const object = store.decode(entry);
    const isCounted = scopes.every((scope) => evaluator.isInScope?.(scope, object) ?? false);
    return replace(entry.key, entry.revision, isCounted ? evaluator.usageOf(object) : undefined);
  };
  const load = async (): Promise<void> => {
    let read = 0;
    for (const entry of store.cache.latest().range(store.keyOf(namespace, ""))) {
      set(entry);
      if (++read % pieceMax === 0) await new Promise(setImmediate);
    }
    isLoading = false;
    for (const [key, { usage }] of contributions)
      if (usage === undefined && !hasObject(store, key)) contributions.delete(key);
  };

  return {
    loaded: load(),
    totals,
    set,
    deleted({ key, revision }) {
      const before = contributions.get(key);
      if (before !== undefined && before.revision > revision) return;
      replace(key, revision, undefined);
      // While it is loading, an older state of the object may follow.
      if (!isLoading) contributions.delete(key);
    },
  };
}

const hasObject = ({ cache }: ResourceStore, key: string): boolean => cache.latest().get(key) !== undefined;

const nothing: Quantity = { mantissa: 0n, exponent: 0, format: "DecimalSI" };

function plus(sum: Quantity = nothing, amount: Quantity = nothing): Quantity {
  return addQuantities(sum, amount);
}

function isSame(one: Amounts | undefined, other: Amounts | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return isDeepStrictEqual(formatAmounts(one), formatAmounts(other));
}
