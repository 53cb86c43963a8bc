/** A store that a server reaches by a connection that tests cut. */
import { type Storage, StorageUnavailable } from "../../src/storage/contract.ts";

/** A view of a store. */
export interface CutOffStorage {
  readonly storage: Storage;
  /** From here on reads and writes of this view fail, and it receives no events. */
  cut(): void;
}

/** @param shared closed by its owner */
export function cutOffStorage(shared: Storage): CutOffStorage {
  let isCut = false;
  const reach = <T>(run: () => Promise<T>): Promise<T> =>
    isCut ? Promise.reject(new StorageUnavailable("cut off")) : run();
  const storage: Storage = {
    isShared: shared.isShared,
    reportsProgress: shared.reportsProgress,
    get: (key, revision) => reach(() => shared.get(key, revision)),
    range: (prefix, options) => reach(() => shared.range(prefix, options)),
    count: (prefix) => reach(() => shared.count(prefix)),
    commit: (checks, writes) => reach(() => shared.commit(checks, writes)),
    log: (prefix, from, subscriber) =>
      shared.log(prefix, from, {
        events: (batch) => isCut || subscriber.events(batch),
        progress: (revision) => isCut || subscriber.progress(revision),
        end: (error) => subscriber.end(error),
      }),
    compact: (revision) => reach(() => shared.compact(revision)),
    checkReadable: () => reach(() => shared.checkReadable()),
    checkWritable: () => reach(() => shared.checkWritable()),
    current: () => reach(() => shared.current()),
    compacted: () => shared.compacted(),
    sizeBytes: () => shared.sizeBytes(),
    pin: () => shared.pin(),
    close: () => shared.close(),
  };
  return {
    storage,
    cut() {
      isCut = true;
    },
  };
}
