/**
 * The history window, here one minute, on both engines with a manual clock:
 *
 * - Watches of a state that was superseded before the window get 410. The newest state of a resource
 *   never expires for them, regardless of changes of other resources.
 * - Exact lists and continued lists get 410 when the state was made, and last listed, before the
 *   window, even if it is the newest one.
 * - Open watches continue, however old their position is.
 * - The age of history survives a restart when the store does.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { type ManualClock, manualClock } from "../../test/support/manual-clock.ts";
import { passTurns } from "../../test/support/pass-turns.ts";
import { ApiError } from "../apimachinery/errors.ts";
import type { Storage } from "../storage/contract.ts";
import { openLmdbStorage } from "../storage/lmdb/lmdb.ts";
import { openMemoryStorage } from "../storage/memory.ts";
import type { WatchCache } from "./contract.ts";
import { type EntrySource, makeEntry } from "./entry.ts";
import type { WatchCacheOptions } from "./options.ts";
import { openWatchCache } from "./watch-cache.ts";

const windowMs = 60_000;
const prefix = "/registry/things/";
const source = { prefix, fingerprint: 1, selectableFields: {} } as unknown as EntrySource;
const head = '{"kind":"Thing","apiVersion":"v1",';
const seal = { fingerprint: 1, itemOffset: head.length, versionOffset: head.length + '"metadata":{'.length };
const entryOf: WatchCacheOptions["entryOf"] = ({ key, revision, value }) =>
  makeEntry(key, revision, value, seal, source);

/**
 * The store keeps more history than the window, as in the server, so that a read of many pages can
 * finish.
 */
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
  /** Puts an object of the resource. @returns the revision */
  put(name: string): Promise<number>;
  /** Puts an object of another resource. */
  other(): Promise<number>;
}

const twoTurns = async (): Promise<void> => {
  await passTurns(2);
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

/**
 * Lists at exactly the revision and watches from it.
 * @returns the outcome, for both if they differ
 */
async function reachable({ cache }: World, revision: number): Promise<string> {
  const list = await outcome(async () => assert.equal((await cache.exactly(revision)).revision, revision));
  const watch = await outcome(async () => {
    await cache.loadEventsAfter(revision);
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

const listOnlyGone = "list: 410 The resourceVersion for the provided list is too old.; watch: ok";

const is410 = (answer: string): boolean => /^list: 410 .*; watch: 410 /.test(answer);

const rows: Row[] = [
  [
    "serves watches of a state that was superseded within the window, and no lists if it was made before",
    async (world) => {
      const first = await world.put("a");
      world.clock.advance(10 * windowMs);
      await world.put("a");
      world.clock.advance(windowMs - 1);
      return reachable(world, first);
    },
    listOnlyGone,
  ],
  [
    "serves a state that was listed within the window",
    async (world) => {
      const first = await world.put("a");
      world.clock.advance(10 * windowMs);
      world.cache.listed(world.cache.latest());
      world.clock.advance(windowMs - 1);
      await world.put("a");
      return reachable(world, first);
    },
    "ok",
  ],
  [
    "rejects lists of a state that was listed before the window, although clients list newer ones",
    async (world) => {
      const listed: number[] = [];
      for (let part = 0; part < 64; part++) {
        world.cache.listed(world.cache.latest());
        listed.push(world.cache.latest().revision);
        await world.other();
        world.clock.advance(windowMs / 32);
      }
      const answers = await Promise.all(listed.map((revision) => reachable(world, revision)));
      return `${answers.lastIndexOf(listOnlyGone)} ${answers.indexOf("ok")}`;
    },
    "32 33",
  ],
  [
    "serves watches of Events from states that exact lists serve only",
    async (world) => {
      const first = await world.put("a");
      world.clock.advance(windowMs);
      const answer = await reachable(world, first);
      world.cache.listed(world.cache.latest());
      return `${answer}; then ${await reachable(world, first)}`;
    },
    "list: 410 The resourceVersion for the provided list is too old.; watch: 410 The resourceVersion for the provided watch is too old.; then ok",
    { watchesCompacted: false },
  ],
  [
    "rejects a state that was superseded before the window, without later changes",
    async (world) => {
      const first = await world.put("a");
      await world.put("a");
      world.clock.advance(windowMs);
      return reachable(world, first);
    },
    gone(2, 3),
  ],
  [
    "serves watches of the newest state after ten hours without changes",
    async (world) => {
      const first = await world.put("a");
      for (let hour = 0; hour < 10; hour++) world.clock.advance(3_600_000);
      return reachable(world, first);
    },
    listOnlyGone,
  ],
  [
    "serves watches of the newest state of the resource after many changes of another",
    async (world) => {
      const first = await world.put("a");
      for (let minutes = 0; minutes < 30; minutes++) {
        await world.other();
        world.clock.advance(windowMs);
        await twoTurns();
      }
      return reachable(world, first);
    },
    listOnlyGone,
  ],
  [
    "serves a state within the window whose events the cache has dropped",
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
    "rejects a state before the window whose events the cache has dropped",
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
    "rejects a state before the window when newer dropped events are within it",
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
    "rejects a state before the window whose events were reloaded for another watch",
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
    "rejects a state before the window when the cache keeps no snapshots",
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

    test("keeps the snapshot of a chunked list for 75 s after its last use, or for a shorter history window", async () => {
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
        await storage.compact(await storage.current()); // Only the cached snapshot has the state now.
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

    test("an open watch continues after a pause longer than the window", async () => {
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

    test("after an explicit compaction, earlier exact lists get 410, and watches that the cache can serve work", async () => {
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

test("lmdb: the age of history survives a restart", async () => {
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
  assert.equal(await reachable(world, third - 1), listOnlyGone);
  clock.advance(windowMs / 2);
  assert.ok(is410(await reachable(world, third - 1)));
  assert.equal(await reachable(world, third), listOnlyGone);
  world.cache.close();
  await storage.close();
  rmSync(dir, { recursive: true, force: true });
});
