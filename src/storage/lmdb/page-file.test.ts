import assert from "node:assert/strict";
import { test } from "node:test";
import { freePages } from "./page-file.ts";

/** A page that no file has, which marks an entry as truncated. */
const truncated = [2 ** 64, 1];

const rows: [entry: string, numbers: readonly bigint[], bytes: number, pages: readonly (readonly number[])[]][] = [
  ["no pages", [0n], 8, []],
  [
    "pages and a run",
    [4n, 9n, 7n, -3n, 2n],
    40,
    [
      [9, 1],
      [7, 1],
      [2, 3],
    ],
  ],
  ["a truncated count", [1n], 7, [truncated]],
  ["nothing", [], 0, [truncated]],
  ["fewer numbers than its count", [2n, 9n], 16, [[9, 1], truncated]],
  ["a run without its beginning", [2n, -3n], 16, [truncated]],
];
for (const [entry, numbers, bytes, pages] of rows) {
  test(`reads an entry of the free tree with ${entry}`, () => {
    const value = Buffer.alloc(numbers.length * 8);
    for (const [index, number] of numbers.entries()) value.writeBigInt64LE(number, index * 8);
    assert.deepEqual([...freePages(value.subarray(0, bytes))], pages);
  });
}
