import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import type { AcceptedToken, TokenAnswer, TokenCacheObserver } from "./contract.ts";
import { tokenCache } from "./token-cache.ts";

const user = { name: "ann", uid: "", groups: [], extra: new Map() };
const accepted = (more: Partial<AcceptedToken> = {}): AcceptedToken => ({ user, audiences: [], ...more });

/** @returns what was asked, and how often the method behind was */
function cacheOf(answer: (token: string) => TokenAnswer | Promise<TokenAnswer>, entriesMax?: number) {
  const clock = manualClock();
  let asked = 0;
  const options = entriesMax === undefined ? { clock } : { clock, entriesMax };
  const ask = tokenCache((token) => {
    asked += 1;
    return answer(token);
  }, options);
  return { clock, ask, asked: () => asked };
}

test("an acceptance is kept for ten seconds", async () => {
  const { clock, ask, asked } = cacheOf(async () => accepted());
  for (const at of [0, 9_999, 10_000]) {
    clock.advance(at - (at === 10_000 ? 9_999 : 0));
    assert.equal(((await ask("t", ["a"])) as AcceptedToken).user, user);
  }
  assert.equal(asked(), 2);
});

test("no longer than the token is good for", async () => {
  const { clock, ask, asked } = cacheOf(() => accepted({ expiresAt: clock.now() + 5 }));
  await ask("t", ["a"]);
  clock.advance(5);
  await ask("t", ["a"]);
  assert.equal(asked(), 2);
});

test("a refusal is not kept", async () => {
  const { ask, asked } = cacheOf(async () => ({ problem: "no" }));
  assert.deepEqual([await ask("t", ["a"]), await ask("t", ["a"])], [{ problem: "no" }, { problem: "no" }]);
  assert.equal(asked(), 2);
});

test("other audiences and other tokens are other questions", async () => {
  const { ask, asked } = cacheOf(() => accepted());
  for (const [token, audiences] of [
    ["t", ["a"]],
    ["t", ["b"]],
    ["t", ["a", "b"]],
    ["ta", []],
    ["t1", ["a"]],
  ] as const)
    await ask(token, audiences);
  assert.equal(asked(), 5);
});

test("a token brought by several at once is looked at once", async () => {
  const { ask, asked } = cacheOf(async () => accepted());
  await Promise.all([ask("t", ["a"]), ask("t", ["a"])]);
  assert.equal(asked(), 1);
});

test("what a kept token is bound to is asked for at each use", async () => {
  let there = true;
  const { ask, asked } = cacheOf(() => (there ? accepted({ isStillValid: () => there }) : { problem: "gone" }));
  assert.ok("user" in ((await ask("t", ["a"])) ?? {}));
  assert.ok("user" in ((await ask("t", ["a"])) ?? {}));
  assert.equal(asked(), 1);
  there = false;
  assert.deepEqual(await ask("t", ["a"]), { problem: "gone" });
});

test("ten thousand tokens leave as many as may be kept", async () => {
  const { ask, asked } = cacheOf(() => accepted(), 100);
  for (let index = 0; index < 10_000; index++) await ask(`t${index}`, ["a"]);
  for (let index = 9_900; index < 10_000; index++) await ask(`t${index}`, ["a"]);
  assert.equal(asked(), 10_000);
  await ask("t0", ["a"]);
  assert.equal(asked(), 10_001);
});

test("that nobody knows a token is kept where it is asked for, a problem never", async () => {
  const clock = manualClock();
  let asked = 0;
  const answers: TokenAnswer[] = [undefined, { problem: "down" }, { problem: "down" }, accepted()];
  const ask = tokenCache(() => answers[asked++], { clock, acceptedMs: 0, unknownMs: 100 });
  assert.deepEqual([await ask("t", ["a"]), await ask("t", ["a"])], [undefined, undefined]);
  assert.equal(asked, 1);
  clock.advance(100);
  assert.deepEqual([await ask("t", ["a"]), await ask("t", ["a"])], [{ problem: "down" }, { problem: "down" }]);
  assert.equal(asked, 3);
});

test("tokens that nobody knows drive out no good ones", async () => {
  const clock = manualClock();
  let asked = 0;
  const answer = (token: string): TokenAnswer => (token === "good" ? accepted() : undefined);
  const ask = tokenCache(
    (token) => {
      asked++;
      return answer(token);
    },
    { clock, acceptedMs: 100, unknownMs: 100, entriesMax: 10 },
  );
  for (const token of [
    "good",
    ...Array.from({ length: 50 }, (_, index) => `made-up-${index}`),
    "good",
    "made-up-49",
    "made-up-0",
  ])
    await ask(token, ["a"]);
  assert.equal(asked, 52);
});

test("what was unknown and is known now is kept as that", async () => {
  const clock = manualClock();
  const answers: TokenAnswer[] = [undefined, accepted()];
  const ask = tokenCache(() => answers.shift(), { clock, acceptedMs: 100, unknownMs: 10 });
  assert.equal(await ask("t", ["a"]), undefined);
  clock.advance(10);
  assert.ok("user" in ((await ask("t", ["a"])) ?? {}));
  clock.advance(50);
  assert.ok("user" in ((await ask("t", ["a"])) ?? {}));
});

test("an observer is told of hits, misses, waits and answers", async () => {
  const seen: string[] = [];
  const observer: TokenCacheObserver = {
    hit: () => seen.push("hit"),
    missed: (ms) => seen.push(`missed ${ms}`),
    waiting: (change) => seen.push(`waiting ${change}`),
    fetching: () => seen.push("fetching"),
    fetched: (ok) => seen.push(`fetched ${ok}`),
  };
  const clock = manualClock();
  const ask = tokenCache(async (token) => (token === "bad" ? { problem: "no" } : accepted()), { clock, observer });
  await Promise.all([ask("t", ["a"]), ask("t", ["a"])]);
  await ask("t", ["a"]);
  await ask("bad", ["a"]);
  const first = [
    "fetching",
    "waiting 1",
    "waiting 1",
    "fetched true",
    "waiting -1",
    "missed 0",
    "waiting -1",
    "missed 0",
  ];
  assert.deepEqual(seen, [...first, "hit", "fetching", "waiting 1", "fetched false", "waiting -1", "missed 0"]);
});
