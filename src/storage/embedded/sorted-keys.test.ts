import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { compareKeys, endOfPrefix } from "./key-order.ts";
import { SortedKeys } from "./sorted-keys.ts";

const keys = [
  "",
  "/",
  "/a",
  "/a/",
  "/a/b",
  "/a0",
  "/b",
  "/z~",
  "/é",
  "/\ud7ff",
  "/\ue000",
  "/\uffff",
  "/\u{10000}",
  "/\u{1f600}",
  "/\u{10ffff}",
];

test("orders keys by their UTF-8 bytes", () => {
  for (const a of keys) {
    for (const b of keys)
      assert.equal(Math.sign(compareKeys(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)), `${a} ${b}`);
  }
});

test("the end of a prefix is after all its keys and before all others that follow", () => {
  for (const prefix of ["/", "/a", "/a/", "/é"]) {
    const end = endOfPrefix(prefix) as string;
    for (const key of keys.filter((one) => one.startsWith(prefix)))
      assert.ok(compareKeys(key, end) <= 0, `${key} of ${prefix}`);
    for (const key of keys.filter((one) => !one.startsWith(prefix) && compareKeys(one, prefix) > 0))
      assert.ok(compareKeys(key, end) >= 0);
  }
  assert.equal(endOfPrefix(""), undefined);
});

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
test(`sorted keys agree with an array (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  const sorted = new SortedKeys();
  const model = new Set<string>();
  for (let step = 0; step < 20_000; step++) {
    const key = random(2) === 0 ? `/${step}` : `/${random(3000)}`;
    const exists = model.has(key);
    if (exists) sorted.delete(key);
    else sorted.add(key);
    if (exists) model.delete(key);
    else model.add(key);
    if (step % 1000 === 0) {
      const from = `/${random(3000)}`;
      assert.deepEqual([...sorted.from(from)], [...model].filter((one) => one >= from).sort());
    }
  }
  assert.deepEqual([...sorted.from("")], [...model].sort());
  for (const key of model) sorted.delete(key);
  assert.deepEqual([...sorted.from("")], []);
});
