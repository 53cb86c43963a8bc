import { ApiError } from "../apimachinery/errors.ts";

/**
 * Runs a write of one object that was checked before.
 *
 * @returns false when another writer has changed the object; true also when it does not exist any
 *   more
 */
export async function unlessConflict(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status.reason === "NotFound") return true;
    if (error.status.reason === "Conflict") return false;
    throw error;
  }
}
