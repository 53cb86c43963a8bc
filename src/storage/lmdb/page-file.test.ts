import assert from "node:assert/strict";
import { test } from "node:test";
import { freePages } from "./page-file.ts";

/** Of an entry whose numbers go on beyond its end. */
const inNoFile = [2 ** 64, 1];

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
  ["no whole count", [1n], 7, [inNoFile]],
  ["nothing", [], 0, [inNoFile]],
  ["fewer numbers than its count", [2n, 9n], 16, [[9, 1], inNoFile]],
  ["a run without its beginning", [2n, -3n], 16, [inNoFile]],
];
for (const [entry, numbers, bytes, pages] of rows) {
  test(`an entry of the free tree: ${entry}`, () => {
    const value = Buffer.alloc(numbers.length * 8);
    for (const [index, number] of numbers.entries()) value.writeBigInt64LE(number, index * 8);
    assert.deepEqual([...freePages(value.subarray(0, bytes))], pages);
  });
}
