/**
 * What a history window of a minute means, on both engines and a clock of the test's own:
 *
 * - A state that was superseded a minute ago, or longer, answers 410 to exact reads, continued lists and watches.
 * - The newest state of a kind never does, however much happens to other kinds, or to none.
 * - Watches that are open go on, however far they are behind in time.
 * - The age of history outlives the process where the store does.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { type ManualClock, manualClock } from "../../test/support/manual-clock.ts";
import { ApiError } from "../apimachinery/errors.ts";
import type { Storage } from "../storage/contract.ts";
import { openLmdbStorage } from "../storage/lmdb/lmdb.ts";
import { openMemoryStorage } from "../storage/memory.ts";
import type { WatchCache } from "./contract.ts";
import { type EntrySource, makeEntry } from "./entry.ts";
import { openWatchCache, type WatchCacheOptions } from "./watch-cache.ts";

const windowMs = 60_000;
const prefix = "/registry/things/";
const source = { prefix, fingerprint: 1, selectableFields: {} } as unknown as EntrySource;
const head = '{"kind":"Thing","apiVersion":"v1",';
const seal = { fingerprint: 1, itemOffset: head.length, versionOffset: head.length + '"metadata":{'.length };
const entryOf: WatchCacheOptions["entryOf"] = ({ key, revision, value }) =>
  makeEntry(key, revision, value, seal, source);

/** The store keeps more than the window, as the server has it: a read of many pages may take its time. */
const limits = { historyMs: 10 * windowMs, historyBytesMax: 1 << 30, valueBytesMax: 1 << 20 };

type Engine = [name: string, open: (clock: ManualClock, dir: string) => Promise<Storage>];
const engines: Engine[] = [
  ["memory", (clock) => openMemoryStorage({ ...limits, clock })],
  ["lmdb", (clock, dir) => openLmdbStorage({ ...limits, clock, dir, durability: "relaxed" })],
];

interface World {
  readonly clock: ManualClock;
  readonly storage: Storage;
  readonly cache: WatchCache;
  /** Puts an object of the kind. @returns the revision */
  put(name: string): Promise<number>;
  /** Puts one of another kind. */
  other(): Promise<number>;
}

const twoTurns = async (): Promise<void> => {
  for (let turns = 0; turns < 2; turns++) await new Promise((resolve) => setImmediate(resolve));
};

function worldOf(clock: ManualClock, storage: Storage, options: Partial<WatchCacheOptions> = {}): World {
  const cache = openWatchCache({ storage, prefix, clock, entryOf, historyMs: windowMs, ...options });
  const commit = async (key: string): Promise<number> => {
    const done = await storage.commit([], [{ key, value: Buffer.from(`${head}"metadata":{"name":"x"}}`), seal }]);
    assert.ok(done.ok);
    await twoTurns();
    return done.revision;
  };
  return { clock, storage, cache, put: (name) => commit(prefix + name), other: () => commit("/registry/others/a") };
}

async function outcome(ask: () => unknown): Promise<string> {
  try {
    await ask();
    return "ok";
  } catch (error) {
    if (error instanceof ApiError) return `${error.status.code} ${error.status.message}`;
    throw error;
  }
}

/** Whether a list at exactly the revision, and a watch from it, are answered. */
async function reachable({ cache }: World, revision: number): Promise<string> {
  const list = await outcome(async () => assert.equal((await cache.exactly(revision)).revision, revision));
  const watch = await outcome(async () => {
    await cache.reach(revision);
    cache.subscribe(revision, { events() {}, end() {} }).close();
  });
  return list === watch ? list : `list: ${list}; watch: ${watch}`;
}

const gone = (revision: number, oldest: number): string =>
  `list: 410 The resourceVersion for the provided list is too old.; watch: 410 too old resource version: ${revision} (${oldest})`;

type Row = [
  what: string,
  run: (world: World) => Promise<string>,
  want: string | ((answer: string) => boolean),
  options?: Partial<WatchCacheOptions>,
];

const is410 = (answer: string): boolean => /^list: 410 .*; watch: 410 /.test(answer);

const rows: Row[] = [
  [
    "a state that was superseded less than the window ago",
    async (world) => {
      const first = await world.put("a");
      world.clock.advance(10 * windowMs);
      await world.put("a");
      world.clock.advance(windowMs - 1);
      return reachable(world, first);
    },
    "ok",
  ],
  [
    "a state that was superseded the window ago, while nothing happened since",
    async (world) => {
      const first = await world.put("a");
      await world.put("a");
      world.clock.advance(windowMs);
      return reachable(world, first);
    },
    gone(2, 3),
  ],
  [
    "the newest state, after ten hours in which nothing happened",
    async (world) => {
      const first = await world.put("a");
      for (let hour = 0; hour < 10; hour++) world.clock.advance(3_600_000);
      return reachable(world, first);
    },
    "ok",
  ],
  [
    "the newest state of the kind, while another kind changed all the time",
    async (world) => {
      const first = await world.put("a");
      for (let minutes = 0; minutes < 30; minutes++) {
        await world.other();
        world.clock.advance(windowMs);
        await twoTurns();
      }
      return reachable(world, first);
    },
    "ok",
  ],
  [
    "one of many changes within the window, all but the newest of which the cache has let go",
    async (world) => {
      const first = await world.put("a");
      world.clock.advance(windowMs);
      for (let index = 0; index < 50; index++) await world.put("a");
      world.clock.advance(windowMs - 1);
      return reachable(world, first);
    },
    "ok",
    { eventsMax: 5 },
  ],
  [
    "the same, once they are all older than the window",
    async (world) => {
      const first = await world.put("a");
      for (let index = 0; index < 50; index++) await world.put("a");
      world.clock.advance(windowMs);
      return reachable(world, first);
    },
    is410,
    { eventsMax: 5 },
  ],
  [
    "what the cache has let go and is older, while the newest that it let go is younger",
    async (world) => {
      const first = await world.put("a");
      await world.put("a");
      world.clock.advance(windowMs);
      for (let index = 0; index < 50; index++) await world.put("a");
      return reachable(world, first);
    },
    is410,
    { eventsMax: 5 },
  ],
  [
    "what was read back for another watch does not become younger by it",
    async (world) => {
      const first = await world.put("a");
      for (let index = 0; index < 50; index++) await world.put("a");
      world.clock.advance(windowMs - 1);
      assert.equal(await reachable(world, first), "ok");
      world.clock.advance(1);
      return reachable(world, first);
    },
    is410,
    { eventsMax: 5 },
  ],
  [
    "a state without snapshots, from the store",
    async (world) => {
      const first = await world.put("a");
      await world.put("a");
      world.clock.advance(windowMs);
      return reachable(world, first);
    },
    is410,
    { keepsSnapshots: false },
  ],
];

for (const [engine, open] of engines) {
  describe(engine, () => {
    const root = mkdtempSync(join(tmpdir(), "coxswain-window-"));
    let directories = 0;
    const newDirectory = (): string => join(root, String(directories++));
    after(() => rmSync(root, { recursive: true, force: true }));

    for (const [what, run, want, options] of rows) {
      test(what, async () => {
        const clock = manualClock();
        const storage = await open(clock, newDirectory());
        const world = worldOf(clock, storage, options);
        await world.cache.ready();
        const answer = await run(world);
        if (typeof want === "string") assert.equal(answer, want);
        else assert.ok(want(answer), answer);
        world.cache.close();
        await storage.close();
      });
    }

    test("a snapshot of a chunked list is kept for 75 s after its last use, or for the window if that is shorter", async () => {
      const clock = manualClock();
      const storage = await open(clock, newDirectory());
      const checks: [historyMs: number, afterMs: number, want: string][] = [
        [300_000, 74_000, "ok"],
        [300_000, 76_000, "410"],
        [30_000, 29_000, "ok"],
        [30_000, 31_000, "410"],
      ];
      for (const [historyMs, afterMs, want] of checks) {
        const { cache, put } = worldOf(clock, storage, { historyMs, eventsMax: 1 });
        await cache.ready();
        cache.keep(cache.latest());
        const { revision } = cache.latest();
        await put("a");
        await put("b");
        await put("c");
        await storage.compact(await storage.current()); // The snapshot is all that is left.
        clock.advance(afterMs);
        assert.equal(
          (await outcome(() => cache.exactly(revision))).slice(0, 3).trim(),
          want,
          `window ${historyMs}, after ${afterMs}`,
        );
        cache.close();
      }
      await storage.close();
    });

    test("a watch that is open goes on after a pause that is longer than the window", async () => {
      const clock = manualClock();
      const storage = await open(clock, newDirectory());
      const { cache, put } = worldOf(clock, storage);
      await cache.ready();
      const seen: number[] = [];
      let paused = true;
      const from = cache.latest().revision;
      const subscription = cache.subscribe(from, {
        events(batch) {
          for (const { revision } of batch) seen.push(revision);
          return !paused;
        },
        end: () => assert.fail("cut off"),
      });
      await put("a");
      await put("b");
      clock.advance(3 * windowMs);
      await put("c");
      paused = false;
      subscription.resume();
      assert.deepEqual(seen, [from + 1, from + 2, from + 3]);
      assert.equal(subscription.delivered, from + 3);
      subscription.close();
      cache.close();
      await storage.close();
    });

    test("after a demanded compaction exact reads before it answer 410, and watches that the cache can serve go on", async () => {
      const clock = manualClock();
      const storage = await open(clock, newDirectory());
      const world = worldOf(clock, storage, { historyMs: Number.POSITIVE_INFINITY });
      await world.cache.ready();
      const first = await world.put("a");
      const second = await world.put("a");
      const third = await world.put("a");
      await storage.compact(second);
      world.cache.forgetBefore(second);
      assert.equal(
        await reachable(world, first),
        "list: 410 The resourceVersion for the provided list is too old.; watch: ok",
      );
      assert.equal(await reachable(world, second), "ok");
      assert.equal(await reachable(world, third), "ok");
      world.cache.close();
      await storage.close();
    });
  });
}

test("lmdb: after a restart history is as old as it was", async () => {
  const dir = mkdtempSync(join(tmpdir(), "coxswain-window-"));
  const clock = manualClock();
  const open = engines[1]![1];
  const before = worldOf(clock, await open(clock, dir));
  const first = await before.put("a");
  await before.put("a");
  clock.advance(windowMs / 2);
  const third = await before.put("a");
  await before.storage.close();
  const storage = await open(clock, dir);
  const world = worldOf(clock, storage);
  await world.cache.ready();
  await world.other();
  assert.equal(await reachable(world, first), "ok");
  clock.advance(windowMs / 2);
  assert.ok(is410(await reachable(world, first)));
  assert.equal(await reachable(world, third - 1), "ok");
  clock.advance(windowMs / 2);
  assert.ok(is410(await reachable(world, third - 1)));
  assert.equal(await reachable(world, third), "ok");
  world.cache.close();
  await storage.close();
  rmSync(dir, { recursive: true, force: true });
});
