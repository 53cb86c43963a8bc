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

/** @returns a number from 0 up to, but not including, 1 */
export function randomFraction(random: (bytes: number) => Buffer): number {
  return random(4).readUInt32LE(0) / 2 ** 32;
}

/** @returns a UUID of version 4 */
export function randomUuid(random: (bytes: number) => Buffer): string {
  const bytes = random(16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
