/** Buckets as golang.org/x/time/rate has them: full at first, filled in proportion to time, and the least recently used one is forgotten. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tokenBuckets } from "./token-bucket.ts";

type Step = readonly [atMs: number, key: string, accepted: boolean];

const rows: [what: string, options: { qps: number; burst: number; bucketsMax?: number }, steps: readonly Step[]][] = [
  [
    "starts full, and gets a token each second",
    { qps: 1, burst: 2 },
    [
      [0, "a", true],
      [0, "a", true],
      [0, "a", false],
      [999, "a", false],
      [1000, "a", true],
      [1000, "a", false],
    ],
  ],
  [
    "holds at most the burst",
    { qps: 10, burst: 2 },
    [
      [0, "a", true],
      [60_000, "a", true],
      [60_000, "a", true],
      [60_000, "a", false],
    ],
  ],
  [
    "loses no token to rejected events",
    { qps: 1, burst: 1 },
    [
      [0, "a", true],
      [500, "a", false],
      [900, "a", false],
      [1000, "a", true],
    ],
  ],
  [
    "adds up parts of a token without a rounding error",
    { qps: 3, burst: 1 },
    [
      [0, "a", true],
      [111, "a", false],
      [334, "a", true],
      [667, "a", false],
      [668, "a", true],
    ],
  ],
  [
    "is one per key",
    { qps: 1, burst: 1 },
    [
      [0, "a", true],
      [0, "b", true],
      [0, "a", false],
      [0, "", true],
      [0, "", false],
    ],
  ],
  [
    "is full again after it was forgotten",
    { qps: 1, burst: 1, bucketsMax: 2 },
    [
      [0, "a", true],
      [0, "b", true],
      [0, "a", false], // Used later than b.
      [0, "c", true],
      [0, "a", false],
      [0, "b", true],
    ],
  ],
  [
    "gets nothing from a clock that is set back",
    { qps: 1, burst: 1 },
    [
      [5000, "a", true],
      [0, "a", false],
      [5500, "a", false],
      [6000, "a", true],
    ],
  ],
];

for (const [what, { bucketsMax = 10, ...options }, steps] of rows) {
  test(`a bucket ${what}`, () => {
    let now = 0;
    const takeToken = tokenBuckets({ ...options, bucketsMax, clock: { now: () => now } });
    for (const [index, [atMs, key, accepted]] of steps.entries()) {
      now = atMs;
      assert.equal(takeToken(key), accepted, `step ${index}`);
    }
  });
}
