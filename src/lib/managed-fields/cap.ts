/**
 * Limits the number of managers that updated an object: merges the oldest, per version. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/util/managedfields/internal/capmanagers.go.
 */
import { union } from "../structured-merge/set.ts";
import type { ManagedSet } from "../structured-merge/updater.ts";
import { type Managed, managerId, seconds } from "./entries.ts";

/** Update managers of one object. */
export const updateManagersMax = 10;
const foldedName = "ancient-changes";

/** Merges the oldest update managers when there are too many; apply managers stay. */
export function capManagers(managed: Managed): Managed {
  const updaters = [...managed.sets].filter(([, { applied }]) => !applied).map(([id]) => id);
  if (updaters.length <= updateManagersMax) return managed;
  const sets = new Map(managed.sets);
  const times = new Map(managed.times);
  const writtenAt = (id: string): number => seconds(managed.times.get(id));
  updaters.sort((a, b) => writtenAt(a) - writtenAt(b) || (a < b ? -1 : 1));
  const firstOf = new Map<string, string>();
  let left = updaters.length;
  for (const id of updaters) {
    if (left <= updateManagersMax) break;
    const mine = sets.get(id) as ManagedSet;
    const folded = managerId({ manager: foldedName, operation: "Update", apiVersion: mine.version, subresource: "" });
    const first = firstOf.get(mine.version);
    if (first === undefined) {
      firstOf.set(mine.version, id);
      continue;
    }
    const others = sets.get(folded) ?? (sets.get(first) as ManagedSet);
    if (!sets.has(folded)) sets.delete(first);
    sets.set(folded, { ...mine, set: union(mine.set, others.set) });
    sets.delete(id); // Last, as upstream: this removes the merged entry itself if it is not among the oldest.
    setTime(times, folded, managed.times.get(id));
    left--;
  }
  return { ...managed, sets, times };
}

function setTime(times: Map<string, string>, id: string, time: string | undefined): void {
  if (time === undefined) times.delete(id);
  else times.set(id, time);
}
