import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonDifferences } from "./json-differences.ts";

const rows: [ours: unknown, theirs: unknown, differences: [path: string, ours: unknown, theirs: unknown][]][] = [
  [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, []],
  [{ a: 1 }, { a: "1" }, [["a", 1, "1"]]],
  [{ a: 1 }, { b: 2 }, [["a", 1, undefined], ["b", undefined, 2]]], // biome-ignore format: a row
  [{ a: [1, 2, 3] }, { a: [1, 9, 3] }, [["a/1", 2, 9]]],
  [{ a: [1] }, { a: [1, 2] }, [["a", [1], [1, 2]]]],
  [{ a: [] }, { a: {} }, [["a", [], {}]]],
];
for (const [ours, theirs, differences] of rows) {
  test(`${JSON.stringify(ours)} and ${JSON.stringify(theirs)}`, () => {
    const found = jsonDifferences(ours, theirs).map(({ path, ours, theirs }) => [path.join("/"), ours, theirs]);
    assert.deepEqual(found, differences);
  });
}
