/**
 * Snapshots, restores and forks of stores in memory. Guarantees: a state does not change after it was read; a restore
 * is visible completely or not at all, at new revisions; keys that are equal keep their revisions; the log explains
 * every change; stores that begin with the same state do not see each other's writes.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { passTurns } from "../../../test/support/pass-turns.ts";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { gate, ignored, listed, put, remove, suiteOptions, turn } from "../../../test/support/storage-suite.ts";
import { until } from "../../../test/support/until.ts";
import { orderedKey } from "../../lib/persistent-tree/ordered-key.ts";
import { type LogEvent, StorageUnavailable, type Write } from "../contract.ts";
import { type MemoryState, type MemoryStorage, openMemoryStorage } from "../memory.ts";
import type { StorageOptions } from "../options.ts";

const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 200 : 10;

const stateOf = (storage: MemoryStorage): Promise<MemoryState> => storage.state((state) => state);
const nothing = (): void => {};

async function open(
  context: TestContext,
  options: Partial<StorageOptions> = {},
  state?: MemoryState,
): Promise<MemoryStorage> {
  const storage = await openMemoryStorage({ ...suiteOptions, ...options }, state);
  context.after(() => storage.close());
  return storage;
}

test("a restore writes what differs at new revisions, and nothing else", async (context) => {
  const storage = await open(context);
  await storage.commit([], [put("/a", "1"), put("/b", "1"), put("/c", "1")]);
  const state = await stateOf(storage);
  await storage.commit([], [put("/b", "2"), remove("/c"), put("/d", "1")]);
  const seen: string[] = [];
  storage.log("", 3, {
    ...ignored,
    events: (batch) => void seen.push(batch.map(({ type, key, revision }) => `${type} ${key}@${revision}`).join()),
  });
  await turn();
  assert.equal(await storage.restore(state, (revision) => void seen.push(`visible ${revision}`)), 4);
  assert.deepEqual(seen, ["visible 4", "put /b@4,put /c@4,delete /d@4"]);
  assert.deepEqual(await listed(storage, ""), ["/a=1", "/b=1", "/c=1"]);
  assert.equal((await storage.get("/a"))?.revision, 2);
  assert.equal(await storage.restore(state, nothing), 4);
  assert.equal(await storage.current(), 4);
});

test("a key that was written again with the same value is not restored", async (context) => {
  const storage = await open(context);
  await storage.commit([], [put("/a", "1")]);
  const state = await stateOf(storage);
  await storage.commit([], [put("/a", "1")]);
  assert.equal(await storage.restore(state, nothing), 3);
  assert.equal((await storage.get("/a"))?.revision, 3);
});

test("a restore of many keys is one group of commits with at most 128 changes each", async (context) => {
  const storage = await open(context, { waitingMax: 1000 });
  const empty = await stateOf(storage);
  const keys = Array.from({ length: 3000 }, (_, index) => `/k/${index}`);
  for (let at = 0; at < keys.length; at += 100)
    await storage.commit(
      [],
      keys.slice(at, at + 100).map((key) => put(key, key)),
    );
  const full = await stateOf(storage);
  const sizes = new Map<number, number>();
  const batches: number[] = [];
  storage.log("/k/", await storage.current(), {
    ...ignored,
    events(batch: readonly LogEvent[]) {
      batches.push(batch.length);
      for (const { revision } of batch) sizes.set(revision, (sizes.get(revision) ?? 0) + 1);
    },
  });
  await turn();
  const restoring = storage.restore(empty, nothing);
  // Other writes do not wait for it, and do not count it.
  const committing = storage.commit([{ key: "/k/1", revision: 0 }], [put("/k/1", "new")]);
  assert.equal(await storage.count("/k/"), 3000);
  await restoring;
  assert.equal((await committing).ok, true);
  assert.deepEqual([batches, sizes.size, Math.max(...sizes.values())], [[3000, 1], 25, 128]);
  assert.deepEqual(await listed(storage, "/k/"), ["/k/1=new"]);
  await storage.restore(full, nothing);
  assert.equal(await storage.count("/k/"), 3000);
});

test("a restore that cannot be written changes nothing", async (context) => {
  const faults = gate();
  const storage = await open(context, { faults });
  const empty = await stateOf(storage);
  await storage.commit([], [put("/a", "1")]);
  const release = faults.hold();
  let visible = false;
  const restoring = storage.restore(empty, () => {
    visible = true;
  });
  const dependent = storage.commit([{ key: "/a", revision: 0 }], [put("/a", "2")]);
  await passTurns(5);
  release(new Error("input/output error"));
  await Promise.all([assert.rejects(restoring, StorageUnavailable), assert.rejects(dependent, StorageUnavailable)]);
  assert.equal(visible, false);
  assert.deepEqual(await listed(storage, ""), ["/a=1"]);
  await storage.restore(empty, nothing);
  assert.deepEqual(await listed(storage, ""), []);
});

test("times of expiry are restored, and pass while the state is kept", async (context) => {
  const clock = manualClock();
  const storage = await open(context, { clock });
  const timed = (key: string, ttlSeconds: number): Write => ({ ...put(key, "1"), ttlSeconds });
  await storage.commit([], [timed("/a", 10), timed("/b", 1000), timed("/c", 1000), put("/d", "1")]);
  const state = await stateOf(storage);
  // The same values with other times, or without.
  await storage.commit([], [remove("/a"), put("/b", "1"), timed("/c", 5), timed("/d", 5)]);
  clock.advance(20_000);
  await until(async () => (await listed(storage, "")).length <= 1);
  await storage.restore(state, nothing);
  const elapsed = async (ms: number, count: number): Promise<string[]> => {
    clock.advance(ms);
    await until(async () => (await storage.count("")) <= count);
    return listed(storage, "");
  };
  assert.deepEqual(await elapsed(0, 3), ["/b=1", "/c=1", "/d=1"]);
  assert.deepEqual(await elapsed(979_999, 3), ["/b=1", "/c=1", "/d=1"]);
  assert.deepEqual(await elapsed(1, 1), ["/d=1"]);
});

test("a store that begins with a state has its revisions and no history", async (context) => {
  const clock = manualClock();
  const parent = await open(context, { clock });
  await parent.commit([], [put("/a", "1"), { ...put("/b", "1"), ttlSeconds: 10 }]);
  const fork = await open(context, { clock }, await stateOf(parent));
  assert.deepEqual([await fork.current(), fork.compacted(), (await fork.get("/a"))?.revision], [2, 2, 2]);
  assert.throws(() => fork.log("", 1, ignored), /compacted/);
  await Promise.all([fork.commit([], [put("/a", "fork")]), parent.commit([], [put("/a", "parent"), put("/c", "1")])]);
  assert.deepEqual(await listed(fork, ""), ["/a=fork", "/b=1"]);
  assert.deepEqual(await listed(parent, ""), ["/a=parent", "/b=1", "/c=1"]);
  clock.advance(10_000);
  await until(async () => !((await fork.count("")) > 1 || (await parent.count("")) > 2));
  await parent.restore(await stateOf(fork), nothing);
  assert.deepEqual(await listed(parent, ""), ["/a=fork"]);
});

type Contents = ReadonlyMap<string, string>;
interface Kept {
  readonly state: MemoryState;
  readonly contents: Contents;
}

/** A store, and what it must contain. */
interface Modeled {
  readonly storage: MemoryStorage;
  contents: Contents;
  /** What a follower of the log has seen. */
  readonly followed: Map<string, string>;
  /** Each resourceVersion must name one content. */
  readonly named: Map<number, string>;
}

const textOf = (contents: Iterable<readonly [string, string]>): string =>
  JSON.stringify([...contents].sort(([a], [b]) => (a < b ? -1 : 1)));

/** Changes a state that must not change: a broken engine, for the test of the test. */
type Break = (state: MemoryState) => MemoryState;

async function runProgram(random: (below: number) => number, broken: Break = (state) => state): Promise<void> {
  const opened: Modeled[] = [];
  const kept: Kept[] = [];
  const add = async (state: MemoryState | undefined, contents: Contents): Promise<void> => {
    const storage = await openMemoryStorage(suiteOptions, state);
    const store: Modeled = { storage, contents, followed: new Map(contents), named: new Map() };
    storage.log("", await storage.current(), {
      ...ignored,
      events(batch) {
        for (const { type, key, value, revision } of batch) {
          if (type === "put") store.followed.set(key, value.toString());
          else store.followed.delete(key);
          const name = `${type} ${key} ${value}`;
          const others = store.named.get(revision) ?? "";
          assert.ok(!others.includes(` ${key} `), `${key} has two changes at ${revision}`);
          store.named.set(revision, `${others}${name};`);
        }
      },
    });
    opened.push(store);
  };
  const keyOf = (): string => `/${"pq"[random(2)]}/${random(40)}`;
  const operations: ((store: Modeled) => Promise<void>)[] = [
    async function commit(store) {
      const keys = [...new Set(Array.from({ length: 1 + random(20) }, keyOf))];
      const writes = keys.map((key) => (random(3) === 0 ? remove(key) : put(key, `v${random(5)}`)));
      const next = new Map(store.contents);
      for (const { key, value } of writes) {
        if (value === null) next.delete(key);
        else next.set(key, value.toString());
      }
      store.contents = next;
      const committing = store.storage.commit([], writes);
      if (random(2) === 0) await committing; // Otherwise the next operation meets pending writes.
    },
    async function snapshot({ storage, contents }) {
      await storage.commit([], [put("/barrier", "1")]);
      await storage.commit([], [remove("/barrier")]);
      kept.push({ state: await stateOf(storage), contents });
      if (kept.length > 8) kept.splice(random(8), 1);
    },
    async function restore(store) {
      const one = kept[random(kept.length)];
      if (one === undefined) return;
      store.contents = one.contents;
      const restoring = store.storage.restore(broken(one.state), nothing);
      if (random(2) === 0) await restoring;
    },
    async function fork() {
      const one = kept[random(kept.length)];
      if (one === undefined) return;
      if (opened.length === 4) await opened.splice(random(4), 1)[0]?.storage.close();
      await add(one.state, one.contents);
    },
    async function compare({ storage, contents }) {
      await turn();
      await storage.commit([], [put("/barrier", "1")]);
      await storage.commit([], [remove("/barrier")]);
      const { entries } = await storage.range("");
      assert.equal(textOf(entries.map(({ key, value }) => [key, value.toString()])), textOf(contents));
      assert.equal(await storage.count("/p/"), [...contents.keys()].filter((key) => key.startsWith("/p/")).length);
    },
  ];
  await add(undefined, new Map());
  try {
    for (let step = 0; step < 300; step++) {
      const operation = operations[Math.max(0, random(8) - 3)] as (typeof operations)[number];
      await operation(opened[random(opened.length)] as Modeled).catch((error: unknown) => {
        throw new Error(`step ${step}: ${operation.name}`, { cause: error });
      });
    }
    for (const store of opened) {
      await store.storage.commit([], [put("/barrier", "1")]);
      await store.storage.commit([], [remove("/barrier")]);
      assert.equal(textOf(store.followed), textOf(store.contents));
    }
  } finally {
    for (const { storage } of opened) await storage.close();
  }
}

test(`random programs of snapshots, restores, forks and writes agree with a model (SEED=${seed})`, async () => {
  for (let round = 0; round < rounds; round++) {
    await runProgram(seededRandom(seed + round)).catch((error: unknown) => {
      throw new Error(`SEED=${seed + round}`, { cause: error });
    });
  }
});

test("the test of random programs notices a restore that forgets a key", async () => {
  const forgets: Break = (state) => ({ ...state, puts: state.puts.delete(orderedKey("/p/7")) });
  await assert.rejects(async () => {
    for (let round = 0; round < 20; round++) await runProgram(seededRandom(round), forgets);
  }, /step/);
});
