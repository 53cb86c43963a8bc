import type { Stored } from "../contract.ts";
import { compareKeys } from "./key-order.ts";
import type { Change, Ledger } from "./ledger.ts";
import type { PendingKeys } from "./pending.ts";
import { storedOf } from "./views.ts";

export interface Page {
  readonly prefix: string;
  /** Start after this key. */
  readonly after: string | undefined;
  /** Of the keys that have changed since the revision shown, the positions they had at it; 0 when they were absent. */
  readonly positions: ReadonlyMap<string, number>;
  /** Stop when there are so many entries. */
  readonly until: number;
}

/**
 * Appends a page of an older or the durable state to the entries: the keys that the ledger shows as they were, and, each at its place, those
 * that it does not, since they are pending or have changed since.
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
  const apart = [...changed].filter((key) => after === undefined || compareKeys(key, after) > 0).sort(compareKeys);
  const stateOf = (key: string): Change | undefined => {
    const position = positions.get(key);
    if (position === undefined) return pending.durable(key);
    return position === 0 ? undefined : ledger.read(position, key);
  };
  let next = 0;
  /** @returns whether there was room for all that come before the key */
  const takeBefore = (key: string | undefined): boolean => {
    for (; next < apart.length && (key === undefined || compareKeys(apart[next] as string, key) < 0); next++) {
      const change = stateOf(apart[next] as string);
      if (change === undefined) continue;
      if (entries.length >= until) return false;
      entries.push(storedOf(change));
    }
    return true;
  };
  for (const [key, position] of ledger.keys(prefix, after)) {
    if (!takeBefore(key)) return true;
    if (changed.has(key)) continue;
    if (entries.length >= until) return true;
    entries.push(storedOf(ledger.read(position, key)));
  }
  return !takeBefore(undefined);
}
