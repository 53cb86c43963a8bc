import assert from "node:assert/strict";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { type NodeFilter, Tree } from "./tree.ts";

test(`random changes agree with a model, and older states do not change (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  let tree = Tree.empty<number>();
  const model = new Map<string, number>();
  const kept: { tree: Tree<number>; keys: string[] }[] = [];
  for (let step = 0; step < 20_000; step++) {
    const key = `/k/${random(2000).toString(36).padStart(3, "0")}`;
    if (random(100) < (step % 5000 < 2500 ? 70 : 30)) {
      tree = tree.set(key, step);
      model.set(key, step);
    } else {
      tree = tree.delete(key);
      model.delete(key);
    }
    assert.equal(tree.size, model.size);
    assert.equal(tree.get(key), model.get(key));
    if (step % 1000 === 0) kept.push({ tree, keys: [...model.keys()].sort() });
  }
  const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
  assert.deepEqual(
    [...tree.values("", undefined)],
    sorted.map(([, value]) => value),
  );
  for (let check = 0; check < 200; check++) {
    const from = `/k/${random(2000).toString(36)}`;
    const end = `/k/${random(2000).toString(36)}`;
    assert.deepEqual(
      [...tree.values(from, end)],
      sorted.filter(([key]) => key >= from && key < end).map(([, value]) => value),
    );
    assert.equal(tree.rank(from), sorted.filter(([key]) => key < from).length);
  }
  for (const { tree: old, keys } of kept) assert.equal([...old.values("", undefined)].length, keys.length);
});

test(`a filter searches each node once, and finds what a model finds (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  let tested = 0;
  const filter: NodeFilter<number> = {
    test(value) {
      tested += 1;
      return value % 500 === 0;
    },
    without: new WeakSet(),
  };
  const keyOf = (key: number): string => String(key).padStart(5, "0");
  let tree = Tree.fromSorted<number>(Array.from({ length: 5000 }, (_, index) => [keyOf(index), 1]));
  for (let step = 0; step < 2000; step++) {
    const key = keyOf(random(6000));
    tree = random(4) === 0 ? tree.delete(key) : tree.set(key, random(5000));
    if (step % 50 !== 0) continue;
    const matching = [...tree.values("", undefined)].filter((value) => value % 500 === 0);
    const [from, end] = [keyOf(random(6000)), random(5) === 0 ? undefined : keyOf(random(6000))];
    const inRange = [...tree.values(from, end)].filter((value) => value % 500 === 0);
    assert.deepEqual([...tree.matching(filter, from, end)].flat(), inRange, `${from} to ${end}`);
    assert.deepEqual([...tree.matching(filter)].flat(), matching);
  }
  const none = Tree.fromSorted<number>(Array.from({ length: 5000 }, (_, index) => [keyOf(index), 1]));
  assert.deepEqual([...none.matching(filter)].flat(), []);
  tested = 0;
  assert.deepEqual([...none.set(keyOf(77), 500).matching(filter)].flat(), [500]);
  assert.ok(tested <= 64, `${tested} values were tested`);
});

test("builds a tree from a sorted list", () => {
  for (const count of [0, 1, 31, 32, 33, 64, 65, 2000, 5000]) {
    const entries = Array.from({ length: count }, (_, index) => [String(index).padStart(5, "0"), index] as const);
    assert.deepEqual(
      [...Tree.fromSorted(entries).values("", undefined)],
      entries.map(([, value]) => value),
    );
  }
});
