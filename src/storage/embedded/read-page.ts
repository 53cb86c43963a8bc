import type { Stored } from "../contract.ts";
import { compareKeys } from "./key-order.ts";
import type { Change, Ledger } from "./ledger.ts";
import type { PendingKeys } from "./pending-keys.ts";
import { storedOf } from "./views.ts";

interface Page {
  readonly prefix: string;
  /** Start after this key. */
  readonly after: string | undefined;
  /**
   * Positions at the requested revision of the keys that changed after it; 0 when the key was
   * absent.
   */
  readonly positions: ReadonlyMap<string, number>;
  /** Stop when `entries` has this length. */
  readonly until: number;
}

/**
 * Appends a page of the durable or an older state to the entries. Merges two sorted lists: keys
 * whose state is that of the ledger, and keys that are pending or have changed after the revision.
 * @returns whether keys remain
 */
export function readPage(
  ledger: Ledger,
  pending: PendingKeys,
  { prefix, after, positions, until }: Page,
  entries: Stored[],
): boolean {
  const changed = new Set<string>();
  for (const [key] of pending.durables(prefix)) changed.add(key);
  for (const key of positions.keys()) if (key.startsWith(prefix)) changed.add(key);
  const changedInOrder = [...changed]
    .filter((key) => after === undefined || compareKeys(key, after) > 0)
    .sort(compareKeys);
  const stateOf = (key: string): Change | undefined => {
    const position = positions.get(key);
    if (position === undefined) return pending.durable(key);
    return position === 0 ? undefined : ledger.read(position, key);
  };
  let next = 0;
  /** @returns false when the page is full */
  const addChangedBefore = (key: string | undefined): boolean => {
    for (; next < changedInOrder.length; next++) {
      const candidate = changedInOrder[next] as string;
      if (key !== undefined && compareKeys(candidate, key) >= 0) break;
      const change = stateOf(candidate);
      if (change === undefined) continue;
      if (entries.length >= until) return false;
      entries.push(storedOf(change));
    }
    return true;
  };
  for (const [key, position] of ledger.keys(prefix, after)) {
    if (!addChangedBefore(key)) return true;
    if (changed.has(key)) continue;
    if (entries.length >= until) return true;
    entries.push(storedOf(ledger.read(position, key)));
  }
  return !addChangedBefore(undefined);
}
