/** Random bytes from a pool: asking the system for a few at a time costs more than a request's routing. */
import { randomFillSync } from "node:crypto";

const poolBytes = 4096;

/** @returns a function that gives so many fresh random bytes, at most 4096 */
export function pooledRandom(): (bytes: number) => Buffer {
  const pool = Buffer.allocUnsafeSlow(poolBytes);
  let used = poolBytes;
  return (bytes) => {
    if (used + bytes > poolBytes) {
      randomFillSync(pool);
      used = 0;
    }
    const taken = Buffer.from(pool.subarray(used, used + bytes)); // A copy: what was given is not given again.
    used += bytes;
    return taken;
  };
}
