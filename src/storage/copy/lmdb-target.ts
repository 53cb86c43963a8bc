/**
 * Writes the objects of a copy to a new store on disk. It is written under another name, so that no
 * server starts with an unfinished copy, and renamed when it is complete and synced.
 */
import { rename } from "node:fs/promises";
import { dirname } from "node:path";
import { systemClock } from "../../apimachinery/clock.ts";
import { makeDirectory } from "../../apimachinery/make-directory.ts";
import type { Storage, Write } from "../contract.ts";
import { openEmbeddedStorage } from "../embedded/embedded-storage.ts";
import { compareKeys } from "../embedded/key-order.ts";
import { dataFile } from "../lmdb/check-file.ts";
import { LmdbLedger } from "../lmdb/lmdb-ledger.ts";
import { mapBytes } from "../lmdb/maps.ts";
import { prepareDirectory } from "../lmdb/prepare-directory.ts";
import { checkAbsent, sync } from "../lmdb/write-store.ts";
import type { StorageOptions } from "../options.ts";
import { type CopiedChange, type CopyMarker, type CopyTarget, objectsPrefix, type TargetEntry } from "./contract.ts";
import { batchesOf, readMarker, writeMarker } from "./marker.ts";

const markerKey = "coxswain_copy";
/** The key whose writes raise the revision by one. */
const raiseKey = "coxswain_copy_revision";
/** A larger distance is not raised by writes: the store is closed, and its marks are written. */
const raisedByWritesMax = 1000;
const batch = { changes: 100, bytes: 4 << 20 };
const pageKeys = 2000;

/** The copy needs no history, and the source limits the size of objects. */
const storageOptions: StorageOptions = {
  clock: systemClock,
  historyMs: 60_000,
  historyBytesMax: 16 << 20,
  valueBytesMax: 256 << 20,
};

/**
 * @param dir the directory of the store, which must not exist
 * @param source the source's `CopySource.id`
 * @throws Error when the directory exists, or has an unfinished copy of another source
 * @throws DirectoryInUse when another copy writes to it
 */
export async function openLmdbTarget(dir: string, source: string): Promise<CopyTarget> {
  checkAbsent(dir);
  const unfinished = `${dir}.copying`;
  makeDirectory(dirname(dir), { mode: 0o700 });
  prepareDirectory(unfinished, mapBytes);
  const opened = await openStore(unfinished);
  try {
    const stored = await opened.storage.get(markerKey);
    const marker = stored && readMarker(stored.value, { source, target: unfinished });
    return new LmdbTarget(dir, unfinished, { ...opened, marker, revision: await opened.storage.current() });
  } catch (error) {
    await opened.storage.close();
    throw error;
  }
}

interface OpenedStore {
  readonly storage: Storage;
  readonly ledger: LmdbLedger;
}

async function openStore(dir: string): Promise<OpenedStore> {
  const ledger = await LmdbLedger.open({ dir, durability: "relaxed", trims: true });
  return { ledger, storage: openEmbeddedStorage(ledger, storageOptions) };
}

interface Start extends OpenedStore {
  readonly marker: CopyMarker | undefined;
  readonly revision: number;
}

class LmdbTarget implements CopyTarget {
  readonly marker: CopyMarker | undefined;
  readonly #dir: string;
  readonly #unfinished: string;
  #opened: OpenedStore;
  #revision: number;
  /** Keys that may expire; undefined until it is needed. */
  #expiring: Set<string> | undefined;

  constructor(dir: string, unfinished: string, { marker, revision, storage, ledger }: Start) {
    this.#dir = dir;
    this.#unfinished = unfinished;
    this.marker = marker;
    this.#revision = revision;
    this.#opened = { storage, ledger };
  }

  get revision(): number {
    return this.#revision;
  }

  async mark(marker: CopyMarker): Promise<void> {
    await this.#commit([{ key: markerKey, value: writeMarker(marker) }]);
  }

  async raise(revision: number): Promise<void> {
    if (revision - this.#revision > raisedByWritesMax) return this.#jump(revision);
    const commits: Promise<void>[] = [];
    for (let count = this.#revision; count < revision; count++)
      commits.push(this.#commit([{ key: raiseKey, value: Buffer.alloc(0) }]));
    await Promise.all(commits);
  }

  async *entries(after: string | undefined, until: string | undefined): AsyncGenerator<TargetEntry> {
    this.#expiring ??= new Set(this.#opened.ledger.expiries(Number.POSITIVE_INFINITY).map(({ key }) => key));
    for (let from = after; ; ) {
      const { entries, more } = await this.#opened.storage.range(objectsPrefix, {
        limit: pageKeys,
        ...(from !== undefined && { after: from }),
      });
      for (const { key, value, damage } of entries) {
        if (until !== undefined && compareKeys(key, until) > 0) return;
        yield { key, value, mayExpire: this.#expiring.has(key), ...(damage !== undefined && { damage }) };
        from = key;
      }
      if (!more) return;
    }
  }

  async write(changes: readonly CopiedChange[]): Promise<void> {
    const now = systemClock.now();
    await Promise.all(
      batchesOf(changes, batch).map((one) =>
        this.#commit(
          one.map(({ key, value, seal, expiresAt }): Write => {
            if (expiresAt !== undefined) this.#expiring?.add(key);
            const ttlSeconds = expiresAt === undefined ? undefined : Math.max(0.001, (expiresAt - now) / 1000);
            return { key, value, ...(seal && { seal }), ...(ttlSeconds !== undefined && { ttlSeconds }) };
          }),
        ),
      ),
    );
  }

  async finish(): Promise<number> {
    const { storage } = this.#opened;
    await this.#commit([{ key: raiseKey, value: null }]);
    await storage.compact(this.#revision);
    await this.#commit([{ key: markerKey, value: null }]);
    await storage.close();
    await sync(dataFile(this.#unfinished));
    await sync(this.#unfinished);
    checkAbsent(this.#dir);
    await rename(this.#unfinished, this.#dir);
    await sync(dirname(this.#dir));
    return this.#revision;
  }

  async close(): Promise<void> {
    await this.#opened.storage.close();
  }

  async #commit(writes: readonly Write[]): Promise<void> {
    const outcome = await this.#opened.storage.commit([], writes);
    if (outcome.ok) this.#revision = Math.max(this.#revision, outcome.revision);
  }

  /** Raises the revision at once: the history before it is compacted. */
  async #jump(revision: number): Promise<void> {
    const { storage } = this.#opened;
    await storage.compact(await storage.current());
    await storage.close();
    const ledger = await LmdbLedger.open({ dir: this.#unfinished, durability: "relaxed" });
    const marks = { revision, compacted: revision, historyBytes: 0 };
    try {
      await ledger.write({ changes: [], expiries: [], drop: [], dropExpiries: [], marks });
    } finally {
      await ledger.close();
    }
    this.#opened = await openStore(this.#unfinished);
    this.#revision = revision;
  }
}
