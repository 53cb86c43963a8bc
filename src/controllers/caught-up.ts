import type { WatchCache } from "../watch-cache/contract.ts";
import type { Follower } from "../watch-cache/follow.ts";

/** Event loop turns in which a follower should catch up with the store. */
const turnsMax = 100;

/**
 * Waits until a follower has delivered the revision, so that a decision is not made on an old state.
 *
 * @returns false when it does not in time, or while the follower lists
 */
export async function hasCaughtUp(
  follower: Pick<Follower, "delivered">,
  cache: WatchCache,
  revision: number,
): Promise<boolean> {
  if (follower.delivered === undefined) return false;
  await cache.notOlderThan(revision);
  for (let turn = 0; (follower.delivered ?? 0) < revision; turn++) {
    if (turn === turnsMax || follower.delivered === undefined) return false;
    await new Promise(setImmediate);
  }
  return true;
}
