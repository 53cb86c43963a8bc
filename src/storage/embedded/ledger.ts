/**
 * What an embedded engine must keep: an ordered log of changes whose entries are also the values, the position of each key's latest change,
 * and when keys expire. `EmbeddedStorage` is the logic above it; a ledger only stores and finds. Reads are synchronous.
 */
import assert from "node:assert/strict";
import type { Seal } from "../contract.ts";

/** Changes one commit may have. */
export const changesMax = 128;

/** Where a change is in the log: its revision and its index within the commit. A safe integer up to revision 2^46. */
export function positionOf(revision: number, index: number): number {
  assert.ok(index < changesMax);
  return revision * changesMax + index;
}

export function revisionOf(position: number): number {
  return Math.floor(position / changesMax);
}

/** In place of the position of a key whose position is damaged. */
export const unknownPosition = -1;

/** A change without its bytes. */
export interface ChangeHead {
  readonly type: "put" | "delete";
  readonly key: string;
  readonly position: number;
  /** Milliseconds since 1970 when it was committed. */
  readonly at: number;
  /** Position of the key's state before; 0 when it was absent. */
  readonly previous: number;
  /** What is at `previous` is damaged, and may be another key's. */
  readonly previousDamaged?: true;
  /** Bytes that are history because of this change: what it replaced, and itself if it is a deletion. They go when it is compacted. */
  readonly historyBytes: number;
  /** Why nothing but the position can be trusted, or of {@link Ledger.read} nothing but the key: the rest is empty. */
  readonly damage?: string;
}

export interface Change extends ChangeHead {
  /** Empty for a deletion. */
  readonly value: Buffer;
  readonly seal?: Seal;
}

export interface Expiry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Of the put that asked for it. Void when the key has another position by then. */
  readonly position: number;
  readonly key: string;
}

export interface Marks {
  /** Newest revision written. */
  readonly revision: number;
  /** Newest revision compacted. */
  readonly compacted: number;
  /** Sum over the changes after `compacted`. */
  readonly historyBytes: number;
}

/** Written together or not at all. */
export interface LedgerGroup {
  /** In order, each after everything in the ledger. */
  readonly changes: readonly Change[];
  readonly expiries: readonly Expiry[];
  /** Positions of changes that history no longer needs. */
  readonly drop: readonly number[];
  readonly dropExpiries: readonly Expiry[];
  readonly marks: Marks;
}

export interface Ledger {
  /** As last written; those of an empty store when nothing was. */
  marks(): Marks;
  /** Position of the key's latest put; 0 when the key is absent, {@link unknownPosition} when that is damaged. */
  position(key: string): number;
  /** A put of the key, which is there; its value is a copy of its own or never changes. */
  read(position: number, key: string): Change;
  /** Bytes of the value of a put that is there; undefined when it is damaged. */
  valueBytes(position: number, key: string): number | undefined;
  /** Present keys with the prefix, after `after` when given, in order; each with its {@link Ledger.position}. */
  keys(prefix: string, after: string | undefined): Iterable<[key: string, position: number]>;
  count(prefix: string): number;
  /** The first changes after the revision, in order, at most so many. One with `damage` takes the place of those that cannot be read. */
  heads(after: number, limit: number): ChangeHead[];
  changes(after: number, limit: number): Change[];
  /** The first ones to come, at most so many. */
  expiries(limit: number): Expiry[];
  /**
   * Durable when it resolves. When it rejects, nothing of the group is there. Called again only after it has settled. A group of nothing but
   * marks finds out whether writes work.
   * @throws StorageLost when only a restart helps · Error
   */
  write(group: LedgerGroup): Promise<void>;
  sizeBytes(): number;
  close(): Promise<void>;
}

export const emptyMarks: Marks = { revision: 1, compacted: 0, historyBytes: 0 };
