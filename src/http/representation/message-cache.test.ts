import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Entry } from "../../watch-cache/contract.ts";
import { MessageCache } from "./message-cache.ts";

test("encodes a message once, until too many others were cached", () => {
  const cache = new MessageCache({ halfBytesMax: 700 });
  const made: string[] = [];
  const entries = new Map(
    ["a", "b", "c", "d"].map((key) => [key, { key, json: Buffer.alloc(30) } as unknown as Entry]),
  );
  const read = (keys: string): string => {
    made.length = 0;
    for (const key of keys) {
      cache.get(entries.get(key) as Entry, () => {
        made.push(key);
        return Buffer.alloc(10);
      });
    }
    return made.join("");
  };
  assert.equal(read("aabab"), "ab");
  assert.equal(read("cd"), "cd", "which makes a and b the older half");
  assert.equal(read("a"), "", "taken over from there; c and d are the older half now");
  assert.equal(read("cab"), "b", "b was not asked for in time");
  assert.equal(read("dd"), "d", "kept");
  assert.equal(read("c"), "", "c is still kept");
});

test("does not keep messages of more entries than fit, and evicts nothing", () => {
  const cache = new MessageCache({ halfBytesMax: 700 });
  const entryOf = (key: string): Entry => ({ key, json: Buffer.alloc(30) }) as unknown as Entry;
  const hot = entryOf("hot");
  const message = cache.get(hot, () => Buffer.alloc(10));
  const rest = Array.from({ length: 20 }, (_, index) => entryOf(`rest-${index}`));
  let made = 0;
  for (const _round of [1, 2])
    for (const entry of rest) cache.get(entry, () => Buffer.alloc(10, made++), { among: rest.length + 1 });
  assert.equal(made, 2 * rest.length);
  assert.equal(
    cache.get(hot, () => assert.fail(), { among: rest.length + 1 }),
    message,
  );
});

test("entries that nothing else holds are collected, and their messages with them", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const cache = new MessageCache();
  const fill = (): WeakRef<object>[] =>
    Array.from({ length: 100 }, (_, index) => {
      const entry = { key: String(index), json: Buffer.alloc(30) } as unknown as Entry;
      return [new WeakRef(entry), new WeakRef(cache.get(entry, () => Buffer.alloc(10)))];
    }).flat();
  const references = fill();
  await new Promise((resolve) => setImmediate(resolve)); // Until then a reference holds what it was made for.
  collect();
  assert.deepEqual(
    references.filter((reference) => reference.deref() !== undefined),
    [],
  );
});
