/**
 * Computes managed fields after an update that may take fields from other managers. Source: the updater of
 * sigs.k8s.io/structured-merge-diff/v6.
 */
import { union } from "../structured-merge/set.ts";
import { type ManagedSet, type MergeContext, updateManagers, type Versioned } from "../structured-merge/updater.ts";
import type { Managed } from "./entries.ts";
import { stripUnmanaged } from "./unmanaged.ts";

/** The id of the writer while the merge runs; a writer that changes nothing gets no entry. */
const thisWrite = "this write";

/**
 * Gives changed fields to the writer, and sets its time; a writer without changes is not added.
 * @param id of the writer
 */
export function takeOver(
  context: MergeContext,
  live: Versioned,
  next: Versioned,
  before: Managed,
  id: string,
  now: string,
): Managed {
  const sets = new Map(updateManagers(context, live, next, before.sets, thisWrite));
  stripUnmanaged(sets, thisWrite);
  const mine = sets.get(thisWrite);
  if (mine === undefined) return { ...before, sets };
  sets.delete(thisWrite);
  sets.set(id, withPrevious(mine, sets.get(id)));
  return { ...before, sets, times: new Map(before.times).set(id, now) };
}

function withPrevious(mine: ManagedSet, previous: ManagedSet | undefined): ManagedSet {
  return previous === undefined ? mine : { ...mine, set: union(mine.set, previous.set) };
}
