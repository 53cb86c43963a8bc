/** Converts changes of a ledger to the types of the storage contract. */
import type { LogEvent, Stored } from "../contract.ts";
import { type Change, type Ledger, revisionOf } from "./ledger.ts";

/** @param change a put */
export function storedOf({ key, position, value, seal, damage }: Change): Stored {
  const revision = revisionOf(position);
  if (damage !== undefined) return { key, revision, value, damage };
  return seal === undefined ? { key, revision, value } : { key, revision, value, seal };
}

/** @param ledger contains the change and the previous put of its key */
export function eventOf(change: Change, ledger: Ledger): LogEvent {
  const { type, key, position, previous, at } = change;
  const { value, seal, damage } = type === "put" || previous === 0 ? change : ledger.read(previous, key);
  const event = { type, key, revision: revisionOf(position), previousRevision: revisionOf(previous), at, value };
  const before = previous === 0 ? undefined : (): Stored => storedOf(ledger.read(previous, key));
  return {
    ...event,
    ...(seal && { seal }),
    ...(damage !== undefined && { damage }),
    ...(before && { previous: before }),
  };
}
