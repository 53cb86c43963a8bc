/** Skips the periodic checks of a store that has not changed. */
import { nothingToDo } from "../apimachinery/clock.ts";
import type { Storage } from "../storage/contract.ts";

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
    const revision = storage.isShared ? undefined : await storage.current();
    if (revision !== undefined && revision === checked) return nothingToDo;
    checked = (await check()) ? revision : undefined;
    return undefined;
  };
}
