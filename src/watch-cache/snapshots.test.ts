import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CacheEvent, Entry } from "./contract.ts";
import { IndexedTree } from "./indexed-tree.ts";
import { KeptSnapshots, snapshotOf, type TreeSnapshot } from "./snapshots.ts";

const mebibyte = Buffer.alloc(1 << 20);

function entryOf(index: number, revision: number): Entry {
  return { key: `/objects/${index}`, revision, json: mebibyte } as Entry;
}

function snapshotAt(revision: number, size: number): TreeSnapshot {
  let tree = IndexedTree.empty([]);
  for (let index = 0; index < size; index++) tree = tree.set(entryOf(index, revision));
  return snapshotOf(tree, revision);
}

function updates(count: number): CacheEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "MODIFIED",
    revision: 10 + index,
    at: 0,
    entry: entryOf(index, 10 + index),
    previous: entryOf(index, 1),
  }));
}

const rows: [what: string, size: number, replaced: number, isKept: boolean][] = [
  ["few objects are replaced", 20, 16, true],
  ["many objects are replaced", 20, 17, false],
  ["many objects are replaced, which are few of all", 34, 17, true],
];

describe("a snapshot is kept", () => {
  for (const [what, size, replaced, isKept] of rows)
    test(`${isKept ? "while" : "no longer when"} ${what}`, () => {
      const kept = new KeptSnapshots(1000);
      kept.applied(updates(50), 0); // Before the snapshot.
      kept.keep(snapshotAt(1, size), 0);
      for (const event of updates(replaced)) kept.applied([event], 0);
      assert.equal(kept.find(1, 0) !== undefined, isKept);
    });

  test("no longer when it was used again before many objects are replaced", () => {
    const kept = new KeptSnapshots(1000);
    const snapshot = snapshotAt(1, 20);
    kept.keep(snapshot, 0);
    kept.applied(updates(10), 0);
    kept.keep(snapshot, 0);
    kept.applied(updates(10), 0);
    assert.equal(kept.find(1, 0), undefined);
  });

  test("until it was not used for some time", () => {
    const kept = new KeptSnapshots(1000);
    kept.keep(snapshotAt(1, 1), 0);
    kept.applied([], 1000);
    assert.ok(kept.find(1, 1000) !== undefined);
    kept.applied([], 1001);
    assert.equal(kept.find(1, 1001), undefined);
  });
});
