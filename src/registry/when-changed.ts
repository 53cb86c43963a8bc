/** Skips the periodic checks of a store that has not changed. */
import { nothingToDo } from "../apimachinery/clock.ts";
import { type Storage, StorageUnavailable } from "../storage/contract.ts";

/**
 * Wraps a check whose result depends on the content of the store only. While the store has the
 * revision of the last successful check, the next one would find the same. A store to which other
 * servers write is always checked: its revision is not known without a request.
 *
 * @param check returns whether it succeeded
 * @returns a function whose promise is {@link nothingToDo} when the check was skipped
 */
export function whenChanged(
  storage: Pick<Storage, "current" | "isShared">,
  check: () => Promise<boolean>,
): () => Promise<unknown> {
  let checked: number | undefined;
  return async () => {
    const revision = storage.isShared ? undefined : await revisionOf(storage);
    if (revision !== undefined && revision === checked) return nothingToDo;
    checked = (await check()) ? revision : undefined;
    return undefined;
  };
}

/** @returns undefined when the store cannot be read: the check then fails with the reason, and reports it */
async function revisionOf(storage: Pick<Storage, "current">): Promise<number | undefined> {
  try {
    return await storage.current();
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    return undefined;
  }
}
