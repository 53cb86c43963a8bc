/**
 * Random bytes from a pool, because system calls for a few bytes each take longer than the routing
 * of a request.
 */
import { randomFillSync } from "node:crypto";

const poolBytes = 4096;

/** @returns a function that returns new random bytes, at most 4096 in one call */
export function pooledRandom(): (bytes: number) => Buffer {
  const pool = Buffer.allocUnsafeSlow(poolBytes);
  let used = poolBytes;
  return (bytes) => {
    if (used + bytes > poolBytes) {
      randomFillSync(pool);
      used = 0;
    }
    const taken = Buffer.from(pool.subarray(used, used + bytes)); // A copy, because the pool is refilled in place.
    used += bytes;
    return taken;
  };
}
