import { statSync, truncateSync } from "node:fs";
import { type StatePin, StorageLost } from "../contract.ts";
import { compareKeys, endOfPrefix } from "../embedded/key-order.ts";
import {
  type Change,
  type ChangeHead,
  type Expiry,
  emptyMarks,
  type Ledger,
  type LedgerGroup,
  type Marks,
  positionOf,
  revisionOf,
  unknownPosition,
} from "../embedded/ledger.ts";
import type { StorageOptions } from "../options.ts";
import { checkFile, closingChecksum, dataFile } from "./check-file.ts";
import { DamageReports } from "./damage-reports.ts";
import { type DirectoryLock, lockDirectory } from "./directory-lock.ts";
import { DiskReserve } from "./disk-reserve.ts";
import { FileGuard, hasOverrunMemory } from "./file-guard.ts";
import { readFreePages, suffices } from "./free-pages.ts";
import { GroupWriter } from "./group-writer.ts";
import { readInUse, removeInUse, writeClosed, writeInUse } from "./in-use.ts";
import { allPagesMax } from "./index-checksum.ts";
import { causeOf, isUsable, lastSize, type Maps, type MapsOptions, openMaps, usedBytes } from "./maps.ts";
import { decodeExpiry, decodePosition } from "./pointers.ts";
import { Readers } from "./readers.ts";
import { isContinued, type RecordRules, readHead, readRecord, recordProblem, valueBytes } from "./record.ts";
import { RecordCopies } from "./record-copies.ts";
import { largestNeed, needOf, type SpaceNeed } from "./space-need.ts";

/**
 * A range that is read in one turn of the event loop needs no snapshot of its own. With a snapshot,
 * a range that fails would hold its transaction, and lmdb-js would use it for all further reads.
 */
const oneTurn = { snapshot: false };
/** LMDB's error codes, `MDB_KEYEXIST` to the last one. */
const lmdbCodes = { last: -30799, first: -30700 };
interface LedgerOptions extends MapsOptions, Pick<StorageOptions, "onDamage" | "logger"> {
  /** Whether the part of the file that is reserved for writes is cut off at the end: for stores that are complete. */
  readonly trims?: boolean;
}

/** A ledger in LMDB. A group of changes is one transaction, which a thread of lmdb-js executes. */
export class LmdbLedger implements Ledger {
  readonly #options: LedgerOptions;
  readonly #lock: DirectoryLock;
  #maps: Maps;
  #marks: Marks;
  readonly #rules: RecordRules;
  readonly #reserve: DiskReserve;
  readonly #guard: FileGuard;
  readonly #damage: DamageReports;
  readonly #writer: GroupWriter;
  /** LMDB rejects all transactions, and could not be reopened yet. */
  #broken = false;
  /** The last write failed in LMDB. */
  #failed = false;
  /** What the largest put of the last group needs for which there was no space. */
  #lacking: SpaceNeed | undefined;
  /** The last read that failed in LMDB, until it succeeds. */
  #failedRead: (() => unknown) | undefined;
  readonly #copies = new RecordCopies();
  readonly #pins = new Set<StatePin>();

  private constructor(options: LedgerOptions, lock: DirectoryLock, maps: Maps) {
    this.#options = options;
    this.#lock = lock;
    this.#maps = maps;
    this.#marks = maps.marks;
    this.#rules = maps.marks;
    this.#damage = new DamageReports(options.onDamage);
    this.#writer = new GroupWriter(this.#rules);
    const readers = new Readers(options.logger);
    this.#reserve = new DiskReserve({
      path: dataFile(options.dir),
      measure: () => usedBytes(this.#maps.root),
      beforeExtending: () => readers.check(this.#maps.root),
      hasFreePages: (need) => this.#hasFreePages(need, readers),
    });
    this.#guard = new FileGuard(dataFile(options.dir));
  }

  /**
   * Locks the directory, checks its files, and opens the store.
   * @throws DamagedStore
   * @throws DirectoryInUse when another server uses the directory
   * @throws Error when it cannot be read, or has another format
   */
  static async open(options: LedgerOptions): Promise<LmdbLedger> {
    const { dir } = options;
    const lock = await lockDirectory(dir);
    try {
      checkBeforeOpening(options);
      return await LmdbLedger.#openChecked(options, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  static async #openChecked(options: LedgerOptions, lock: DirectoryLock): Promise<LmdbLedger> {
    const { dir } = options;
    writeInUse(dir, "opening", options.logger);
    try {
      const ledger = new LmdbLedger(options, lock, await openMaps(options));
      writeInUse(dir, "open", options.logger);
      return ledger;
    } catch (error) {
      // The file is for a process that ends without reporting an error.
      removeInUse(dir);
      throw error;
    }
  }

  marks(): Marks {
    return this.#marks;
  }

  position(key: string): number {
    return this.#reading(() => {
      const { current } = this.#maps;
      const value = current.getBinaryFast(key);
      return value === undefined ? 0 : this.#positionIn(key, value, lastSize(current));
    });
  }

  read(position: number, key: string): Change {
    const record = this.#record(position);
    if (typeof record === "string") return this.#damage.put(key, position, record);
    const change = readRecord(position, record);
    return isPutOf(key, change)
      ? change
      : this.#damage.put(key, position, `there is the record of another key in its place: ${change.key}`);
  }

  valueBytes(position: number, key: string): number | undefined {
    const record = this.#record(position);
    return typeof record !== "string" && isPutOf(key, readHead(position, record)) ? valueBytes(record) : undefined;
  }

  /** Returns a copy of the record; a string with the problem when it is damaged. */
  #record(position: number): Buffer | string {
    if (position === unknownPosition) return lost;
    return this.#reading(() => {
      const { log } = this.#maps;
      const shared = log.getBinaryFast(position);
      if (shared === undefined) return missing;
      const record = this.#copies.copy(shared, lastSize(log));
      return recordProblem(position, record, this.#rules) ?? record;
    });
  }

  *keys(prefix: string, after: string | undefined): IterableIterator<[string, number]> {
    const start =
      after === undefined || compareKeys(after, prefix) < 0
        ? { start: prefix }
        : { start: after, exclusiveStart: true };
    try {
      const range = { ...start, end: endOfPrefix(prefix), ...oneTurn };
      for (const { key, value } of this.#maps.current.getRange(range)) {
        if (!key.startsWith(prefix)) return;
        yield [key, this.#positionIn(key, value, value.length)];
      }
    } catch (error) {
      this.#noteFailedRead(error, () => {
        for (const _ of this.keys(prefix, after));
      });
      throw error;
    }
  }

  count(prefix: string): number {
    const count = this.#maps.current.getKeysCount({ start: prefix, end: endOfPrefix(prefix), ...oneTurn });
    // lmdb-js reports no error when it counts. Callers may delete a container that has no entries.
    if (count === 0) for (const _ of this.keys(prefix, undefined)) break;
    return count;
  }

  heads(after: number, limit: number): ChangeHead[] {
    return this.#reading(() => this.#scan(after, limit, readHead));
  }

  changes(after: number, limit: number): Change[] {
    return this.#reading(() => this.#scan(after, limit, readRecord));
  }

  checkReadable(): void {
    if (this.#failedRead !== undefined) this.#reading(this.#failedRead);
    this.#failedRead = undefined;
  }

  #reading<Answer>(read: () => Answer): Answer {
    try {
      return read();
    } catch (error) {
      this.#noteFailedRead(error, read);
      throw error;
    }
  }

  /**
   * Remembers a read that failed in LMDB. LMDB rejects all further reads of the same transaction
   * (MDB_BAD_TXN), so the next one gets a new transaction.
   */
  #noteFailedRead(error: unknown, read: () => unknown): void {
    if (!isLmdbError(error)) return;
    this.#failedRead = read;
    this.#maps.root.resetReadTxn();
  }

  expiries(limit: number): Expiry[] {
    return this.#reading(() => this.#firstExpiries(limit));
  }

  #firstExpiries(limit: number): Expiry[] {
    const expiries: Expiry[] = [];
    for (const { key, value } of this.#maps.expiry.getRange({ start: [0, 0], ...oneTurn })) {
      const [at, position] = key;
      const expiry = decodeExpiry(at, position, value, this.#rules);
      if (expiry !== undefined) expiries.push(expiry);
      else
        this.#damage.report(position, undefined, "a time at which a key expires is damaged: the key does not expire");
      if (expiries.length === limit) break;
    }
    return expiries;
  }

  async write(group: LedgerGroup): Promise<void> {
    this.#guard.check();
    if (this.#broken) await this.#reopen();
    const { root } = this.#maps;
    if (this.#failed) await this.#guard.probeDisk(usedBytes(root));
    await this.#ensureSpace(group);
    await this.#transact(group);
  }

  async #transact(group: LedgerGroup): Promise<void> {
    const { root } = this.#maps;
    try {
      const appended: Promise<boolean>[] = [];
      const written = root.batch(() => void appended.push(...this.#writer.put(group, this.#maps)));
      const [, ...added] = await Promise.all([written, ...appended]);
      if (added.includes(false)) throw new StorageLost(notAppended);
    } catch (error) {
      this.#failed = true;
      const cause = await causeOf(error);
      if (hasOverrunMemory(cause)) throw new StorageLost(overrun, { cause });
      // The promise of another write to an unusable environment would never settle.
      if (!isUsable(root)) await this.#reopen();
      throw cause;
    }
    this.#failed = false;
    root.resetReadTxn();
    this.#marks = group.marks;
  }

  /** A test whether writes work needs what was lacking, so that it does not pass while writes of clients fail. */
  async #ensureSpace(group: LedgerGroup): Promise<void> {
    const need = needOf(group);
    // A group that only deletes must be able to free space on a full disk.
    if (onlyDeletes(group)) return this.#reserve.count(need);
    const isTest = group.changes.length === 0;
    try {
      await this.#reserve.ensure(isTest ? (this.#lacking ?? need) : need);
      this.#lacking = undefined;
    } catch (error) {
      if (!isTest) this.#lacking = largestNeed(group);
      throw error;
    }
  }

  /** When the pages are those that the last transaction freed, another one with the same marks makes them usable. */
  async #hasFreePages(need: SpaceNeed, readers: Readers): Promise<boolean> {
    const { root } = this.#maps;
    // A read transaction that is not in use would hold pages.
    root.resetReadTxn();
    const path = dataFile(this.#options.dir);
    const free = readFreePages(path, readers.oldest(root));
    if (free === undefined || suffices(free.now, need)) return free !== undefined;
    const unused = statSync(path).size - usedBytes(root);
    if (!suffices(free.later, need) || (unused < marksNeed.bytes && !suffices(free.now, marksNeed))) return false;
    await this.#transact({ ...noChanges, marks: this.#marks });
    const freed = readFreePages(path, readers.oldest(this.#maps.root));
    return freed !== undefined && suffices(freed.now, need);
  }

  sizeBytes(): number {
    return statSync(dataFile(this.#options.dir), { throwIfNoEntry: false })?.size ?? 0;
  }

  pin(): StatePin {
    const transaction = this.#maps.root.useReadTransaction();
    const pin = {
      isHeld: true,
      release: () => {
        if (!this.#pins.delete(pin)) return;
        pin.isHeld = false;
        transaction.done();
      },
    };
    this.#pins.add(pin);
    return pin;
  }

  async #closeMaps(): Promise<void> {
    for (const pin of this.#pins) pin.release();
    await this.#maps.root.close();
  }

  async close(): Promise<void> {
    const end = this.#options.trims === true ? usedBytes(this.#maps.root) : undefined;
    await this.#closeMaps();
    try {
      if (end !== undefined) trim(dataFile(this.#options.dir), end);
      noteClosed(this.#options, this.#guard);
    } finally {
      this.#lock.release();
    }
  }

  /**
   * Reopens the environment after LMDB has failed; when that fails, the next write tries again.
   * @throws Error when it cannot be opened, or is not at the last acknowledged revision
   */
  async #reopen(): Promise<void> {
    this.#broken = true;
    await this.#closeMaps();
    // LMDB would create a missing file.
    this.#guard.check();
    this.#maps = await openMaps(this.#options);
    const { revision } = this.#maps.marks;
    if (revision !== this.#marks.revision) {
      throw new Error(
        `the disk has revision ${revision} after a write that it refused; revision ${this.#marks.revision} was the last one answered`,
      );
    }
    this.#broken = false;
  }

  /**
   * Reads records after the revision. A damaged record, or a run of missing ones, becomes one
   * change with `damage`.
   */
  #scan<Head extends ChangeHead>(
    after: number,
    limit: number,
    decode: (position: number, record: Buffer) => Head,
  ): Head[] {
    const heads: Head[] = [];
    // The revision of an empty store has no record.
    let next = positionOf(Math.max(after, emptyMarks.revision) + 1, 0);
    let orNext = next;
    for (const { key: position, value: record } of this.#maps.log.getRange({ start: next, limit, ...oneTurn })) {
      if (position !== next && position !== orNext) heads.push(this.#damage.change<Head>(next, missing));
      const problem = recordProblem(position, record, this.#rules);
      heads.push(problem === undefined ? decode(position, record) : this.#damage.change<Head>(position, problem));
      const continued = problem === undefined ? isContinued(record) : undefined;
      next = continued === true ? position + 1 : positionOf(revisionOf(position) + 1, 0);
      orNext = continued === undefined ? position + 1 : next;
    }
    if (heads.length < limit && revisionOf(next) <= this.#marks.revision) {
      heads.push(this.#damage.change<Head>(next, missing));
    }
    return heads.slice(0, limit);
  }

  #positionIn(key: string, value: Buffer, length: number): number {
    const position = decodePosition(key, value, length, this.#rules);
    if (position === unknownPosition) this.#damage.report(key, key, lost);
    return position;
  }
}

function isLmdbError(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === "number" && code >= lmdbCodes.last && code <= lmdbCodes.first;
}

const noChanges = { changes: [], expiries: [], drop: [], dropExpiries: [] };
/** What a transaction needs at most that writes only marks, and lists of free pages. */
const marksNeed: SpaceNeed = { bytes: 128 << 10, records: 0, largestBytes: 0 };
const overrun =
  "lmdb-js may have damaged the memory of this process when it described a failed write: the server must be restarted";
const notAppended = "LMDB has not added a record at the end of the log: the server must be restarted";
const lost = "the position of its record is damaged";
const missing = "its record is missing";

function isPutOf(key: string, head: ChangeHead): boolean {
  return head.type === "put" && head.key === key;
}

/**
 * Checks the files, more thoroughly when the last server did not close the store.
 * @throws DamagedStore
 * @throws Error when the file belongs to another program, or cannot be read
 */
function checkBeforeOpening({ dir, logger }: LedgerOptions): void {
  const inUse = readInUse(dir);
  const bytes = statSync(dataFile(dir), { throwIfNoEntry: false })?.size ?? 0;
  const withLog = inUse === "opening" || bytes <= allPagesMax;
  if (inUse !== "opening" && inUse !== "open") return checkFile(dir, { withLog, closedAs: inUse?.closedAs });
  const message =
    inUse === "opening"
      ? "The last server ended while it opened the store"
      : "The last server ended without closing the store";
  checkFile(dir, { withLog });
  logger?.warn(message, { dir, checked: withLog ? "all pages" : "the pages of the index" });
}

function onlyDeletes({ changes, drop, dropExpiries }: LedgerGroup): boolean {
  return changes.length > 0
    ? changes.every(({ type }) => type === "delete")
    : drop.length > 0 || dropExpiries.length > 0;
}

/**
 * Stores the checksum of the closed index. When that fails, because the disk is full or the file
 * was replaced, the next start checks all pages of the index.
 */
/** Cuts off what a file has after its end. */
function trim(file: string, end: number): void {
  if (statSync(file).size > end) truncateSync(file, end);
}

function noteClosed({ dir, logger }: LedgerOptions, guard: FileGuard): void {
  try {
    guard.check();
    const closedAs = closingChecksum(dir);
    if (closedAs !== undefined) return writeClosed(dir, { closedAs });
    logger?.warn("Pages of the closed store are damaged", { dir });
  } catch (error) {
    logger?.warn("Could not note that the store was closed", { dir, error: String(error) });
  }
  removeInUse(dir);
}
