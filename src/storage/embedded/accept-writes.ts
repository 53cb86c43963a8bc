/** Makes the changes of a commit of its writes and the newest state. */
import { checkValue, isDerived } from "../check-writes.ts";
import type { DerivedWrite, Write } from "../contract.ts";
import { type Change, type Expiry, positionOf } from "./ledger.ts";
import type { PendingKeys } from "./pending-keys.ts";
import { storedOf } from "./views.ts";

/** A write whose value is known. */
export interface PlainWrite extends Write {
  /** Set on the result of a derived write. */
  readonly wasDerived?: true;
  /** Deletes the key at this time, in milliseconds since 1970, unless it is written again before. */
  readonly expiresAt?: number;
}

/** Bytes of history that a change uses in addition to its key and value. */
const changeOverheadBytes = 64;
const nothing = Buffer.alloc(0);

/** Evaluates derived writes on the newest state. */
export function plainWrites(
  requested: readonly (Write | DerivedWrite)[],
  pending: PendingKeys,
  valueBytesMax: number,
): readonly PlainWrite[] {
  if (!requested.some(isDerived)) return requested as readonly Write[];
  const plain: PlainWrite[] = [];
  for (const write of requested) {
    if (!isDerived(write)) {
      plain.push(write);
      continue;
    }
    const { key } = write;
    const newest = pending.newest(key);
    const derived = write.derive(newest && storedOf(newest));
    if (derived === undefined) continue;
    checkValue(derived.value, valueBytesMax);
    plain.push({ key, value: derived.value, wasDerived: true, ...(derived.seal && { seal: derived.seal }) });
  }
  return plain;
}

/**
 * What writes change in the newest state; deletions of absent keys change nothing.
 * @param revision of the changes
 * @param at their time, in milliseconds since 1970
 * @throws Error when a key cannot be read
 */
export function changesOf(writes: readonly PlainWrite[], pending: PendingKeys, revision: number, at: number): Change[] {
  const changes: Change[] = [];
  for (const { key, value, seal } of writes) {
    const previous = pending.newestHead(key);
    if (value === null && previous === undefined) continue;
    const change: Change = {
      type: value === null ? "delete" : "put",
      key,
      position: positionOf(revision, changes.length),
      at,
      value: value ?? nothing,
      seal: value === null ? undefined : seal,
      previous: previous?.position ?? 0,
      ...(previous !== undefined && previous.valueBytes === undefined && { previousDamaged: true }),
      historyBytes:
        (previous === undefined ? 0 : costOf(key, previous.valueBytes ?? 0)) + (value === null ? costOf(key, 0) : 0),
    };
    changes.push(change);
  }
  return changes;
}

/** The expiries of the puts that have a time to live. */
export function expiriesOf(changes: readonly Change[], writes: readonly PlainWrite[]): Expiry[] {
  const expiries: Expiry[] = [];
  for (const { key, ttlSeconds, expiresAt } of writes) {
    if (ttlSeconds === undefined && expiresAt === undefined) continue;
    const change = changes.find((one) => one.key === key);
    if (change?.type !== "put") continue;
    const at = expiresAt ?? change.at + (ttlSeconds as number) * 1000;
    expiries.push({ at, position: change.position, key });
  }
  return expiries;
}

/** What a state costs in memory or in the history, in bytes. */
export function costOf(key: string, valueBytes: number): number {
  return key.length + valueBytes + changeOverheadBytes;
}
