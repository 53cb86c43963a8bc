/** Decides the writes that give a store the contents of another state. */
import { differences } from "../../lib/persistent-tree/differences.ts";
import { orderedKey } from "../../lib/persistent-tree/ordered-key.ts";
import type { PlainWrite } from "./accept-writes.ts";
import type { NewestState } from "./embedded-storage.ts";
import type { Change, Expiry } from "./ledger.ts";
import type { MemoryState } from "./memory-ledger.ts";

/**
 * Returns the writes after which the newest state has the keys and values of the target, and their times of expiry.
 * Keys that have them already are not written, and keep their revisions. The time is proportional to what differs
 * between the two states where they share nodes.
 * @param durable the state without what is pending
 * @param newest the state that the writes replace
 */
export function restoringWrites(durable: MemoryState, newest: NewestState, target: MemoryState): PlainWrite[] {
  const writes: PlainWrite[] = [];
  const expiries = timesByPosition(target.expiries);
  const durableExpiries = timesByPosition(durable.expiries);
  const add = (key: string, put: Change | undefined): void => {
    if (put === undefined) return void writes.push({ key, value: null });
    const { value, seal, position } = put;
    const expiresAt = expiries().get(position);
    writes.push({ key, value, ...(seal && { seal }), ...(expiresAt !== undefined && { expiresAt }) });
  };
  for (const [, existing, put] of differences(durable.puts, target.puts)) {
    const { key } = (existing ?? put) as Change;
    if (newest.has(key)) continue;
    const isSame =
      existing !== undefined &&
      put !== undefined &&
      isEqual(existing, put) &&
      durableExpiries().get(existing.position) === expiries().get(put.position);
    if (!isSame) add(key, put);
  }
  for (const key of newest.keys()) {
    const put = target.puts.get(orderedKey(key));
    if (newest.newest(key) !== put) add(key, put);
  }
  return writes;
}

function isEqual(a: Change, b: Change): boolean {
  return (
    a.value.equals(b.value) &&
    a.seal?.fingerprint === b.seal?.fingerprint &&
    a.seal?.versionOffset === b.seal?.versionOffset &&
    a.seal?.itemOffset === b.seal?.itemOffset
  );
}

/** @returns the times of expiry by the positions of their puts; collected when something differs */
function timesByPosition(expiries: readonly Expiry[]): () => ReadonlyMap<number, number> {
  let times: ReadonlyMap<number, number> | undefined;
  return () => {
    times ??= new Map(expiries.map(({ position, at }) => [position, at]));
    return times;
  };
}
