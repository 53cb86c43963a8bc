/** Measures how the time of the processor grows with the size of the input. */

/** Shorter runs say nothing. */
const shortestMs = 5;
const runs = 5;

/**
 * Doubles the size until a run takes 5 ms of the processor, then compares it with four times the
 * size, each the least of five runs.
 *
 * @param prepare makes a run of a size
 * @param sizeMax the largest of the smaller sizes; when it takes less, the larger one is compared with 5 ms
 * @returns the time of the larger size divided by that of the smaller one
 */
export async function measureGrowth(prepare: (size: number) => () => unknown, sizeMax: number): Promise<number> {
  for (let size = 1 << 10; size <= sizeMax; size *= 2) {
    const run = prepare(size);
    if ((await timeOf(run)) < shortestMs) continue;
    const shorter = await leastOf(run);
    if (shorter < shortestMs) continue;
    return (await leastOf(prepare(4 * size))) / shorter;
  }
  return (await leastOf(prepare(4 * sizeMax))) / shortestMs;
}

/** @returns the shortest of five runs, in milliseconds of the processor */
export async function leastOf(run: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < runs; count++) least = Math.min(least, await timeOf(run));
  return least;
}

/** @returns milliseconds of the processor */
export async function timeOf(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
