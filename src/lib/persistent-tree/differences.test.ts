import assert from "node:assert/strict";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { differences } from "./differences.ts";
import { type Node, Tree } from "./tree.ts";

const keyOf = (number: number): string => `/k/${number.toString(36).padStart(4, "0")}`;

/** Every key whose values differ, by reading both trees completely. */
function expected(a: Map<string, object>, b: Map<string, object>) {
  const keys = [...new Set([...a.keys(), ...b.keys()])].sort();
  return keys.filter((key) => a.get(key) !== b.get(key)).map((key) => [key, a.get(key), b.get(key)]);
}

test(`finds what differs between states of a tree, and between unrelated trees (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  for (let round = 0; round < 60; round++) {
    const keys = [10, 100, 3000][random(3)] as number;
    const change = (tree: Tree<object>, model: Map<string, object>, steps: number): Tree<object> => {
      let changed = tree;
      const first = random(keys);
      const near = random(2) === 0;
      const puts = [10, 50, 90][random(3)] as number;
      for (let step = 0; step < steps; step++) {
        const key = keyOf(near ? first + step : random(keys));
        if (random(100) < puts) {
          const value = { step };
          changed = changed.set(key, value);
          model.set(key, value);
        } else {
          changed = changed.delete(key);
          model.delete(key);
        }
      }
      return changed;
    };
    const before = new Map<string, object>();
    const a = change(Tree.empty(), before, random(5000));
    const isRelated = random(4) > 0;
    const after = new Map(isRelated ? before : []);
    const b = change(isRelated ? a : Tree.empty(), after, [0, 1, 5, 200, 3000][random(5)] as number);
    assert.deepEqual([...differences(a, b)], expected(before, after));
    assert.deepEqual([...differences(b, a)], expected(after, before));
    assert.deepEqual([...differences(b, b)], []);
  }
});

test("does not read what two trees share", () => {
  const entries = Array.from({ length: 100_000 }, (_, number) => [keyOf(number), { number }] as const);
  const tree = Tree.fromSorted(entries);
  const changed = tree.set(keyOf(7), { number: -1 }).delete(keyOf(70_000)).set("/l", { number: 0 });
  let reads = 0;
  const copies = new Map<object, Node<object>>();
  const counted = (node: Node<object>): Node<object> => {
    const copy = copies.get(node) ?? {
      ...node,
      ...(node.children !== undefined && { children: node.children.map(counted) }),
      get keys() {
        reads++;
        return node.keys;
      },
    };
    copies.set(node, copy as Node<object>);
    return copy as Node<object>;
  };
  assert.equal([...differences(new Tree(counted(tree.root)), new Tree(counted(changed.root)))].length, 3);
  assert.ok(reads < 3000, `${reads} reads for ${copies.size} nodes`);
});
