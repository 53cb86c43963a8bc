import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import type { AcceptedToken, TokenAnswer, TokenCacheObserver } from "./contract.ts";
import { tokenCache } from "./token-cache.ts";

const user = { name: "ann", uid: "", groups: [], extra: new Map() };
const accepted = (more: Partial<AcceptedToken> = {}): AcceptedToken => ({ user, audiences: [], ...more });

/** @returns the cached authenticator, and the number of calls of the authenticator behind it */
function cacheOf(answer: (token: string) => TokenAnswer | Promise<TokenAnswer>, entriesMax?: number) {
  const clock = manualClock();
  let calls = 0;
  const options = entriesMax === undefined ? { clock } : { clock, entriesMax };
  const login = tokenCache((token) => {
    calls += 1;
    return answer(token);
  }, options);
  return { clock, login, calls: () => calls };
}

test("caches an accepted token for ten seconds", async () => {
  const { clock, login, calls } = cacheOf(async () => accepted());
  for (const at of [0, 9_999, 10_000]) {
    clock.advance(at - (at === 10_000 ? 9_999 : 0));
    assert.equal(((await login("t", ["a"])) as AcceptedToken).user, user);
  }
  assert.equal(calls(), 2);
});

test("caches no longer than until the expiration of the token", async () => {
  const { clock, login, calls } = cacheOf(() => accepted({ expiresAt: clock.now() + 5 }));
  await login("t", ["a"]);
  clock.advance(5);
  await login("t", ["a"]);
  assert.equal(calls(), 2);
});

test("does not cache a problem", async () => {
  const { login, calls } = cacheOf(async () => ({ problems: ["no"] }));
  assert.deepEqual([await login("t", ["a"]), await login("t", ["a"])], [{ problems: ["no"] }, { problems: ["no"] }]);
  assert.equal(calls(), 2);
});

test("caches by token and audiences", async () => {
  const { login, calls } = cacheOf(() => accepted());
  for (const [token, audiences] of [
    ["t", ["a"]],
    ["t", ["b"]],
    ["t", ["a", "b"]],
    ["ta", []],
    ["t1", ["a"]],
  ] as const)
    await login(token, audiences);
  assert.equal(calls(), 5);
});

test("shares one lookup between concurrent requests with the same token", async () => {
  const { login, calls } = cacheOf(async () => accepted());
  await Promise.all([login("t", ["a"]), login("t", ["a"])]);
  assert.equal(calls(), 1);
});

test("calls isStillValid at each use of a cached token", async () => {
  let exists = true;
  const { login, calls } = cacheOf(() => (exists ? accepted({ isStillValid: () => exists }) : { problems: ["gone"] }));
  assert.ok("user" in ((await login("t", ["a"])) ?? {}));
  assert.ok("user" in ((await login("t", ["a"])) ?? {}));
  assert.equal(calls(), 1);
  exists = false;
  assert.deepEqual(await login("t", ["a"]), { problems: ["gone"] });
});

test("evicts the oldest tokens above the limit", async () => {
  const { login, calls } = cacheOf(() => accepted(), 100);
  for (let index = 0; index < 10_000; index++) await login(`t${index}`, ["a"]);
  for (let index = 9_900; index < 10_000; index++) await login(`t${index}`, ["a"]);
  assert.equal(calls(), 10_000);
  await login("t0", ["a"]);
  assert.equal(calls(), 10_001);
});

test("caches unknown tokens with unknownMs, but no problems", async () => {
  const clock = manualClock();
  let calls = 0;
  const answers: TokenAnswer[] = [undefined, { problems: ["down"] }, { problems: ["down"] }, accepted()];
  const login = tokenCache(() => answers[calls++], { clock, acceptedMs: 0, unknownMs: 100 });
  assert.deepEqual([await login("t", ["a"]), await login("t", ["a"])], [undefined, undefined]);
  assert.equal(calls, 1);
  clock.advance(100);
  assert.deepEqual(
    [await login("t", ["a"]), await login("t", ["a"])],
    [{ problems: ["down"] }, { problems: ["down"] }],
  );
  assert.equal(calls, 3);
});

test("unknown tokens do not evict accepted ones", async () => {
  const clock = manualClock();
  let calls = 0;
  const answer = (token: string): TokenAnswer => (token === "good" ? accepted() : undefined);
  const login = tokenCache(
    (token) => {
      calls++;
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
    await login(token, ["a"]);
  assert.equal(calls, 52);
});

test("caches a formerly unknown token as accepted", async () => {
  const clock = manualClock();
  const answers: TokenAnswer[] = [undefined, accepted()];
  const login = tokenCache(() => answers.shift(), { clock, acceptedMs: 100, unknownMs: 10 });
  assert.equal(await login("t", ["a"]), undefined);
  clock.advance(10);
  assert.ok("user" in ((await login("t", ["a"])) ?? {}));
  clock.advance(50);
  assert.ok("user" in ((await login("t", ["a"])) ?? {}));
});

test("notifies the observer of hits, misses, waits and results", async () => {
  const seen: string[] = [];
  const observer: TokenCacheObserver = {
    hit: () => seen.push("hit"),
    missed: (ms) => seen.push(`missed ${ms}`),
    waiting: (change) => seen.push(`waiting ${change}`),
    fetching: () => seen.push("fetching"),
    fetched: (ok) => seen.push(`fetched ${ok}`),
  };
  const clock = manualClock();
  const login = tokenCache(async (token) => (token === "bad" ? { problems: ["no"] } : accepted()), { clock, observer });
  await Promise.all([login("t", ["a"]), login("t", ["a"])]);
  await login("t", ["a"]);
  await login("bad", ["a"]);
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
