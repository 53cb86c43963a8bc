import assert from "node:assert/strict";
import { test } from "node:test";
import { passTurns } from "../../test/support/pass-turns.ts";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { type Clock, systemClock } from "../apimachinery/clock.ts";
import { ApiError } from "../apimachinery/errors.ts";
import { DecodeError } from "../lib/schema/decode.ts";
import type { Storage } from "../storage/contract.ts";
import { openMemoryStorage } from "../storage/memory.ts";
import type { CacheEvent, CacheSubscription, Entry, Snapshot, WatchCache } from "./contract.ts";
import { type EntrySource, makeEntry } from "./entry.ts";
import type { WatchCacheOptions } from "./options.ts";
import { openWatchCache } from "./watch-cache.ts";

const prefix = "/registry/things/";
const source = { prefix, fingerprint: 1, selectableFields: {} } as unknown as EntrySource;
const head = '{"kind":"Thing","apiVersion":"v1",';
const seal = { fingerprint: 1, itemOffset: head.length, versionOffset: head.length + '"metadata":{'.length };

interface Fixture {
  readonly storage: Storage;
  readonly cache: WatchCache;
  /** @returns the revision */
  put(name: string, label: string): Promise<number>;
  remove(name: string): Promise<number>;
}

async function fixture(options: Partial<WatchCacheOptions> = {}, clock: Clock = systemClock): Promise<Fixture> {
  const storage = await openMemoryStorage({
    clock: { ...systemClock, now: () => clock.now() },
    historyMs: 300_000,
    historyBytesMax: 1 << 30,
    valueBytesMax: 1 << 20,
  });
  const entryOf: WatchCacheOptions["entryOf"] = ({ key, revision, value }) =>
    makeEntry(key, revision, value, seal, source);
  const cache = openWatchCache({ storage, prefix, clock, entryOf, ...options });
  const commit = async (key: string, value: Buffer | null): Promise<number> => {
    const done = await storage.commit([], [{ key, value, seal }]);
    assert.ok(done.ok);
    return done.revision;
  };
  return {
    storage,
    cache,
    put: (name, label) =>
      commit(
        prefix + name,
        Buffer.from(`${head}"metadata":{"name":${JSON.stringify(name)},"labels":{"l":"${label}"}}}`),
      ),
    remove: (name) => commit(prefix + name, null),
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const show = (entry: Entry): string =>
  `${entry.key.slice(prefix.length)}@${entry.revision}=${entry.index.labels.get("l")}`;
const showAll = (snapshot: Snapshot): string[] => [...snapshot.range(prefix)].map(show);
const showEvent = ({ type, entry, previous }: CacheEvent): string =>
  `${type} ${show(entry)}${previous ? ` was ${show(previous)}` : ""}`;

function record(cache: WatchCache, from: number, into: string[]): CacheSubscription {
  return cache.subscribe(from, {
    events: (batch) => void into.push(...batch.map(showEvent)),
    end: () => into.push("end"),
  });
}

async function statusOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "no error",
    (error: unknown) => (error instanceof ApiError ? `${error.status.code} ${error.status.message}` : String(error)),
  );
}

test("entries contain their resourceVersion, and those of DELETED events the revision of the deletion", async () => {
  const { cache, put, remove } = await fixture();
  await put("a", "1");
  const events: CacheEvent[] = [];
  const entry = (await cache.current()).get(`${prefix}a`) as Entry;
  cache.subscribe(entry.revision, { events: (batch) => void events.push(...batch), end() {} });
  await remove("a");
  await turn();
  assert.equal(entry.json.toString(), `${head}"metadata":{"resourceVersion":"2","name":"a","labels":{"l":"1"}}}`);
  assert.equal(entry.json.buffer.byteLength, entry.line.length);
  assert.equal(entry.line.toString(), `${entry.json}\n`);
  assert.equal(events[0]?.entry.json.toString(), entry.json.toString().replace('"2"', '"3"'));
});

test("delivers the events of one event loop turn as one batch, shared by all subscribers", async () => {
  const { cache, put, remove } = await fixture();
  await put("a", "1");
  const from = (await cache.current()).revision;
  const batches: (readonly CacheEvent[])[][] = [[], []];
  for (const own of batches) cache.subscribe(from, { events: (batch) => void own.push(batch), end() {} });
  await Promise.all([put("b", "1"), put("a", "2"), remove("b")]);
  await turn();
  assert.deepEqual(
    batches[0]?.map((batch) => batch.map(showEvent)),
    [["ADDED b@3=1", "MODIFIED a@4=2 was a@2=1", "DELETED b@5=1 was b@3=1"]],
  );
  assert.equal(batches[0]?.[0], batches[1]?.[0]);
});

test("snapshots do not change; exact ones are built from events, cached snapshots and the store", async () => {
  const { cache, put, remove } = await fixture({ eventsMax: 2 });
  await put("a", "1");
  const first = await cache.current();
  await put("b", "1");
  await turn();
  await put("a", "2");
  await turn();
  await remove("b");
  await turn();
  await put("c", "1");
  await turn();
  assert.deepEqual(showAll(first), ["a@2=1"]);
  const rows: [revision: number, want: string[]][] = [
    [2, ["a@2=1"]],
    [3, ["a@2=1", "b@3=1"]],
    [4, ["a@4=2", "b@3=1"]],
    [5, ["a@4=2"]],
    [6, ["a@4=2", "c@6=1"]],
  ];
  for (const [revision, want] of rows) {
    const exact = await cache.exactly(revision);
    assert.deepEqual([exact.revision, exact.count(prefix), showAll(exact)], [revision, want.length, want]);
    assert.equal(await cache.exactly(revision), exact);
  }
});

test("rejects compacted and future revisions with upstream's messages", async () => {
  const clock: Clock = {
    now: () => 0,
    after: (_delay, run) => {
      queueMicrotask(run);
      return () => {};
    },
  };
  const { storage, cache, put } = await fixture({}, clock);
  await put("a", "1");
  await put("a", "2");
  await put("a", "3");
  await storage.compact(3);
  await cache.ready();
  const rows: [what: string, ask: () => Promise<unknown>, want: string][] = [
    ["exact, compacted", () => cache.exactly(2), "410 The resourceVersion for the provided list is too old."],
    ["exact, future", () => cache.exactly(99), "504 Timeout: Too large resource version: 99, current: 4"],
    ["not older, future", () => cache.notOlderThan(99), "504 Timeout: Too large resource version: 99, current: 4"],
    ["watch, compacted", () => cache.loadEventsAfter(1), "410 too old resource version: 1 (3)"],
    ["watch, before the cache was loaded", () => cache.loadEventsAfter(3), "no error"],
  ];
  for (const [what, ask, want] of rows) assert.equal(await statusOf(ask()), want, what);
  assert.throws(() => cache.subscribe(1, { events() {}, end() {} }), /too old resource version: 1 \(3\)/);
});

test("a read of a future revision waits for it", async () => {
  const { cache, put } = await fixture();
  await cache.ready();
  const later = cache.notOlderThan(2);
  await put("a", "1");
  assert.deepEqual(showAll(await later), ["a@2=1"]);
});

test("reads events that precede the load of the cache from the store's log", async () => {
  const { cache, put, remove } = await fixture();
  await put("a", "1");
  await put("b", "1");
  await put("a", "2");
  await remove("b");
  await cache.ready();
  await cache.loadEventsAfter(2);
  const seen: string[] = [];
  record(cache, 2, seen);
  assert.deepEqual(seen, ["ADDED b@3=1", "MODIFIED a@4=2 was a@2=1", "DELETED b@5=1 was b@3=1"]);
});

test("watches from several old revisions load events concurrently", async () => {
  const { cache, put } = await fixture({ eventsMax: 1 });
  await cache.ready();
  for (const name of ["a", "b", "c", "d", "e", "f", "g"]) {
    await put(name, "1");
    await turn();
  }
  const versions = [6, 5, 3, 4, 2, 1, 2];
  const seen = await Promise.all(
    versions.map(async (version) => {
      await cache.loadEventsAfter(version);
      const own: string[] = [];
      record(cache, version, own);
      return own.length;
    }),
  );
  assert.deepEqual(
    seen,
    versions.map((version) => 8 - version),
  );
});

test("does not split a commit when it reloads events, so that a paused subscriber misses none", async () => {
  const { storage, cache } = await fixture({ eventsMax: 1 });
  await cache.ready();
  for (let commit = 0; commit < 3; commit++) {
    const writes = Array.from({ length: 100 }, (_, at) => ({
      key: `${prefix}n${at}`,
      value: Buffer.from(`${head}"metadata":{"name":"n${at}"}}`),
      seal,
    }));
    await storage.commit([], writes);
    await turn();
  }
  await cache.loadEventsAfter(1);
  const seen: number[] = [];
  const subscription = cache.subscribe(1, {
    events(batch) {
      seen.push(...batch.map(({ revision }) => revision));
      return false;
    },
    end: () => assert.fail(),
  });
  for (let times = 0; times < 3; times++) subscription.resume();
  assert.deepEqual(
    [2, 3, 4].map((revision) => seen.filter((one) => one === revision).length),
    [100, 100, 100],
  );
});

test("ends a subscription whose events are loaded while the cache closes", async () => {
  for (const turns of [0, 1, 2, 3]) {
    const { cache, put } = await fixture({ eventsMax: 1 });
    for (const name of ["a", "b", "c"]) await put(name, "1");
    if (turns > 0) await cache.ready();
    const reaching = cache.loadEventsAfter(1);
    await passTurns(turns - 1);
    cache.close();
    await reaching;
    const seen: string[] = [];
    record(cache, 1, seen);
    await turn();
    assert.deepEqual(seen, ["end"]);
  }
});

test("a change that cannot be decoded ends subscriptions, and the state stays at the previous revision", async () => {
  const entryOf: WatchCacheOptions["entryOf"] = ({ key, revision, value }) => {
    if (value.includes("unreadable")) throw new DecodeError("no");
    return makeEntry(key, revision, value, seal, source);
  };
  const { storage, cache, put } = await fixture({ entryOf });
  await put("a", "1");
  await cache.ready();
  const seen: string[] = [];
  record(cache, 2, seen);
  const value = (name: string): Buffer => Buffer.from(`${head}"metadata":{"name":"${name}"}}`);
  await storage.commit(
    [],
    [
      { key: `${prefix}b`, value: value("b"), seal },
      { key: `${prefix}c`, value: value("unreadable"), seal },
    ],
  );
  assert.deepEqual([seen, cache.latest().revision, showAll(cache.latest())], [["end"], 2, ["a@2=1"]]);
  record(cache, 2, seen);
  await turn();
  assert.deepEqual(seen, ["end", "end"]);
  await assert.rejects(cache.current(), { name: "ApiError", message: "no" });
});

test("the delivered revision never decreases", async () => {
  const { storage, cache, put } = await fixture();
  await cache.ready();
  const subscription = cache.subscribe(1, { events() {}, end() {} });
  await put("a", "1");
  await turn();
  await storage.commit([], [{ key: "/registry/others/a", value: Buffer.alloc(0) }]);
  assert.equal(subscription.delivered, 3);
  await put("b", "1");
  assert.equal(subscription.delivered, 4);
});

test("delivers events before the commits that made them are answered", async () => {
  const { cache, put } = await fixture();
  await cache.ready();
  const order: string[] = [];
  cache.subscribe(1, {
    events: (batch) => void order.push(...batch.map(({ revision }) => `event ${revision}`)),
    end() {},
  });
  const answered = (revision: number): void => void order.push(`answer ${revision}`);
  await Promise.all([put("a", "1").then(answered), put("b", "1").then(answered)]);
  assert.deepEqual(order, ["event 2", "event 3", "answer 2", "answer 3"]);
});

/** More than one turn delivers to, and than the turns in which some groups of commits are written. */
const subscribersCount = 10_000;

test("delivers to many subscribers in several turns, and what was written meanwhile as one batch", async () => {
  const { cache, put } = await fixture();
  await cache.ready();
  const seen = Array.from({ length: subscribersCount }, (): number[][] => []);
  const subscriptions = seen.map((own) =>
    cache.subscribe(1, { events: (batch) => void own.push(batch.map(({ revision }) => revision)), end() {} }),
  );
  await put("a", "1");
  assert.equal(seen.filter((own) => own.length > 0).length, 512);
  assert.equal(subscriptions.filter(({ delivered }) => delivered < 2).length, subscribersCount - 512);
  const late: string[] = [];
  const lateSubscription = record(cache, 1, late); // Reads the ring.
  subscriptions.pop()?.close();
  assert.deepEqual(late, ["ADDED a@2=1"]);
  await put("b", "1");
  await put("c", "1");
  assert.equal(lateSubscription.delivered, 2);
  for (const { delivered } of subscriptions) assert.ok(delivered <= 2);
  await passTurns(100);
  assert.deepEqual(late, ["ADDED a@2=1", "ADDED b@3=1", "ADDED c@4=1"]);
  assert.deepEqual(seen.pop(), []);
  for (const own of seen) assert.deepEqual(own, [[2], [3, 4]]);
});

test("delivers at once when events of a megabyte wait", async () => {
  const { cache, put } = await fixture();
  await cache.ready();
  const seen = Array.from({ length: subscribersCount }, (): number[] => []);
  for (const own of seen)
    cache.subscribe(1, { events: (batch) => void own.push(...batch.map(({ revision }) => revision)), end() {} });
  await put("a", "1");
  assert.deepEqual(seen.at(-1), []);
  await Promise.all(["b", "c", "d"].map((name) => put(name, "x".repeat(1 << 19))));
  for (const own of seen) assert.deepEqual(own, [2, 3, 4, 5]);
});

test("a paused subscriber resumes at its position, and ends when the events are dropped", async () => {
  const { cache, put } = await fixture({ eventsMax: 3 });
  await cache.ready();
  const seen: string[] = [];
  let more = false;
  const subscription = cache.subscribe(1, {
    events(batch) {
      seen.push(...batch.map(showEvent));
      return more;
    },
    end: () => seen.push("end"),
  });
  for (const name of ["a", "b", "c"]) {
    await put(name, "1");
    await turn();
  }
  assert.deepEqual([seen, subscription.delivered], [["ADDED a@2=1"], 2]);
  more = true;
  subscription.resume();
  assert.deepEqual(seen, ["ADDED a@2=1", "ADDED b@3=1", "ADDED c@4=1"]);
  more = false;
  for (const name of ["d", "e", "f", "g", "h"]) {
    await put(name, "1");
    await turn();
  }
  subscription.resume();
  assert.deepEqual(seen.slice(3), ["ADDED d@5=1", "end"]);
});

test("closing the store ends subscriptions", async () => {
  const { storage, cache } = await fixture();
  await cache.ready();
  const seen: string[] = [];
  record(cache, 1, seen);
  await storage.close();
  assert.deepEqual(seen, ["end"]);
});

test("closing the cache ends subscriptions, and later reads are served from the store", async () => {
  const { storage, cache, put } = await fixture();
  const first = await put("a", "1");
  await cache.ready();
  const seen: string[] = [];
  record(cache, first, seen);
  const waiting = cache.notOlderThan(first + 1);
  cache.close();
  assert.equal(await statusOf(waiting), `504 Timeout: Too large resource version: ${first + 1}, current: ${first}`);
  await put("b", "2");
  assert.deepEqual(showAll(await cache.current()), ["a@2=1", "b@3=2"]);
  assert.deepEqual(showAll(await cache.notOlderThan(first)), ["a@2=1", "b@3=2"]);
  assert.deepEqual(showAll(await cache.exactly(first)), ["a@2=1"]);
  record(cache, first, seen);
  await turn();
  assert.deepEqual(seen, ["end", "end"]);
  await storage.close();
});

const steps = Number(process.env.STEPS ?? 3000);

test(`subscribers that pause, resume and reconnect at random observe the same history (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  let now = 0;
  const clock: Clock = { ...systemClock, now: () => now };
  const { storage, cache, put, remove } = await fixture({ eventsMax: 40, eventBytesMax: 200_000 }, clock);
  const truth: { revision: number; text: string }[] = [];
  const states = new Map<number, string[]>();
  const present = new Map<string, string>();
  const observers: { from: number; seen: string[]; subscription: CacheSubscription | undefined; paused: boolean }[] =
    [];
  const watch = async (observer: (typeof observers)[number]): Promise<void> => {
    const last = observer.seen.at(-1);
    const from = last === undefined ? observer.from : Number(/@(\d+)/.exec(last)?.[1]);
    await cache.loadEventsAfter(from);
    observer.subscription = cache.subscribe(from, {
      events(batch) {
        observer.seen.push(...batch.map(showEvent));
        observer.paused = random(4) === 0;
        return !observer.paused;
      },
      end: () => (observer.subscription = undefined),
    });
  };
  states.set(1, []);
  await cache.ready();
  let revision = 1;
  const change = async (): Promise<void> => {
    const name = `n${random(12)}`;
    const was = present.get(name);
    const label = String(random(3));
    if (was !== undefined && random(3) === 0) {
      revision = await remove(name);
      present.delete(name);
      truth.push({ revision, text: `DELETED ${name}@${revision}=${was.split("=")[1]} was ${was}` });
    } else {
      revision = await put(name, label);
      const now = `${name}@${revision}=${label}`;
      present.set(name, now);
      truth.push({ revision, text: was === undefined ? `ADDED ${now}` : `MODIFIED ${now} was ${was}` });
    }
    states.set(
      revision,
      [...present].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text),
    );
  };
  for (let step = 0; step < steps; step++) {
    const dice = random(20);
    now += random(100);
    if (dice < 12) await change();
    else if (dice < 13) await turn();
    else if (dice < 14 && observers.length < 8) {
      const observer = {
        from: Math.max(storage.compacted(), revision - random(60), 1),
        seen: [],
        subscription: undefined,
        paused: false,
      };
      observers.push(observer);
      await watch(observer);
    } else if (dice < 17 && observers.length > 0) {
      const observer = observers[random(observers.length)] as (typeof observers)[number];
      if (observer.subscription === undefined) await watch(observer);
      else if (observer.paused) {
        observer.paused = false;
        observer.subscription.resume();
      } else if (random(3) === 0) {
        observer.subscription.close();
        observer.subscription = undefined;
      }
    } else {
      const requested = Math.max(storage.compacted(), revision - random(80), 1);
      const exact = await cache.exactly(requested);
      assert.deepEqual(showAll(exact), states.get(requested), `state at ${requested}`);
      assert.deepEqual(showAll(await cache.current()), states.get(revision));
    }
  }
  for (const observer of observers) {
    for (let tries = 0; tries < 10_000 && observer.seen.at(-1) !== truth.at(-1)?.text; tries++) {
      if (observer.subscription === undefined) await watch(observer);
      else observer.subscription.resume();
      await turn();
    }
    assert.deepEqual(
      observer.seen,
      truth.filter((event) => event.revision > observer.from).map(({ text }) => text),
    );
  }
});
