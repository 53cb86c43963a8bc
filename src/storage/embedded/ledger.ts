/**
 * The ledger is the data structure of an embedded engine: an ordered log of changes, which also
 * holds the values; an index from each key to the position of its latest put; and the expiry times
 * of keys. `EmbeddedStorage` implements the storage contract on top of it. Reads are
 * synchronous.
 */
import assert from "node:assert/strict";
import { writesMax } from "../check-writes.ts";
import type { Seal, StatePin } from "../contract.ts";

/** Maximum changes of one commit. */
export const changesMax = writesMax;

/**
 * The position of a change in the log combines its revision and its index within the commit. It is
 * a safe integer up to revision 2^46.
 */
export function positionOf(revision: number, index: number): number {
  assert.ok(index < changesMax);
  return revision * changesMax + index;
}

/** The revision of the commit that a position belongs to. */
export function revisionOf(position: number): number {
  return Math.floor(position / changesMax);
}

/** The position of a key whose index entry is damaged. */
export const unknownPosition = -1;

/** A change without its value. */
export interface ChangeHead {
  readonly type: "put" | "delete";
  readonly key: string;
  readonly position: number;
  /** Time of the commit in milliseconds since 1970. */
  readonly at: number;
  /** Position of the previous put of the key; 0 when the key was absent. */
  readonly previous: number;
  /** The record at `previous` is damaged, and may belong to another key. */
  readonly previousDamaged?: true;
  /**
   * Bytes that became history with this change: the value it replaced, and the change itself if it
   * is a deletion. They are freed when the change is compacted.
   */
  readonly historyBytes: number;
  /**
   * Set when the record is damaged: the reason. Only the position is valid then, and the key if the
   * change was returned by {@link Ledger.read}; other fields are empty.
   */
  readonly damage?: string;
}

/** A put or deletion of one key. */
export interface Change extends ChangeHead {
  /** Empty for a deletion. */
  readonly value: Buffer;
  readonly seal?: Seal;
}

/** The time at which a put expires. */
export interface Expiry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /**
   * Position of the put that set it. The expiry is ignored when the key has another position then.
   */
  readonly position: number;
  readonly key: string;
}

/** Global counters of the ledger. */
export interface Marks {
  /** The newest written revision. */
  readonly revision: number;
  /** The newest compacted revision. */
  readonly compacted: number;
  /** Sum of `historyBytes` of the changes after `compacted`. */
  readonly historyBytes: number;
}

/** Changes that are written atomically. */
export interface LedgerGroup {
  /** In the order of their positions, which follow all positions in the ledger. */
  readonly changes: readonly Change[];
  readonly expiries: readonly Expiry[];
  /** Positions of changes to delete, because their history is compacted. */
  readonly drop: readonly number[];
  readonly dropExpiries: readonly Expiry[];
  readonly marks: Marks;
}

/** The contract of a ledger. */
export interface Ledger {
  /** Returns the last written marks; {@link emptyMarks} for a new store. */
  marks(): Marks;
  /**
   * Returns the position of the key's latest put; 0 when the key is absent, {@link unknownPosition}
   * when its index entry is damaged.
   */
  position(key: string): number;
  /** Reads an existing put of the key. Its value is not modified afterwards. */
  read(position: number, key: string): Change;
  /** Returns the bytes of the value of an existing put; undefined when it is damaged. */
  valueBytes(position: number, key: string): number | undefined;
  /**
   * Iterates over the current keys with the prefix, in key order, each with its {@link Ledger.position}.
   */
  keys(prefix: string, after: string | undefined): Iterable<[key: string, position: number]>;
  /** Counts the current keys with the prefix. */
  count(prefix: string): number;
  /**
   * Returns the first changes after the revision, in order, without their values.
   * @param limit the maximum number of changes
   * @returns one change with `damage` replaces consecutive records that are missing or damaged
   */
  heads(after: number, limit: number): ChangeHead[];
  /** As {@link Ledger.heads}, with values. */
  changes(after: number, limit: number): Change[];
  /** Returns the earliest expiries, at most `limit`. */
  expiries(limit: number): Expiry[];
  /**
   * Writes the group. It is durable when the promise resolves; nothing of it is stored when the
   * promise rejects. Not called again before the promise settles. A group with marks only tests
   * whether writes work.
   * @throws StorageLost when only a restart helps
   * @throws Error when the disk fails
   */
  write(group: LedgerGroup): Promise<void>;
  /**
   * Repeats the last read that failed; returns at once when none has failed since the last call.
   * @throws Error when it fails again
   */
  checkReadable(): void;
  sizeBytes(): number;
  /** See `Storage.pin`. */
  pin(): StatePin;
  close(): Promise<void>;
}

/** The marks of an empty store. */
export const emptyMarks: Marks = { revision: 1, compacted: 0, historyBytes: 0 };
