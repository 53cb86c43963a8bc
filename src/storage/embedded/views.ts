/** A ledger's changes as callers of the storage see them. */
import type { LogEvent, Stored } from "../contract.ts";
import { type Change, revisionOf } from "./ledger.ts";

/** @param change a put */
export function storedOf({ key, position, value, seal }: Change): Stored {
  const revision = revisionOf(position);
  return seal === undefined ? { key, revision, value } : { key, revision, value, seal };
}

/** @param previous the put before; undefined when the key was absent */
export function eventOf(change: Change, previous: Change | undefined): LogEvent {
  const { type, key, position } = change;
  const last = type === "put" || previous === undefined ? change : previous;
  return {
    type,
    key,
    revision: revisionOf(position),
    previousRevision: previous === undefined ? 0 : revisionOf(previous.position),
    value: last.value,
    ...(last.seal && { seal: last.seal }),
    ...(previous && { previous: storedOf(previous) }),
  };
}
