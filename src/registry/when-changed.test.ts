/** Checks that are skipped while the store does not change. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nothingToDo } from "../apimachinery/clock.ts";
import { StorageUnavailable } from "../storage/contract.ts";
import { whenChanged } from "./when-changed.ts";

interface Row {
  readonly title: string;
  readonly isShared?: boolean;
  /** The revision of the store at each call. */
  readonly revisions: readonly number[];
  /** The results of the checks that run. */
  readonly results: readonly boolean[];
  readonly skipped: readonly boolean[];
}

const rows: readonly Row[] = [
  { title: "an unchanged store", revisions: [1, 1, 1], results: [true], skipped: [false, true, true] },
  { title: "a changed store", revisions: [1, 2, 2], results: [true, true], skipped: [false, false, true] },
  { title: "after a failure", revisions: [1, 1, 1], results: [false, true], skipped: [false, false, true] },
  {
    title: "a store of several servers",
    isShared: true,
    revisions: [1, 1],
    results: [true, true],
    skipped: [false, false],
  },
];
for (const { title, isShared = false, revisions, results, skipped } of rows) {
  test(title, async () => {
    const [left, found] = [[...results], [] as boolean[]];
    let revision = 0;
    const run = whenChanged({ isShared, current: async () => revision }, async () => left.shift() as boolean);
    for (const next of revisions) {
      revision = next;
      found.push((await run()) === nothingToDo);
    }
    assert.deepEqual([found, left], [skipped, []]);
  });
}

test("a check that writes is followed by another one", async () => {
  let [revision, checks] = [1, 0];
  const run = whenChanged({ isShared: false, current: async () => revision }, async () => {
    checks++;
    if (checks === 1) revision++;
    return true;
  });
  for (let call = 0; call < 3; call++) await run();
  assert.equal(checks, 2);
});

test("a check runs, and reports the failure, while the store cannot be read", async () => {
  const results = [false, false, true];
  let isLost = true;
  const current = async (): Promise<number> => {
    if (isLost) throw new StorageUnavailable("the store is closed");
    return 1;
  };
  const run = whenChanged({ isShared: false, current }, async () => results.shift() as boolean);
  for (let call = 0; call < 2; call++) assert.equal(await run(), undefined);
  isLost = false;
  for (const answer of [undefined, nothingToDo]) assert.equal(await run(), answer);
  assert.deepEqual(results, []);
});
