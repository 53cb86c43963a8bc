import { statSync } from "node:fs";
import { join } from "node:path";
import { compareKeys, endOfPrefix } from "../embedded/key-order.ts";
import { type Change, type ChangeHead, type Expiry, emptyMarks, type Ledger, type LedgerGroup, type Marks, positionOf } from "../embedded/ledger.ts";
import { type DirectoryLock, lockDirectory } from "./directory-lock.ts";
import { DiskReserve } from "./disk-reserve.ts";
import { integerKey } from "./keys.ts";
import { causeOf, isUsable, lastSize, layoutFormat, type Maps, type MapsOptions, openMaps, usedBytes } from "./maps.ts";
import { type Arena, readHead, readRecord, recordBytesMax, valueStart, writeRecord } from "./record.ts";

const marksBytes = 32;
const positionBytes = 8;
/** See {@link bytesWritten}. */
const groupBytes = 256 << 10;
const changeBytes = 48 << 10;
const dropBytes = 8 << 10;
/** Kept between writes for the records of the next. */
const arenaKeptMax = 4 << 20;

/** A group of changes is one transaction, which a thread of lmdb-js's makes. */
export class LmdbLedger implements Ledger {
  readonly #options: MapsOptions;
  readonly #lock: DirectoryLock;
  #maps: Maps;
  #marks: Marks;
  readonly #reserve: DiskReserve;
  /** LMDB has given up and could not be opened again yet. */
  #broken = false;
  /** Holds the records of one write; the next comes only after it. */
  #arena = newArena(64 << 10);

  private constructor(options: MapsOptions, lock: DirectoryLock, maps: Maps) {
    this.#options = options;
    this.#lock = lock;
    this.#maps = maps;
    this.#marks = readMarks(maps);
    this.#reserve = new DiskReserve({ path: dataFile(options), measure: () => usedBytes(this.#maps.root) });
  }

  /** @throws Error when another server has the directory, or it cannot be read, or it holds another format */
  static async open(options: MapsOptions): Promise<LmdbLedger> {
    const lock = await lockDirectory(options.dir);
    try {
      return new LmdbLedger(options, lock, await openMaps(options));
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  marks(): Marks {
    return this.#marks;
  }

  position(key: string): number {
    const bytes = this.#maps.current.getBinaryFast(key);
    return bytes === undefined ? 0 : integerKey.readKey(bytes, 0, 8);
  }

  read(position: number): Change {
    return readRecord(position, this.#record(position), lastSize(this.#maps.log));
  }

  valueBytes(position: number): number {
    const start = valueStart(this.#record(position));
    return lastSize(this.#maps.log) - start;
  }

  /** In a buffer that the next read may use again. */
  #record(position: number): Buffer {
    const record = this.#maps.log.getBinaryFast(position);
    if (record === undefined) throw new Error(`the log has no change at ${position}`);
    return record;
  }

  *keys(prefix: string, after: string | undefined): IterableIterator<[string, number]> {
    const start = after === undefined || compareKeys(after, prefix) < 0 ? { start: prefix } : { start: after, exclusiveStart: true };
    for (const { key, value } of this.#maps.current.getRange({ ...start, end: endOfPrefix(prefix) })) {
      if (!key.startsWith(prefix)) return;
      yield [key, integerKey.readKey(value, 0, 8)];
    }
  }

  count(prefix: string): number {
    return this.#maps.current.getKeysCount({ start: prefix, end: endOfPrefix(prefix) });
  }

  heads(after: number, limit: number): ChangeHead[] {
    return Array.from(this.#records(after, limit), ({ key, value }) => readHead(key, value));
  }

  changes(after: number, limit: number): Change[] {
    return Array.from(this.#records(after, limit), ({ key, value }) => readRecord(key, value, value.length));
  }

  expiries(limit: number): Expiry[] {
    const range = this.#maps.expiry.getRange({ start: [0, 0], limit });
    return Array.from(range, ({ key: [at, position], value }) => ({ at, position, key: value.toString() }));
  }

  async write(group: LedgerGroup): Promise<void> {
    if (this.#broken) await this.#reopen();
    const { root } = this.#maps;
    // On a full disk, what frees space must have its chance.
    if (group.changes.some(({ type }) => type === "put")) await this.#reserve.ensure(bytesWritten(group));
    try {
      await root.batch(() => this.#put(group));
    } catch (error) {
      const cause = await causeOf(error);
      // Another write to an environment that has given up would never be answered.
      if (!isUsable(root)) await this.#reopen();
      throw cause;
    }
    root.resetReadTxn();
    this.#marks = group.marks;
  }

  sizeBytes(): number {
    return statSync(dataFile(this.#options)).size;
  }

  async close(): Promise<void> {
    await this.#maps.root.close();
    this.#lock.release();
  }

  /** @throws Error when it cannot be opened, or shows something else than what was answered; the next write tries again */
  async #reopen(): Promise<void> {
    this.#broken = true;
    await this.#maps.root.close();
    this.#maps = await openMaps(this.#options);
    const { revision } = readMarks(this.#maps);
    if (revision !== this.#marks.revision) {
      throw new Error(`the disk has revision ${revision} after a write that it refused; revision ${this.#marks.revision} was the last one answered`);
    }
    this.#broken = false;
  }

  #records(after: number, limit: number) {
    return this.#maps.log.getRange({ start: positionOf(after + 1, 0), limit });
  }

  #put({ changes, expiries, drop, dropExpiries, marks }: LedgerGroup): void {
    const { meta, log, current, expiry } = this.#maps;
    const arena = this.#arenaFor(changes);
    let at = writeMarks(marks, arena.view);
    meta.put("marks", arena.bytes.subarray(0, at));
    for (const change of changes) {
      const { key, position, type } = change;
      const record = at;
      at = writeRecord(change, arena, record);
      log.put(position, arena.bytes.subarray(record, at));
      if (type === "delete") current.remove(key);
      else {
        const end = integerKey.writeKey(position, arena.bytes, at);
        current.put(key, arena.bytes.subarray(at, end));
        at = end;
      }
    }
    for (const position of drop) log.remove(position);
    for (const { at: time, position, key } of expiries) expiry.put([time, position], Buffer.from(key));
    for (const { at: time, position } of dropExpiries) expiry.remove([time, position]);
  }

  /** Room for the marks, and for a record and a position of each change. */
  #arenaFor(changes: readonly Change[]): Arena {
    let bytesMax = marksBytes;
    for (const change of changes) bytesMax += recordBytesMax(change) + positionBytes;
    if (bytesMax <= this.#arena.bytes.length) return this.#arena;
    const arena = newArena(bytesMax);
    if (bytesMax <= arenaKeptMax) this.#arena = arena;
    return arena;
  }
}

function newArena(length: number): Arena {
  const bytes = Buffer.allocUnsafeSlow(length);
  return { bytes, view: new DataView(bytes.buffer) };
}

function writeMarks({ revision, compacted, historyBytes }: Marks, view: DataView): number {
  view.setFloat64(0, layoutFormat, true);
  view.setFloat64(8, revision, true);
  view.setFloat64(16, compacted, true);
  view.setFloat64(24, historyBytes, true);
  return marksBytes;
}

function readMarks({ meta }: Maps): Marks {
  const bytes = meta.getBinary("marks");
  if (bytes === undefined) return emptyMarks;
  return { revision: bytes.readDoubleLE(8), compacted: bytes.readDoubleLE(16), historyBytes: bytes.readDoubleLE(24) };
}

function dataFile({ dir }: MapsOptions): string {
  return join(dir, "data.mdb");
}

/** About what LMDB writes for a group at most: besides the records, copies of the pages on the way to them. */
function bytesWritten({ changes, drop }: LedgerGroup): number {
  let bytes = groupBytes + changes.length * changeBytes + drop.length * dropBytes;
  for (const change of changes) bytes += recordBytesMax(change);
  return bytes;
}
