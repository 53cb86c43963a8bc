/** Answers are kept for their time, only if they are small, and the least recently used ones are forgotten. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { statusCache } from "./status-cache.ts";

const allowed = { allowed: true };

test("an answer is found until its time is over", () => {
  let now = 0;
  const cache = statusCache({ now: () => now });
  cache.add("a", allowed, 1000);
  now = 999;
  assert.deepEqual(cache.find("a"), allowed);
  assert.equal(cache.find("b"), undefined);
  now = 1000;
  assert.equal(cache.find("a"), undefined);
});

test("an answer with a time of zero is not kept", () => {
  const cache = statusCache({ now: () => 0 });
  cache.add("a", allowed, 0);
  assert.equal(cache.find("a"), undefined);
});

test("an answer that is too large is not kept", () => {
  const cache = statusCache({ now: () => 0 });
  cache.add("a", { reason: "x".repeat(10_000) }, 1000);
  assert.equal(cache.find("a"), undefined);
});

test("the answer that was used least recently is forgotten beyond 1024 answers", () => {
  const cache = statusCache({ now: () => 0 });
  for (let index = 0; index < 1024; index++) cache.add(`${index}`, allowed, 1000);
  assert.deepEqual(cache.find("0"), allowed);
  cache.add("another", allowed, 1000);
  assert.deepEqual(cache.find("0"), allowed);
  assert.equal(cache.find("1"), undefined);
});
