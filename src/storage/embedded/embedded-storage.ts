/**
 * The logic that embedded engines share. Commits are decided at once, in memory, on the newest state, and get their revision; those of one turn of
 * the event loop, or of the time that the write before them takes, are written together. Nothing is visible before it is written.
 *
 * **Invariant:** revisions grow in the order in which commits were decided; groups are written, published and answered in that order; a commit
 * that was decided on a state that could not be written fails with it.
 */
import assert from "node:assert/strict";
import {
  type Check,
  type Committed,
  type Conflict,
  type LogSubscriber,
  type Range,
  type RangeOptions,
  RevisionCompacted,
  RevisionInFuture,
  type Storage,
  StorageLost,
  StorageUnavailable,
  type Stored,
  type Subscription,
  ValueTooLarge,
  type Write,
} from "../contract.ts";
import type { StorageOptions } from "../options.ts";
import { nextCompaction } from "./compaction.ts";
import { Expirer } from "./expirer.ts";
import { type Change, changesMax, type Expiry, type Ledger, positionOf, revisionOf } from "./ledger.ts";
import { LogSubscribers } from "./log-subscribers.ts";
import { nextTurn } from "./next-turn.ts";
import { type Difference, OlderStates } from "./older-states.ts";
import { readPage } from "./page.ts";
import { PendingKeys } from "./pending.ts";
import { storedOf } from "./views.ts";

/** Changes written together at most, but for the last commit's. */
const groupMax = 1024;
/** Turns of the event loop that a group waits at most for more changes. */
const gatheringTurnsMax = 4;
const waitingMaxDefault = 10_000;
const waitingBytesMax = 256 << 20;
/** Entries read before other requests are served. */
const rangePage = 1000;
/** Bytes of a key; LMDB's limit is 1978. */
const keyBytesMax = 1900;
/** Beside a value and its key, what a change costs in history. */
const changeOverheadBytes = 64;
/** How often history is looked at for what has become too old, as a part of its age limit. */
const compactionsPerHistory = 20;
/** … and at least so often: timers cannot count as far as history may reach. */
const compactionPauseMaxMs = 3_600_000;

/** A commit that waits to be written, or an answer that waits for the state it tells of. */
interface Waiting {
  readonly changes: readonly Change[];
  readonly expiries: readonly Expiry[];
  readonly dropExpiries: readonly Expiry[];
  readonly bytes: number;
  settle(error: StorageUnavailable | undefined): void;
}

export function openEmbeddedStorage(ledger: Ledger, options: StorageOptions): Storage {
  return new EmbeddedStorage(ledger, options);
}

class EmbeddedStorage implements Storage {
  readonly #ledger: Ledger;
  readonly #options: StorageOptions;
  readonly #pending: PendingKeys;
  readonly #subscribers: LogSubscribers;
  readonly #older: OlderStates;
  readonly #expirer: Expirer;
  /** What is durable and may be seen. */
  readonly #horizon: { revision: number; compacted: number };
  #historyBytes: number;
  /** Newest revision given to a commit. */
  #decided: number;
  #waiting: Waiting[] = [];
  #waitingChanges = 0;
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  readonly #reading = new Set<Promise<void>>();
  #compactionDue = false;
  #compactionDemanded = 0;
  #cancelCompaction: () => void = () => {};
  #closed: Promise<void> | undefined;
  /** Why the last write failed, until one works again. */
  #writeFault: StorageUnavailable | undefined;
  #lost: StorageLost | undefined;

  constructor(ledger: Ledger, options: StorageOptions) {
    const { revision, compacted, historyBytes } = ledger.marks();
    this.#ledger = ledger;
    this.#options = options;
    this.#horizon = { revision, compacted };
    this.#historyBytes = historyBytes;
    this.#decided = revision;
    this.#pending = new PendingKeys(ledger);
    this.#subscribers = new LogSubscribers(ledger, this.#horizon);
    this.#older = new OlderStates(ledger, this.#horizon);
    this.#expirer = new Expirer({ ledger, clock: options.clock, expire: (due) => this.#expire(due) });
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
      while (!this.#reachesNow(difference)) await nextTurn();
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
        while (!this.#reachesNow(difference)) await nextTurn();
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

  async commit(checks: readonly Check[], writes: readonly Write[]): Promise<Committed | Conflict> {
    this.#checkOpen();
    this.#checkWrites(writes);
    for (const { key, revision } of checks) {
      if (this.#pending.newestRevision(key) === revision) continue;
      const current = this.#pending.newest(key);
      return this.#answer({ ok: false, key, current: current && storedOf(current) }, [key]);
    }
    this.#checkBacklog();
    const changes = this.#decide(writes);
    if (changes.length > 0) return this.#enqueue(changes, writes, []);
    // Deletions of what is absent change nothing.
    return this.#answer({ ok: true, revision: this.#decided }, [
      ...checks.map(({ key }) => key),
      ...writes.map(({ key }) => key),
    ]);
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
    this.#compactionDemanded = Math.max(this.#compactionDemanded, revision);
    while (this.#horizon.compacted < revision) {
      this.#checkOpen();
      this.#compactionDue = true;
      await this.#enqueue([], [], []);
    }
  }

  async checkWritable(): Promise<void> {
    this.#checkOpen();
    if (this.#writeFault === undefined) return;
    if (this.#waiting.length === 0) await this.#enqueue([], [], []);
    else throw this.#writeFault;
  }

  async current(): Promise<number> {
    this.#checkOpen();
    return this.#horizon.revision;
  }

  compacted(): number {
    return this.#horizon.compacted;
  }

  sizeBytes(): number {
    return this.#ledger.sizeBytes();
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

  /** Whoever closes the store waits for it. */
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

  /** @returns whether the difference reaches to this moment: it does until the caller waits for anything. @throws RevisionCompacted · RevisionInFuture */
  #reachesNow(difference: Difference): boolean {
    this.#checkReadable(difference.revision);
    return this.#older.advance(difference);
  }

  #checkReadable(revision: number): void {
    if (revision > this.#horizon.revision) throw new RevisionInFuture(this.#horizon.revision);
    if (revision < this.#horizon.compacted) throw new RevisionCompacted(this.#horizon.compacted);
  }

  #checkWrites(writes: readonly Write[]): void {
    const { valueBytesMax } = this.#options;
    assert.ok(writes.length <= changesMax, `a commit has at most ${changesMax} writes`);
    assert.ok(
      writes.length < 2 || new Set(writes.map(({ key }) => key)).size === writes.length,
      "a commit writes each key once",
    );
    for (const { key, value } of writes) {
      assert.ok(key.length > 0, "a key is not empty");
      if (value !== null && value.length > valueBytesMax) throw new ValueTooLarge(value.length, valueBytesMax);
      // A character has three bytes of UTF-8 at most.
      if (key.length * 3 > keyBytesMax && Buffer.byteLength(key) > keyBytesMax)
        throw new ValueTooLarge(Buffer.byteLength(key), keyBytesMax);
    }
  }

  #checkBacklog(): void {
    if (this.#waitingChanges < (this.#options.waitingMax ?? waitingMaxDefault) && this.#waitingBytes < waitingBytesMax)
      return;
    throw new StorageUnavailable(
      `too many writes are waiting for the disk: ${this.#waitingChanges} changes, ${this.#waitingBytes} bytes`,
    );
  }

  /** Adds the writes to the newest state, at a new revision. */
  #decide(writes: readonly Write[]): Change[] {
    const revision = this.#decided + 1;
    const at = this.#options.clock.now();
    const changes: Change[] = [];
    for (const { key, value, seal } of writes) {
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
      this.#pending.add(change);
      changes.push(change);
    }
    if (changes.length > 0) this.#decided = revision;
    return changes;
  }

  /** The keys' states that the answer tells of must be durable before it is given. */
  async #answer<Answer extends Committed | Conflict>(answer: Answer, keys: readonly string[]): Promise<Answer> {
    if (keys.some((key) => this.#pending.has(key))) await this.#enqueue([], [], []);
    return answer;
  }

  #enqueue(changes: readonly Change[], writes: readonly Write[], dropExpiries: readonly Expiry[]): Promise<Committed> {
    const revision = this.#decided;
    const expiries = expiriesOf(changes, writes);
    let bytes = 0;
    for (const { key, value } of changes) bytes += costOf(key, value.length);
    this.#waitingChanges += changes.length;
    this.#waitingBytes += bytes;
    return new Promise((resolve, reject) => {
      const settle = (error: StorageUnavailable | undefined): void =>
        error === undefined ? resolve({ ok: true, revision }) : reject(error);
      this.#waiting.push({ changes, expiries, dropExpiries, bytes, settle });
      this.#writing ??= this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0 || this.#compactionDue) {
      await this.#gathered();
      await this.#writeGroup(this.#takeGroup());
    }
    this.#writing = undefined;
  }

  /** Resolves when a turn of the loop has brought nothing more: a group costs about as much for one change as for many. */
  async #gathered(): Promise<void> {
    for (let turn = 0, before = -1; turn < gatheringTurnsMax && this.#waiting.length > before; turn++) {
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
    const { limits, state } = this.#compaction();
    const compaction = this.#compactionDue ? nextCompaction(this.#ledger, limits, state) : undefined;
    this.#compactionDue = compaction?.more ?? false;
    const changes = group.flatMap((waiting) => waiting.changes);
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
      // What is being dropped is gone at some moment before we hear of it.
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
    // Deletions may work where puts do not, as on a full disk.
    const proves =
      last === undefined
        ? compaction === undefined && dropExpiries.length === 0
        : changes.some(({ type }) => type === "put");
    if (this.#writeFault !== undefined && proves) this.#recovered();
    for (const change of changes) this.#pending.settle(change);
    this.#horizon.revision = marks.revision;
    this.#historyBytes = historyBytes;
    if (compaction !== undefined) this.#older.forget(compaction.compacted);
    if (changes.length > 0 && historyBytes > this.#options.historyBytesMax) this.#compactionDue = true;
    if (changes.length > 0) this.#subscribers.deliver(changes);
    for (const { at } of expiries) this.#expirer.expect(at);
    this.#settle(group, undefined);
  }

  /** Nothing of what waits will be written: all of it was decided after what could not be. */
  #fail(group: readonly Waiting[], cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const error = new StorageUnavailable(`the write could not be made durable: ${reason}`, { cause });
    if (this.#writeFault === undefined) this.#options.logger?.error("Writes to the store fail", { reason });
    this.#writeFault = error;
    if (cause instanceof StorageLost) this.#lost = cause;
    const all = [...group, ...this.#waiting.splice(0)];
    this.#pending.clear();
    this.#decided = this.#horizon.revision;
    this.#compactionDue = false;
    this.#settle(all, error);
  }

  #recovered(): void {
    this.#writeFault = undefined;
    this.#options.logger?.info("Writes to the store work again");
  }

  #settle(group: readonly Waiting[], error: StorageUnavailable | undefined): void {
    for (const { changes, bytes, settle } of group) {
      this.#waitingChanges -= changes.length;
      this.#waitingBytes -= bytes;
      settle(error);
    }
  }

  async #expire(due: readonly Expiry[]): Promise<void> {
    const over = due.filter(({ key, position }) => this.#pending.newestHead(key)?.position === position);
    const writes = over.map(({ key }): Write => ({ key, value: null }));
    await this.#enqueue(this.#decide(writes), writes, due);
  }

  #compaction() {
    const { historyMs, historyBytesMax, clock } = this.#options;
    const { revision, compacted } = this.#horizon;
    const state = {
      revision,
      compacted,
      historyBytes: this.#historyBytes,
      now: clock.now(),
      demanded: this.#compactionDemanded,
    };
    return { limits: { historyMs, historyBytesMax }, state };
  }

  #scheduleCompaction(): void {
    const { clock, historyMs } = this.#options;
    this.#cancelCompaction = clock.after(
      Math.min(Math.max(historyMs / compactionsPerHistory, 10), compactionPauseMaxMs),
      () => {
        this.#compactionDue = true;
        this.#writing ??= this.#writeAll();
        this.#scheduleCompaction();
      },
    );
  }
}

const nothing = Buffer.alloc(0);

function ignore(): void {}

function costOf(key: string, valueBytes: number): number {
  return key.length + valueBytes + changeOverheadBytes;
}

/** When the puts among the changes expire. */
function expiriesOf(changes: readonly Change[], writes: readonly Write[]): Expiry[] {
  const expiries: Expiry[] = [];
  for (const change of changes) {
    const ttlSeconds = writes.find(({ key }) => key === change.key)?.ttlSeconds;
    if (ttlSeconds !== undefined && change.type === "put")
      expiries.push({ at: change.at + ttlSeconds * 1000, position: change.position, key: change.key });
  }
  return expiries;
}
