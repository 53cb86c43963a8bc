/** Runs the event loop. */

/**
 * Waits for a number of turns of the event loop, in which work ends that needs neither the network nor
 * timers. Where a state shows the end, `until` is the better wait.
 */
export async function passTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const turnsMax = 10_000;

/**
 * Calls a function once in each turn of the event loop until it returns true, for example one that advances
 * a clock.
 *
 * @returns the number of turns
 * @throws Error after 10,000 turns
 */
export async function turnsUntil(isOver: () => boolean | Promise<boolean>): Promise<number> {
  for (let turns = 0; turns < turnsMax; turns++) {
    if (await isOver()) return turns;
    await passTurns(1);
  }
  throw new Error(`not within ${turnsMax} turns of the event loop: ${isOver}`);
}
