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
import { LinkedList } from "../../lib/linked-list/linked-list.ts";
import { checkWrites } from "../check-writes.ts";
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
import { changesOf, expiriesOf, type PlainWrite, plainWrites } from "./accept-writes.ts";
import { type CompactionStep, nextCompaction } from "./compaction.ts";
import { DerivedChanges } from "./derived-changes.ts";
import { Expirer } from "./expirer.ts";
import { type Change, changesMax, type Expiry, type Ledger, revisionOf } from "./ledger.ts";
import { LogSubscribers } from "./log-subscribers.ts";
import { nextTurn } from "./next-turn.ts";
import { PendingKeys } from "./pending-keys.ts";
import { StateReads } from "./state-reads.ts";
import { storedOf } from "./views.ts";
import { costOfAll, type Waiting, WaitingCommits } from "./waiting-commits.ts";

/** Checks for history above its age limit, per length of that limit. */
const compactionsPerHistory = 20;
/** The longest interval between these checks, because the delay of a timer is limited. */
const compactionPauseMaxMs = 3_600_000;

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
class EmbeddedStorage implements Storage {
  readonly isShared = false;
  readonly reportsProgress = true;
  readonly #ledger: Ledger;
  readonly #options: StorageOptions;
  readonly #pending: PendingKeys;
  readonly #derived = new DerivedChanges();
  readonly #subscribers: LogSubscribers;
  readonly #reads: StateReads;
  readonly #expirer: Expirer;
  /** The durable state that readers may see. */
  readonly #horizon: { revision: number; compacted: number };
  #historyBytes: number;
  /** The newest revision assigned to a commit; it may not be durable yet. */
  #assigned: number;
  readonly #waiting: WaitingCommits;
  #writing: Promise<void> | undefined;
  readonly #reading = new LinkedList<Promise<void>>();
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
    this.#waiting = new WaitingCommits(options.waitingMax);
    this.#subscribers = new LogSubscribers(ledger, this.#horizon);
    this.#reads = new StateReads(ledger, this.#pending, this.#horizon);
    this.#expirer = new Expirer({
      ledger,
      clock: options.clock,
      logger: options.logger,
      expire: (due) => this.#expire(due),
    });
    this.#scheduleCompaction();
  }

  async get(key: string, revision?: number): Promise<Stored | undefined> {
    this.#checkOpen();
    return revision === undefined ? this.#reads.get(key) : this.#read(() => this.#reads.getAt(key, revision));
  }

  range(prefix: string, options: RangeOptions = {}): Promise<Range> {
    return this.#read(() => this.#reads.range(prefix, options));
  }

  changedKeys(prefix: string, after: number, max: number): Promise<readonly string[] | undefined> {
    return this.#read(() => this.#reads.changedKeys(prefix, after, max));
  }

  async count(prefix: string): Promise<number> {
    this.#checkOpen();
    return this.#reads.count(prefix);
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
    this.#waiting.checkBacklog();
    let writes: readonly PlainWrite[];
    try {
      writes = plainWrites(requested, this.#pending, this.#options.valueBytesMax);
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
    if (this.#waiting.isEmpty) await this.#enqueue(noChanges);
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
    const member = this.#reading.add(reading.then(ignore, ignore));
    try {
      return await reading;
    } finally {
      this.#reading.remove(member);
    }
  }

  /** Applies the writes to the newest state, at a new revision; none of them when a key cannot be read. */
  #accept(writes: readonly PlainWrite[]): Change[] {
    const revision = this.#assigned + 1;
    const changes = changesOf(writes, this.#pending, revision, this.#options.clock.now());
    if (changes.length === 0) return changes;
    for (const change of changes) this.#pending.add(change);
    for (const { key, wasDerived } of writes) {
      const change = wasDerived && changes.find((one) => one.key === key);
      if (change) this.#derived.add(change);
    }
    this.#assigned = revision;
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
    return new Promise((resolve, reject) => {
      const settle = (error: StorageUnavailable | undefined): void =>
        error === undefined ? resolve({ ok: true, revision }) : reject(error);
      this.#waiting.add({ changes, expiries, dropExpiries, cost, beforeVisible, settle });
      this.#writing ??= this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    const endWork = this.#options.clock.beginWork?.();
    while (!this.#waiting.isEmpty || this.#compactionDue) {
      await this.#waiting.gather();
      await this.#writeGroup(this.#waiting.takeGroup());
    }
    this.#writing = undefined;
    endWork?.();
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
    if (compaction !== undefined) this.#reads.forget(compaction.compacted);
    if (changes.length > 0 && historyBytes > this.#options.historyBytesMax) this.#compactionDue = true;
    if (changes.length > 0) this.#subscribers.deliver(changes);
    for (const { at } of expiries) this.#expirer.expect(at);
    this.#waiting.settle(group, undefined);
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
    const all = [...group, ...this.#waiting.takeAll()];
    this.#pending.clear();
    this.#derived.clear();
    this.#assigned = this.#horizon.revision;
    this.#compactionDue = false;
    this.#waiting.settle(all, error);
  }

  #logRecovery(): void {
    this.#writeFault = undefined;
    this.#options.logger?.info("Writes to the store work again");
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

const noChanges = { changes: [], expiries: [], dropExpiries: [] };

function ignore(): void {}
