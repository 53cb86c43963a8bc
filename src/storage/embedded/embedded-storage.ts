/**
 * The logic shared by the embedded engines. A commit is evaluated immediately, in memory, against
 * the newest state, and receives its revision. Commits that arrive in the same turn of the event
 * loop, or during the previous write, are written as one group. Changes become visible only after
 * they are written.
 *
 * **Invariant:** revisions increase in the order in which commits are accepted; groups are written,
 * published and answered in that order; a commit based on a state that could not be written fails
 * too.
 */

import { nothingToDo } from "../../apimachinery/clock.ts";
import { checkValue, checkWrites, isDerived } from "../check-writes.ts";
import {
  type Check,
  type Committed,
  type Conflict,
  type DerivedWrite,
  type LogSubscriber,
  type Range,
  type RangeOptions,
  RevisionCompacted,
  RevisionInFuture,
  type StatePin,
  type Storage,
  StorageLost,
  StorageUnavailable,
  type Stored,
  type Subscription,
  type Write,
} from "../contract.ts";
import type { StorageOptions } from "../options.ts";
import { type CompactionStep, nextCompaction } from "./compaction.ts";
import { DerivedChanges } from "./derived-changes.ts";
import { Expirer } from "./expirer.ts";
import { type Change, changesMax, type Expiry, type Ledger, positionOf, revisionOf } from "./ledger.ts";
import { LogSubscribers } from "./log-subscribers.ts";
import { nextTurn } from "./next-turn.ts";
import { type Difference, OlderStates } from "./older-states.ts";
import { PendingKeys } from "./pending-keys.ts";
import { readPage } from "./read-page.ts";
import { storedOf } from "./views.ts";

/** A group is full when it has this many changes; its last commit may exceed it. */
const groupMax = 1024;
/** The maximum number of event loop turns that a group waits for more commits. */
const groupTurnsMax = 4;
const waitingMaxDefault = 10_000;
const waitingBytesMax = 256 << 20;
/** Entries of a range that are read before the event loop serves other requests. */
const rangePage = 1000;
/** Bytes of history that a change uses in addition to its key and value. */
const changeOverheadBytes = 64;
/** Checks for history above its age limit, per length of that limit. */
const compactionsPerHistory = 20;
/** The longest interval between these checks, because the delay of a timer is limited. */
const compactionPauseMaxMs = 3_600_000;

/**
 * A commit that waits to be written, or a response that waits until the state it reports is
 * durable.
 */
interface Waiting {
  readonly changes: readonly Change[];
  readonly expiries: readonly Expiry[];
  readonly dropExpiries: readonly Expiry[];
  /** What it counts towards the limits of waiting writes. */
  readonly cost: { readonly changes: number; readonly bytes: number };
  /** Called in the turn in which readers see the changes, before they do. */
  readonly beforeVisible?: (() => void) | undefined;
  settle(error: StorageUnavailable | undefined): void;
}

/** A write whose value is known. */
export interface PlainWrite extends Write {
  /** Set on the result of a derived write. */
  readonly wasDerived?: true;
  /** Deletes the key at this time, in milliseconds since 1970, unless it is written again before. */
  readonly expiresAt?: number;
}

/** The newest state of keys, in which writes are pending that are not durable. */
export type NewestState = Pick<PendingKeys, "newest" | "has" | "keys">;

/** Writes that are visible together, see {@link EmbeddedStorage.commitTogether}. */
export interface JointWrites {
  /** Called at once. @returns one write per key, in any number */
  decide(newest: NewestState): readonly PlainWrite[];
  /** Called in the turn in which readers see the writes, before they do. @param revision of the last write */
  beforeVisible(revision: number): void;
}

/** Opens a storage engine on a ledger; closing the engine closes the ledger. */
export function openEmbeddedStorage(ledger: Ledger, options: StorageOptions): EmbeddedStorage {
  return new EmbeddedStorage(ledger, options);
}

/** The engine. */
export class EmbeddedStorage implements Storage {
  readonly isShared = false;
  readonly reportsProgress = true;
  readonly #ledger: Ledger;
  readonly #options: StorageOptions;
  readonly #pending: PendingKeys;
  readonly #derived = new DerivedChanges();
  readonly #subscribers: LogSubscribers;
  readonly #older: OlderStates;
  readonly #expirer: Expirer;
  /** The durable state that readers may see. */
  readonly #horizon: { revision: number; compacted: number };
  #historyBytes: number;
  /** The newest revision assigned to a commit; it may not be durable yet. */
  #assigned: number;
  #waiting: Waiting[] = [];
  #waitingChanges = 0;
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  readonly #reading = new Set<Promise<void>>();
  #compactionDue = false;
  #compactionRequested = 0;
  /** The error of the last compaction; undefined after a successful one. */
  #compactionFault: StorageUnavailable | undefined;
  #cancelCompaction: () => void = () => {};
  #closed: Promise<void> | undefined;
  /** The error of the last write; undefined after a successful one. */
  #writeFault: StorageUnavailable | undefined;
  #lost: StorageLost | undefined;

  constructor(ledger: Ledger, options: StorageOptions) {
    const { revision, compacted, historyBytes } = ledger.marks();
    this.#ledger = ledger;
    this.#options = options;
    this.#horizon = { revision, compacted };
    this.#historyBytes = historyBytes;
    this.#assigned = revision;
    this.#pending = new PendingKeys(ledger);
    this.#subscribers = new LogSubscribers(ledger, this.#horizon);
    this.#older = new OlderStates(ledger, this.#horizon);
    this.#expirer = new Expirer({
      ledger,
      clock: options.clock,
      logger: options.logger,
      expire: (due) => this.#expire(due),
    });
    this.#scheduleCompaction();
  }

  async get(key: string, revision?: number): Promise<Stored | undefined> {
    if (revision === undefined) {
      this.#checkOpen();
      const change = this.#pending.durable(key);
      return change && storedOf(change);
    }
    return this.#read(async () => {
      const difference = this.#older.since(revision);
      while (!this.#advance(difference)) await nextTurn();
      const position = difference.positions.get(key);
      const change =
        position === undefined
          ? this.#pending.durable(key)
          : position === 0
            ? undefined
            : this.#ledger.read(position, key);
      return change && storedOf(change);
    });
  }

  range(
    prefix: string,
    { after, limit = Number.POSITIVE_INFINITY, revision = this.#horizon.revision }: RangeOptions = {},
  ): Promise<Range> {
    return this.#read(async () => {
      const entries: Stored[] = [];
      for (let from = after; ; from = entries.at(-1)?.key) {
        const difference = this.#older.since(revision);
        while (!this.#advance(difference)) await nextTurn();
        const page = {
          prefix,
          after: from,
          positions: difference.positions,
          until: Math.min(limit, entries.length + rangePage),
        };
        const more = readPage(this.#ledger, this.#pending, page, entries);
        if (!more || entries.length >= limit) return { entries, revision, more };
        await nextTurn();
      }
    });
  }

  async count(prefix: string): Promise<number> {
    this.#checkOpen();
    let count = this.#ledger.count(prefix);
    for (const [key, durable] of this.#pending.durables(prefix))
      count += Number(durable !== 0) - Number(this.#ledger.position(key) !== 0);
    return count;
  }

  async commit(checks: readonly Check[], requested: readonly (Write | DerivedWrite)[]): Promise<Committed | Conflict> {
    this.#checkOpen();
    checkWrites(requested, this.#options.valueBytesMax);
    for (const { key, revision } of checks) {
      if (this.#pending.newestRevision(key) === revision) continue;
      const current = this.#pending.newest(key);
      if (current !== undefined) this.#derived.keep(current);
      return this.#whenDurable({ ok: false, key, current: current && storedOf(current) }, [key]);
    }
    this.#checkBacklog();
    let writes: readonly PlainWrite[];
    try {
      writes = this.#plainWrites(requested);
    } catch (error) {
      if (requested.some(({ key }) => this.#pending.has(key))) await this.#enqueue(noChanges);
      throw error;
    }
    const changes = this.#accept(writes);
    if (changes.length > 0) return this.#enqueue({ changes, expiries: expiriesOf(changes, writes), dropExpiries: [] });
    // There were no writes, or only deletions of absent keys.
    return this.#whenDurable({ ok: true, revision: this.#assigned }, [
      ...checks.map(({ key }) => key),
      ...writes.map(({ key }) => key),
    ]);
  }

  /**
   * Writes any number of keys, at consecutive revisions of at most 128 changes each. Readers and subscribers see none of
   * them or all. Other writes are accepted meanwhile, and are based on these.
   * @returns the revision of the last write; that of the newest state when nothing changes
   * @throws StorageUnavailable when the writes could not be made durable; none of them is visible then
   */
  async commitTogether({ decide, beforeVisible }: JointWrites): Promise<number> {
    this.#checkOpen();
    const writes = decide(this.#pending);
    const changes: Change[] = [];
    const expiries: Expiry[] = [];
    for (let at = 0; at < writes.length; at += changesMax) {
      const some = writes.slice(at, at + changesMax);
      const accepted = this.#accept(some);
      changes.push(...accepted);
      expiries.push(...expiriesOf(accepted, some));
    }
    const revision = this.#assigned;
    // They are one request, which must not make others fail.
    const cost = { changes: 0, bytes: 0 };
    await this.#enqueue({ changes, expiries, dropExpiries: [], cost, beforeVisible: () => beforeVisible(revision) });
    return revision;
  }

  /** Waits for a moment between two groups: the ledger then has what readers see. It holds until the caller awaits. */
  async betweenGroups(): Promise<void> {
    this.#checkOpen();
    while (this.#ledger.marks().revision !== this.#horizon.revision) await nextTurn();
  }

  log(prefix: string, from: number, subscriber: LogSubscriber): Subscription {
    this.#checkOpen();
    if (from < this.#horizon.compacted) throw new RevisionCompacted(this.#horizon.compacted);
    if (from > this.#horizon.revision) throw new RevisionInFuture(this.#horizon.revision);
    return this.#subscribers.add(prefix, from, subscriber);
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    if (revision > this.#horizon.revision) throw new RevisionInFuture(this.#horizon.revision);
    this.#compactionRequested = Math.max(this.#compactionRequested, revision);
    while (this.#horizon.compacted < revision) {
      this.#checkOpen();
      this.#compactionDue = true;
      await this.#enqueue(noChanges);
      if (this.#compactionFault !== undefined) throw this.#compactionFault;
    }
  }

  async checkReadable(): Promise<void> {
    await this.current();
  }

  async checkWritable(): Promise<void> {
    this.#checkOpen();
    try {
      this.#ledger.checkReadable();
    } catch (cause) {
      throw new StorageUnavailable(`the store cannot be read: ${cause}`, { cause });
    }
    if (this.#writeFault === undefined) return;
    if (this.#waiting.length === 0) await this.#enqueue(noChanges);
    else throw this.#writeFault;
  }

  async current(): Promise<number> {
    this.#checkOpen();
    return this.#horizon.revision;
  }

  compacted(): number {
    return this.#horizon.compacted;
  }

  async sizeBytes(): Promise<number> {
    return this.#ledger.sizeBytes();
  }

  pin(): StatePin {
    this.#checkOpen();
    return this.#ledger.pin();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#expirer.close();
    this.#cancelCompaction();
    await Promise.all([this.#writing, ...this.#reading]);
    this.#subscribers.close();
    await this.#ledger.close();
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw new StorageUnavailable("the store is closed");
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** Runs a read; `close` waits for it. */
  async #read<Answer>(read: () => Promise<Answer>): Promise<Answer> {
    this.#checkOpen();
    const reading = read();
    const settled = reading.then(ignore, ignore);
    this.#reading.add(settled);
    try {
      return await reading;
    } finally {
      this.#reading.delete(settled);
    }
  }

  /**
   * Extends the difference by some changes.
   * @returns whether it is complete up to the current revision, which holds until the caller awaits
   * @throws RevisionCompacted
   * @throws RevisionInFuture
   */
  #advance(difference: Difference): boolean {
    this.#checkReadable(difference.revision);
    return this.#older.advance(difference);
  }

  #checkReadable(revision: number): void {
    if (revision > this.#horizon.revision) throw new RevisionInFuture(this.#horizon.revision);
    if (revision < this.#horizon.compacted) throw new RevisionCompacted(this.#horizon.compacted);
  }

  /** Evaluates derived writes on the newest state. */
  #plainWrites(requested: readonly (Write | DerivedWrite)[]): readonly PlainWrite[] {
    if (!requested.some(isDerived)) return requested as readonly Write[];
    const plain: PlainWrite[] = [];
    for (const write of requested) {
      if (!isDerived(write)) {
        plain.push(write);
        continue;
      }
      const { key } = write;
      const newest = this.#pending.newest(key);
      const derived = write.derive(newest && storedOf(newest));
      if (derived === undefined) continue;
      checkValue(derived.value, this.#options.valueBytesMax);
      plain.push({ key, value: derived.value, wasDerived: true, ...(derived.seal && { seal: derived.seal }) });
    }
    return plain;
  }

  #checkBacklog(): void {
    if (this.#waitingChanges < (this.#options.waitingMax ?? waitingMaxDefault) && this.#waitingBytes < waitingBytesMax)
      return;
    throw new StorageUnavailable(
      `too many writes are waiting for the disk: ${this.#waitingChanges} changes, ${this.#waitingBytes} bytes`,
    );
  }

  /** Applies the writes to the newest state, at a new revision; none of them when a key cannot be read. */
  #accept(writes: readonly PlainWrite[]): Change[] {
    const revision = this.#assigned + 1;
    const at = this.#options.clock.now();
    const changes: Change[] = [];
    for (const { key, value, seal, wasDerived } of writes) {
      const previous = this.#pending.newestHead(key);
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
      if (wasDerived) this.#derived.add(change);
    }
    for (const change of changes) this.#pending.add(change);
    if (changes.length > 0) this.#assigned = revision;
    return changes;
  }

  /** Returns the result as soon as the states of the keys that it reports are durable. */
  async #whenDurable<Result extends Committed | Conflict>(result: Result, keys: readonly string[]): Promise<Result> {
    if (keys.some((key) => this.#pending.has(key))) await this.#enqueue(noChanges);
    return result;
  }

  #enqueue({
    changes,
    expiries,
    dropExpiries,
    beforeVisible,
    cost = costOfAll(changes),
  }: Omit<Waiting, "settle" | "cost"> & Partial<Pick<Waiting, "cost">>): Promise<Committed> {
    const revision = this.#assigned;
    this.#waitingChanges += cost.changes;
    this.#waitingBytes += cost.bytes;
    return new Promise((resolve, reject) => {
      const settle = (error: StorageUnavailable | undefined): void =>
        error === undefined ? resolve({ ok: true, revision }) : reject(error);
      this.#waiting.push({ changes, expiries, dropExpiries, cost, beforeVisible, settle });
      this.#writing ??= this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    const endWork = this.#options.clock.beginWork?.();
    while (this.#waiting.length > 0 || this.#compactionDue) {
      await this.#gatherCommits();
      await this.#writeGroup(this.#takeGroup());
    }
    this.#writing = undefined;
    endWork?.();
  }

  /**
   * Waits until a turn of the event loop adds no commit: writing a group takes about as long for
   * one change as for many.
   */
  async #gatherCommits(): Promise<void> {
    for (let turn = 0, before = -1; turn < groupTurnsMax && this.#waiting.length > before; turn++) {
      before = this.#waiting.length;
      await nextTurn();
    }
  }

  #takeGroup(): Waiting[] {
    let count = 0;
    const end = this.#waiting.findIndex(({ changes }) => {
      count += changes.length;
      return count >= groupMax;
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end + 1);
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    const compaction = this.#compactionDue ? this.#nextCompaction() : undefined;
    this.#compactionDue = compaction?.more ?? false;
    const changes = this.#derived.merge(group.map((waiting) => waiting.changes));
    const last = changes.at(-1);
    let historyBytes = compaction?.historyBytes ?? this.#historyBytes;
    for (const change of changes) historyBytes += change.historyBytes;
    const marks = {
      revision: last === undefined ? this.#horizon.revision : revisionOf(last.position),
      compacted: compaction?.compacted ?? this.#horizon.compacted,
      historyBytes,
    };
    const expiries = group.flatMap((waiting) => waiting.expiries);
    const dropExpiries = group.flatMap((waiting) => waiting.dropExpiries);
    const compactedBefore = this.#horizon.compacted;
    if (last !== undefined || compaction !== undefined || dropExpiries.length > 0 || this.#writeFault !== undefined) {
      // The write drops history at some moment before it resolves.
      this.#horizon.compacted = marks.compacted;
      try {
        if (this.#lost !== undefined) throw this.#lost;
        await this.#options.faults?.beforeWrite();
        await this.#ledger.write({ changes, expiries, drop: compaction?.drop ?? [], dropExpiries, marks });
      } catch (error) {
        this.#horizon.compacted = compactedBefore;
        this.#fail(group, error);
        return;
      }
    }
    // On a full disk deletions may succeed where puts fail, so they do not prove that writes work.
    const provesRecovery =
      last === undefined
        ? compaction === undefined && dropExpiries.length === 0
        : changes.some(({ type }) => type === "put");
    if (this.#writeFault !== undefined && provesRecovery) this.#logRecovery();
    for (const waiting of group) for (const change of waiting.changes) this.#pending.settle(change);
    for (const { beforeVisible } of group) beforeVisible?.();
    this.#horizon.revision = marks.revision;
    this.#historyBytes = historyBytes;
    if (compaction !== undefined) this.#older.forget(compaction.compacted);
    if (changes.length > 0 && historyBytes > this.#options.historyBytesMax) this.#compactionDue = true;
    if (changes.length > 0) this.#subscribers.deliver(changes);
    for (const { at } of expiries) this.#expirer.expect(at);
    this.#settle(group, undefined);
  }

  /**
   * Rejects the group and all waiting commits, because they are based on the state that could not
   * be written.
   */
  #fail(group: readonly Waiting[], cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const error = new StorageUnavailable(`the write could not be made durable: ${reason}`, { cause });
    if (this.#writeFault === undefined) this.#options.logger?.error("Writes to the store fail", { reason });
    this.#writeFault = error;
    if (cause instanceof StorageLost) this.#lost = cause;
    const all = [...group, ...this.#waiting.splice(0)];
    this.#pending.clear();
    this.#derived.clear();
    this.#assigned = this.#horizon.revision;
    this.#compactionDue = false;
    this.#settle(all, error);
  }

  #logRecovery(): void {
    this.#writeFault = undefined;
    this.#options.logger?.info("Writes to the store work again");
  }

  #settle(group: readonly Waiting[], error: StorageUnavailable | undefined): void {
    for (const { cost, settle } of group) {
      this.#waitingChanges -= cost.changes;
      this.#waitingBytes -= cost.bytes;
      settle(error);
    }
  }

  async #expire(due: readonly Expiry[]): Promise<void> {
    const over = due.filter(({ key, position }) => this.#pending.newestHead(key)?.position === position);
    const writes = over.map(({ key }): Write => ({ key, value: null }));
    await this.#enqueue({ changes: this.#accept(writes), expiries: [], dropExpiries: due });
  }

  /** Returns undefined also when the history cannot be read: the commits of the group do not need it. */
  #nextCompaction(): CompactionStep | undefined {
    const { clock, logger } = this.#options;
    const state = {
      ...this.#horizon,
      historyBytes: this.#historyBytes,
      now: clock.now(),
      requested: this.#compactionRequested,
    };
    try {
      const step = nextCompaction(this.#ledger, this.#options, state);
      this.#compactionFault = undefined;
      return step;
    } catch (cause) {
      if (this.#compactionFault === undefined) logger?.warn("Compaction failed", { error: String(cause) });
      this.#compactionFault = new StorageUnavailable(`the history cannot be read: ${cause}`, { cause });
      return undefined;
    }
  }

  #scheduleCompaction(): void {
    const { clock, historyMs } = this.#options;
    this.#cancelCompaction = clock.after(
      Math.min(Math.max(historyMs / compactionsPerHistory, 10), compactionPauseMaxMs),
      () => {
        this.#scheduleCompaction();
        const isQuiet = this.#writing === undefined && this.#writeFault === undefined;
        if (isQuiet && this.#nextCompaction() === undefined) return nothingToDo;
        this.#compactionDue = true;
        this.#writing ??= this.#writeAll();
        return undefined;
      },
    );
  }
}

const nothing = Buffer.alloc(0);
const noChanges = { changes: [], expiries: [], dropExpiries: [] };

function ignore(): void {}

function costOf(key: string, valueBytes: number): number {
  return key.length + valueBytes + changeOverheadBytes;
}

function costOfAll(changes: readonly Change[]): Waiting["cost"] {
  let bytes = 0;
  for (const { key, value } of changes) bytes += costOf(key, value.length);
  return { changes: changes.length, bytes };
}

/** The expiries of the puts that have a time to live. */
function expiriesOf(changes: readonly Change[], writes: readonly PlainWrite[]): Expiry[] {
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
