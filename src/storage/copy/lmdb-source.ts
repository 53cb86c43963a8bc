/** Reads the objects of a store on disk that no server is using. */
import { realpathSync, statSync } from "node:fs";
import { RevisionCompacted } from "../contract.ts";
import { revisionOf } from "../embedded/ledger.ts";
import { problemOf } from "../lmdb/backup/write-backup.ts";
import { checkFile, dataFile } from "../lmdb/check-file.ts";
import { type DirectoryLock, lockDirectory } from "../lmdb/directory-lock.ts";
import { decodePosition } from "../lmdb/pointers.ts";
import { readHead, readRecord, recordProblem } from "../lmdb/record.ts";
import { openSnapshot, type StoreSnapshot } from "../lmdb/snapshot.ts";
import {
  type ChangeFeed,
  type CopiedEntry,
  type HistoricChange,
  isOfServer,
  objectsPrefix,
  type SourcePage,
  type StoreReader,
} from "./contract.ts";
import { type ExpiryIndex, readExpiryIndex } from "./expiry-index.ts";

const page = { entries: 4000, bytes: 4 << 20 };
const nothing = Buffer.alloc(0);
/** The first key after those of objects: the slash is followed by a zero. */
const afterObjects = "/registry0";

/** The identity of the store in a directory. @throws Error with code ENOENT, EACCES, … */
export function lmdbSourceId(dir: string): string {
  return `lmdb:${realpathSync(dir)}#${statSync(dataFile(dir)).ino}`;
}

/**
 * Opens a store without changing it.
 * @param dir the directory of the store
 * @throws DirectoryInUse when a server uses it · DamagedStore
 * @throws Error when it has no store
 */
export async function openLmdbSource(dir: string): Promise<StoreReader> {
  const lock = await lockDirectory(dir);
  try {
    checkFile(dir, { withLog: true });
    const snapshot = await openSnapshot(dir);
    return new LmdbSource(dir, snapshot, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

class LmdbSource implements StoreReader {
  readonly id: string;
  readonly isLive = false;
  readonly #path: string;
  readonly #snapshot: StoreSnapshot;
  readonly #lock: DirectoryLock;
  readonly #expiries: ExpiryIndex;

  constructor(dir: string, snapshot: StoreSnapshot, lock: DirectoryLock) {
    this.id = lmdbSourceId(dir);
    this.#path = dataFile(dir);
    this.#snapshot = snapshot;
    this.#lock = lock;
    this.#expiries = readExpiryIndex(snapshot);
  }

  async count(): Promise<number> {
    const { current, transaction } = this.#snapshot;
    return current.getKeysCount({ start: objectsPrefix, end: afterObjects, transaction });
  }

  async current(): Promise<number> {
    return this.#snapshot.marks.revision;
  }

  async page(after: string | undefined): Promise<SourcePage> {
    const { current, transaction, marks } = this.#snapshot;
    const start = after === undefined ? { start: objectsPrefix } : { start: after, exclusiveStart: true };
    const entries: CopiedEntry[] = [];
    let bytes = 0;
    let until: string | undefined;
    for (const { key, value } of current.getRange({ ...start, end: afterObjects, transaction })) {
      if (!isOfServer(key)) {
        const entry = this.#entryOf(key, decodePosition(key, value, value.length, marks));
        entries.push(entry);
        bytes += entry.value.length;
      }
      if (entries.length < page.entries && bytes < page.bytes) continue;
      until = key;
      break;
    }
    return { entries, revision: marks.revision, until };
  }

  follow(from: number): ChangeFeed {
    const { revision } = this.#snapshot.marks;
    const check = async (): Promise<void> => {
      // Only the state is read, not the changes since an earlier copy.
      if (from !== revision) throw new RevisionCompacted(revision);
    };
    return {
      received: revision,
      hasChanges: false,
      take: () => check().then(() => []),
      reach: check,
      close() {},
    };
  }

  async entry(key: string): Promise<CopiedEntry | undefined> {
    const { current, transaction, marks } = this.#snapshot;
    const value = current.get(key, { transaction });
    return value && this.#entryOf(key, decodePosition(key, value, value.length, marks));
  }

  async *history(key: string): AsyncGenerator<HistoricChange> {
    const { log, transaction, marks } = this.#snapshot;
    for (const { key: position, value: record } of log.getRange({ start: 0, transaction })) {
      if (recordProblem(position, record, marks) !== undefined || readHead(position, record).key !== key) continue;
      const { type, value } = readRecord(position, record);
      yield { revision: revisionOf(position), value: type === "put" ? value : null };
    }
  }

  async sizeBytes(): Promise<number> {
    return statSync(this.#path).size;
  }

  async close(): Promise<void> {
    await this.#snapshot.close();
    this.#lock.release();
  }

  #entryOf(key: string, position: number): CopiedEntry {
    const { log, transaction, marks } = this.#snapshot;
    const record = position < 0 ? undefined : log.get(position, { transaction });
    const damage = problemOf(key, position, record, marks);
    if (damage !== undefined) return { key, revision: Math.max(0, revisionOf(position)), value: nothing, damage };
    const { value, seal } = readRecord(position, record as Buffer);
    const expiresAt = this.#expiries.get(position);
    return {
      key,
      revision: revisionOf(position),
      value,
      ...(seal !== undefined && { seal }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
  }
}
