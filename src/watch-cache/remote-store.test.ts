/** Watch caches of a store that other servers share, whose log stops or whose history is replaced. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { passTurns } from "../../test/support/pass-turns.ts";
import { type RemoteStorage, remoteStorage } from "../../test/support/remote-storage.ts";
import { systemClock } from "../apimachinery/clock.ts";
import type { Storage } from "../storage/contract.ts";
import { openMemoryStorage } from "../storage/memory.ts";
import type { Snapshot, WatchCache } from "./contract.ts";
import { type EntrySource, makeEntry } from "./entry.ts";
import { openWatchCache } from "./watch-cache.ts";

const prefix = "/registry/things/";
const source = { prefix, fingerprint: 1, selectableFields: {} } as unknown as EntrySource;
const head = '{"kind":"Thing","apiVersion":"v1",';
const seal = { fingerprint: 1, itemOffset: head.length, versionOffset: head.length + '"metadata":{'.length };

interface Fixture extends RemoteStorage {
  readonly first: Storage;
  readonly cache: WatchCache;
  readonly clock: ReturnType<typeof manualClock>;
}

async function openStore(...names: readonly string[]): Promise<Storage> {
  const storage = await openMemoryStorage({
    clock: systemClock,
    historyMs: 300_000,
    historyBytesMax: 1 << 30,
    valueBytesMax: 1 << 20,
  });
  for (const name of names) await put(storage, name);
  return storage;
}

async function put(storage: Storage, name: string): Promise<number> {
  const value = Buffer.from(`${head}"metadata":{"name":${JSON.stringify(name)}}}`);
  const done = await storage.commit([], [{ key: prefix + name, value, seal }]);
  assert.ok(done.ok);
  return done.revision;
}

async function remove(storage: Storage, name: string): Promise<void> {
  await storage.commit([], [{ key: prefix + name, value: null }]);
}

async function fixture(...names: readonly string[]): Promise<Fixture> {
  const first = await openStore(...names);
  const remote = remoteStorage(first);
  const clock = manualClock();
  const cache = openWatchCache({
    storage: remote.storage,
    prefix,
    clock,
    entryOf: ({ key, revision, value }) => makeEntry(key, revision, value, seal, source),
  });
  await cache.ready();
  return { ...remote, first, cache, clock };
}

const names = (snapshot: Snapshot): string[] => [...snapshot.range(prefix)].map(({ key }) => key.slice(prefix.length));
const turns = async (): Promise<void> => {
  await passTurns(20);
};

test("a consistent read that notices a restored store returns its state", async () => {
  const { cache, restore } = await fixture("a", "b", "c");
  restore(await openStore("a", "d"));
  assert.deepEqual(names(await cache.current()), ["a", "d"]);
});

test("an exact read of a revision that the old history had, too, returns the state of the restored store", async () => {
  const { cache, restore } = await fixture("a", "b", "c");
  const older = await openStore("a", "d", "e");
  restore(older);
  await assert.rejects(Promise.resolve(cache.loadEventsAfter(99)), /too old resource version: 99 \(4\)/);
  assert.deepEqual(names(await cache.exactly(3)), ["a", "d"]);
});

test("a read that waits for a revision of the old history fails when the store is restored", async () => {
  const { cache, restore, storage, clock } = await fixture("a", "b");
  const waiting = cache.notOlderThan(5).then(
    () => "answered",
    ({ message }) => message,
  );
  await turns();
  restore(await openStore("d"));
  await storage.current();
  await turns();
  clock.advance(3_000);
  assert.equal(await waiting, "Timeout: Too large resource version: 5, current: 2");
});

test("a consistent read is served from the store when the log delivers nothing", async () => {
  const { cache, first, stopLog, clock } = await fixture("a");
  stopLog();
  await put(first, "b");
  const reads = [cache.current(), cache.current()];
  await turns();
  clock.advance(3_000);
  for (const snapshot of await Promise.all(reads)) assert.deepEqual(names(snapshot), ["a", "b"]);
  assert.equal(cache.counts.storedLists, 2, "the load, and one read for both");
  assert.deepEqual(names(cache.latest()), ["a"]);
});

test("a watch from a revision above that of the store must list again", async () => {
  const { cache, first, stopLog } = await fixture("a", "b");
  await assert.rejects(Promise.resolve(cache.loadEventsAfter(7)), /too old resource version: 7 \(3\)/);
  stopLog();
  const written = await put(first, "c");
  await cache.loadEventsAfter(written); // Another server has answered with it.
});

test("watches end with 410 when the store is restored, also those that send their initial events", async () => {
  const { cache, restore, storage } = await fixture("a", "b");
  const late = cache.latest().revision;
  const ended: (string | undefined)[] = [];
  cache.subscribe(late, { events() {}, end: (error) => void ended.push(error?.message) });
  restore(await openStore("d"));
  await storage.current();
  assert.deepEqual(ended, ["too old resource version: 3 (2)"]);
  await cache.ready();
  assert.throws(() => cache.subscribe(late, { events() {}, end() {} }), /too old resource version: 3 \(2\)/);
});

test("a watch that the reload of a cache ends may continue at its revision", async () => {
  const { cache, compactLog } = await fixture("a");
  const ended: unknown[] = [];
  cache.subscribe(2, { events() {}, end: (error) => void ended.push(error) });
  compactLog();
  assert.deepEqual(ended, [undefined]);
  await cache.ready();
  cache.subscribe(2, { events() {}, end() {} });
});

type Change = (store: Storage) => Promise<unknown>;

const missed: [what: string, change: Change, difference: object][] = [
  ["an object that was created", (store) => put(store, "c"), { key: `${prefix}c`, cached: 0, stored: 4 }],
  [
    "an object that was created before all others",
    (store) => put(store, "A"),
    { key: `${prefix}A`, cached: 0, stored: 4 },
  ],
  ["an update", (store) => put(store, "b"), { key: `${prefix}b`, cached: 3, stored: 4 }],
  ["a deletion", (store) => remove(store, "a"), { key: `${prefix}a`, cached: 2, stored: 0 }],
  ["the deletion of the last object", (store) => remove(store, "b"), { key: `${prefix}b`, cached: 3, stored: 0 }],
];
for (const [what, change, difference] of missed) {
  test(`a check finds that the cache missed ${what}, and the cache loads again`, async () => {
    const { cache, first, hideEvents } = await fixture("a", "b");
    const ended: (string | undefined)[] = [];
    cache.subscribe(3, { events() {}, end: (error) => void ended.push(error?.message) });
    hideEvents();
    await change(first);
    await turns();
    assert.deepEqual(await cache.check(), difference);
    assert.deepEqual(ended, ["too old resource version: 3 (4)"]);
    assert.deepEqual(names(await cache.current()), names(await cache.exactly(4)));
    assert.equal(cache.counts.loads, 2);
    assert.equal(await cache.check(), undefined);
  });
}

test("a check of many objects finds no difference, also while objects change", async () => {
  const { cache, first } = await fixture(...Array.from({ length: 2_500 }, (_, at) => `n${at}`));
  const checked = cache.check();
  await Promise.all([put(first, "n7"), put(first, "m"), remove(first, "n9")]);
  assert.equal(await checked, undefined);
  assert.equal(cache.isLoaded, true);
  assert.equal(cache.counts.loads, 1);
});

test("a cache that is not loaded has nothing to check", async () => {
  const { cache, compactLog } = await fixture("a");
  compactLog();
  assert.equal(await cache.check(), undefined);
  assert.equal(cache.isLoaded, false);
});
