import type { Database, DatabaseOptions, RootDatabase, RootDatabaseOptionsWithPath } from "lmdb";
import { endOfPrefix } from "../embedded/key-order.ts";
import { type Change, type ChangeHead, type Expiry, emptyMarks, type Ledger, type LedgerGroup, type Marks, positionOf } from "../embedded/ledger.ts";
import { type DirectoryLock, lockDirectory } from "./directory-lock.ts";
import { expiryKey, integerKey, type KeyEncoder, textKey } from "./keys.ts";
import { type Arena, readHead, readRecord, recordBytesMax, writeRecord } from "./record.ts";

/** Bumped when the layout changes so that older servers must not open it. */
const format = 1;
/** Address space, not memory; grows beyond it by itself. Windows would allocate the file at once. */
const mapBytes = process.platform === "win32" ? undefined : 16 * 2 ** 30;
const marksBytes = 32;
const positionBytes = 8;
/** Kept between writes for the records of the next. */
const arenaKeptMax = 4 << 20;

export interface LmdbLedgerOptions {
  readonly dir: string;
  /** `full`: a write is on disk when it resolves. `relaxed`: it is with the operating system, whose crash may damage the store. */
  readonly durability: "full" | "relaxed";
}

/**
 * Four maps: `log` from position to the change with its value, `current` from key to the position of its latest put, `expiry` from time and
 * position to key, `meta` with the marks. A group of changes is one transaction, made by a thread of lmdb-js's.
 */
export class LmdbLedger implements Ledger {
  readonly #root: RootDatabase;
  readonly #lock: DirectoryLock;
  readonly #meta: Database<Buffer, string>;
  readonly #log: Database<Buffer, number>;
  readonly #current: Database<Buffer, string>;
  readonly #expiry: Database<Buffer, [number, number]>;
  /** Holds the records of one write; the next comes only after it. */
  #arena = newArena(64 << 10);
  #marks: Marks;

  private constructor(root: RootDatabase, lock: DirectoryLock, dir: string) {
    this.#root = root;
    this.#lock = lock;
    this.#meta = openMap(root, "meta", textKey);
    this.#log = openMap(root, "log", integerKey);
    this.#current = openMap(root, "current", textKey);
    this.#expiry = openMap(root, "expiry", expiryKey);
    const marks = this.#meta.getBinary("marks");
    this.#marks = marks === undefined ? emptyMarks : readMarks(marks, dir);
  }

  /** @throws Error when another server has the directory, or it cannot be read, or it holds another format */
  static async open({ dir, durability }: LmdbLedgerOptions): Promise<LmdbLedger> {
    const lock = await lockDirectory(dir);
    try {
      const root = await openRoot(dir, durability);
      return new LmdbLedger(root, lock, dir);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  marks(): Marks {
    return this.#marks;
  }

  position(key: string): number {
    const bytes = this.#current.getBinaryFast(key);
    return bytes === undefined ? 0 : integerKey.readKey(bytes, 0, 8);
  }

  read(position: number): Change {
    const record = this.#log.getBinaryFast(position);
    if (record === undefined) throw new Error(`the log has no change at ${position}`);
    return readRecord(position, record, lastSize(this.#log));
  }

  *keys(prefix: string, after: string | undefined): IterableIterator<[string, number]> {
    const start = after === undefined ? { start: prefix } : { start: after, exclusiveStart: true };
    for (const { key, value } of this.#current.getRange({ ...start, end: endOfPrefix(prefix) })) {
      if (!key.startsWith(prefix)) return;
      yield [key, integerKey.readKey(value, 0, 8)];
    }
  }

  count(prefix: string): number {
    return this.#current.getKeysCount({ start: prefix, end: endOfPrefix(prefix) });
  }

  #records(after: number, limit: number) {
    return this.#log.getRange({ start: positionOf(after + 1, 0), limit });
  }

  heads(after: number, limit: number): ChangeHead[] {
    return Array.from(this.#records(after, limit), ({ key, value }) => readHead(key, value));
  }

  changes(after: number, limit: number): Change[] {
    return Array.from(this.#records(after, limit), ({ key, value }) => readRecord(key, value, value.length));
  }

  expiries(limit: number): Expiry[] {
    const range = this.#expiry.getRange({ start: [0, 0], limit });
    return Array.from(range, ({ key: [at, position], value }) => ({ at, position, key: value.toString() }));
  }

  async write(group: LedgerGroup): Promise<void> {
    const written = this.#root.batch(() => this.#put(group));
    try {
      await written;
    } catch (error) {
      throw await causeOf(error);
    }
    this.#root.resetReadTxn();
    this.#marks = group.marks;
  }

  sizeBytes(): number {
    const { pageSize, lastPageNumber } = this.#root.getStats() as { pageSize: number; lastPageNumber: number };
    return pageSize * (lastPageNumber + 1);
  }

  async close(): Promise<void> {
    await this.#root.close();
    this.#lock.release();
  }

  #put({ changes, expiries, drop, dropExpiries, marks }: LedgerGroup): void {
    const arena = this.#arenaFor(changes);
    let at = writeMarks(marks, arena.view);
    this.#meta.put("marks", arena.bytes.subarray(0, at));
    for (const change of changes) {
      const { key, position, type } = change;
      const record = at;
      at = writeRecord(change, arena, record);
      this.#log.put(position, arena.bytes.subarray(record, at));
      if (type === "delete") this.#current.remove(key);
      else {
        const end = integerKey.writeKey(position, arena.bytes, at);
        this.#current.put(key, arena.bytes.subarray(at, end));
        at = end;
      }
    }
    for (const position of drop) this.#log.remove(position);
    for (const { at: time, position, key } of expiries) this.#expiry.put([time, position], Buffer.from(key));
    for (const { at: time, position } of dropExpiries) this.#expiry.remove([time, position]);
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

async function openRoot(dir: string, durability: LmdbLedgerOptions["durability"]): Promise<RootDatabase> {
  const { open } = await import("lmdb");
  const options: RootDatabaseOptionsWithPath & { permissionsMode: number } = {
    path: dir,
    noSubdir: false,
    permissionsMode: 0o600,
    maxDbs: 4,
    noMemInit: true,
    ...(mapBytes && { mapSize: mapBytes }),
    // Otherwise a write resolves before it is on disk.
    overlappingSync: false,
    noSync: durability === "relaxed",
    // Groups are made by our caller.
    eventTurnBatching: false,
  };
  return open(options);
}

function openMap<Key extends string | number | [number, number]>(
  root: RootDatabase,
  name: string,
  keyEncoder: KeyEncoder<Key>,
): Database<Buffer, Key> {
  const options: DatabaseOptions & { name: string; keyEncoder: KeyEncoder<Key> } = { name, encoding: "binary", keyEncoder };
  return root.openDB<Buffer, Key>(options);
}

/** Length of the value that `getBinaryFast` has just returned in its larger buffer. */
function lastSize(map: Database<Buffer, number>): number {
  return (map as unknown as { lastSize: number }).lastSize;
}

function newArena(length: number): Arena {
  const bytes = Buffer.allocUnsafeSlow(length);
  return { bytes, view: new DataView(bytes.buffer) };
}

function writeMarks({ revision, compacted, historyBytes }: Marks, view: DataView): number {
  view.setFloat64(0, format, true);
  view.setFloat64(8, revision, true);
  view.setFloat64(16, compacted, true);
  view.setFloat64(24, historyBytes, true);
  return marksBytes;
}

function readMarks(bytes: Buffer, dir: string): Marks {
  const found = bytes.readDoubleLE(0);
  if (found !== format) throw new Error(`the data in ${dir} has format ${found}; this server reads format ${format}`);
  return { revision: bytes.readDoubleLE(8), compacted: bytes.readDoubleLE(16), historyBytes: bytes.readDoubleLE(24) };
}

/** lmdb-js rejects a write with a promise of the reason, which is rejected a little later. */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (commitError === undefined) return error;
  return commitError.then(
    () => error,
    (cause: unknown) => cause,
  );
}
