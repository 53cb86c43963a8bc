import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { createDocumentCache } from "./document-cache.ts";

test("encodes a document once, also for concurrent requests", async () => {
  const cache = createDocumentCache(1000);
  let made = 0;
  const get = () => cache.get("a", async () => Buffer.from(`made ${++made}`));
  const documents = await Promise.all([get(), get(), get()]);
  assert.equal(made, 1);
  // biome-ignore format: a line
  assert.deepEqual(documents.map(({ gzipped }) => gunzipSync(gzipped).toString()), ["made 1", "made 1", "made 1"]);
});

test("drops the least recently used document first", async () => {
  const cache = createDocumentCache(3500);
  const made: string[] = [];
  const get = (key: string) =>
    cache.get(key, async () => {
      made.push(key);
      return randomBytes(1000);
    });
  for (const key of ["a", "b", "c", "a", "d", "a", "c", "b"]) await get(key);
  assert.deepEqual(made, ["a", "b", "c", "d", "b"]);
});

test("keeps a document larger than the cache until the next one", async () => {
  const cache = createDocumentCache(10);
  let made = 0;
  const get = (key: string) => cache.get(key, async () => randomBytes(++made * 100));
  await get("a");
  await get("a");
  assert.equal(made, 1);
  await get("b");
  await get("a");
  assert.equal(made, 3);
});

test("does not keep a failure", async () => {
  const cache = createDocumentCache(1000);
  await assert.rejects(
    cache.get("a", async () => {
      throw new Error("not now");
    }),
    { message: "not now" },
  );
  assert.equal(gunzipSync((await cache.get("a", async () => Buffer.from("now"))).gzipped).toString(), "now");
});
