import assert from "node:assert/strict";
import { test } from "node:test";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import type { Entry } from "./contract.ts";
import { IndexedTree, IndexedTreeBuilder } from "./indexed-tree.ts";

function entry(key: string, node: string, revision = 1): Entry {
  return { key, revision, index: { fields: new Map(node === "" ? [] : [["node", node]]) } } as unknown as Entry;
}

test(`random changes agree with a model, and older states do not change (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  let tree = IndexedTree.empty(["node"]);
  const model = new Map<string, Entry>();
  const kept: { tree: IndexedTree; want: string[] }[] = [];
  const node = (): string => ["", "a", "b", "ab"][random(4)] as string;
  const show = ({ key, revision }: Entry): string => `${key}@${revision}`;
  const expected = (value: string, prefix: string, after = ""): string[] =>
    [...model.values()]
      .filter(({ key, index }) => (index.fields.get("node") ?? "") === value && key.startsWith(prefix) && key > after)
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map(show);
  for (let step = 0; step < 3000; step++) {
    const key = `/k/n${random(3)}/${random(100)}`;
    if (random(3) > 0) {
      const next = entry(key, node(), step);
      tree = tree.set(next);
      model.set(key, next);
    } else {
      tree = tree.delete(key);
      model.delete(key);
    }
    const value = node();
    const after = `/k/n1/${random(100)}`;
    assert.deepEqual([...(tree.find("node", value, "/k/") ?? [])].map(show), expected(value, "/k/"));
    assert.deepEqual(
      [...(tree.find("node", value, "/k/n1/", after) ?? [])].map(show),
      expected(value, "/k/n1/", after),
    );
    if (step % 300 === 0) kept.push({ tree, want: expected("a", "/k/") });
  }
  for (const { tree: old, want } of kept) assert.deepEqual([...(old.find("node", "a", "/k/") ?? [])].map(show), want);
  assert.equal(tree.find("other", "a", "/k/"), undefined);
});

test("orders keys by their bytes, as the store does", () => {
  const names = [
    "a",
    "z",
    "é",
    "\u{ffff}",
    "\u{d7ff}",
    "\u{e000}",
    "\u{fffd}",
    "\u{10000}",
    "\u{10ffff}",
    "a\u{1f600}",
    "a\u{ff00}",
    "ab",
  ];
  const keys = names.map((name) => `/k/${name}`);
  const byBytes = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const entries = keys.map((key) => entry(key, "x"));
  const sorted = byBytes.map((key) => entry(key, "x"));
  const builder = new IndexedTreeBuilder(["node"]);
  for (const one of sorted) builder.add(one);
  const built = builder.build();
  const grown = entries.reduce((tree, one) => tree.set(one), IndexedTree.empty(["node"]));
  for (const tree of [built, grown]) {
    assert.deepEqual(
      [...tree.range("/k/")].map(({ key }) => key),
      byBytes,
    );
    assert.deepEqual(
      [...(tree.find("node", "x", "/k/") ?? [])].map(({ key }) => key),
      byBytes,
    );
    for (const [at, key] of byBytes.entries()) {
      assert.equal(tree.get(key)?.key, key);
      assert.deepEqual(
        [...tree.range("/k/", key)].map((one) => one.key),
        byBytes.slice(at + 1),
      );
      assert.equal(tree.count("/k/", key), byBytes.length - at - 1);
    }
  }
});
