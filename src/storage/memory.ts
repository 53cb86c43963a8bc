import type { Storage } from "./contract.ts";
import { openEmbeddedStorage } from "./embedded/embedded-storage.ts";
import { MemoryLedger, type MemoryState } from "./embedded/memory-ledger.ts";
import { restoringWrites } from "./embedded/restore.ts";
import type { StorageOptions } from "./options.ts";

export type { MemoryState } from "./embedded/memory-ledger.ts";

/** A store in memory, whose state can be kept and restored. */
export interface MemoryStorage extends Storage {
  /**
   * Returns the state that readers see, which later writes do not change. It takes no time, and memory only for what
   * changes later.
   * @param read called in the turn of the state: what the caller reads there belongs to the same revision
   */
  state<Result>(read: (state: MemoryState) => Result): Promise<Result>;
  /**
   * Gives the store the keys, values and times of expiry of a state, at new revisions. Readers and subscribers see
   * none of the changes or all. Keys that are equal keep their revisions.
   * @param beforeVisible called in the turn in which readers see the state, before any subscriber
   * @returns the revision of the restored state
   * @throws StorageUnavailable when the state could not be stored; nothing has changed then
   */
  restore(state: MemoryState, beforeVisible: (revision: number) => void): Promise<number>;
}

/**
 * Opens a store in memory, for tests and embedding.
 * @param state what it contains; nothing when unset. It has no history before that state.
 */
export async function openMemoryStorage(options: StorageOptions, state?: MemoryState): Promise<MemoryStorage> {
  const ledger = new MemoryLedger(state);
  const storage = openEmbeddedStorage(ledger, options);
  return Object.assign(storage, {
    async state<Result>(read: (state: MemoryState) => Result): Promise<Result> {
      await storage.betweenGroups();
      return read(ledger.state());
    },
    restore: (target: MemoryState, beforeVisible: (revision: number) => void): Promise<number> =>
      storage.commitTogether({
        decide: (newest) => restoringWrites(ledger.state(), newest, target),
        beforeVisible,
      }),
  });
}
