import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { throwingExchange } from "../../../test/support/throwing-exchange.ts";
import type { Clock } from "../../apimachinery/clock.ts";
import { expired, plainError } from "../../apimachinery/errors.ts";
import type { ConvertedVersion } from "../../catalog/contract.ts";
import type { WatchPlan, WatchScope } from "../../registry/watch.ts";
import type { BodyStream } from "../../request/exchange.ts";
import type { CacheEvent, CacheSubscriber, Entry, Snapshot, WatchCache } from "../../watch-cache/contract.ts";
import { jsonLines } from "../representation/event-framing.ts";
import { PieceMemory } from "../representation/piece-memory.ts";
import { openWatches } from "./open-watches.ts";
import { type EventForm, WatchEncoder } from "./watch-encoder.ts";
import { startWatch, type WatchStreamOptions } from "./watch-stream.ts";

const form: EventForm = {
  text: "json",
  framing: jsonLines,
  objectOf: ({ json }, isFirst) => (isFirst ? Buffer.from('"first"') : json),
  bookmarkOf: (metadata, isFirst) =>
    Buffer.from(isFirst ? '"first"' : JSON.stringify({ kind: "Thing", apiVersion: "v1", metadata })),
  statusOf: (status) => Buffer.from(JSON.stringify(status)),
};

/**
 * A stream over a socket, a clock and a cache that the test controls.
 */
function fixture(changes: Partial<WatchStreamOptions> & { plan?: WatchPlan } = {}) {
  const seen: string[] = [];
  let pending = 0;
  let unreserved = 0;
  let drained: (() => void)[] = [];
  const stream: BodyStream = {
    write(piece) {
      seen.push(...piece.toString().trimEnd().split("\n"));
      return pending === 0;
    },
    unreserve: () => void unreserved++,
    drained: () => (pending === 0 ? Promise.resolve() : new Promise((resolve) => drained.push(resolve))),
    get pendingBytes() {
      return pending;
    },
    end: () => void seen.push("end"),
    abort: () => void seen.push("abort"),
  };
  let now = 0;
  const timers = new Set<{ at: number; run: () => void }>();
  const clock: Clock = {
    now: () => now,
    after(delay, run) {
      const timer = { at: now + delay, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  let subscriber: CacheSubscriber | undefined;
  let resumed = 0;
  const cache = {
    latest: () => ({ revision: 9 }),
    subscribe(from: number, one: CacheSubscriber) {
      subscriber = one;
      one.progress?.(from);
      return { delivered: 9, resume: () => resumed++, close: () => (subscriber = undefined) };
    },
  } as unknown as WatchCache;
  const options: WatchStreamOptions = {
    stream,
    clock,
    cache,
    plan: plan(),
    encoder: new WatchEncoder(form, scope),
    memory: new PieceMemory(),
    sent() {},
    listed() {},
    started: () => {},
    cutOff() {},
    bookmarks: false,
    firstDiffers: false,
    timeoutMs: 90_000,
    startError: undefined,
    exchange: throwingExchange,
    ...changes,
  };
  const { end } = startWatch(options);
  return {
    seen,
    end,
    subscriber: () => subscriber,
    resumed: () => resumed,
    unreserved: () => unreserved,
    fill(bytes: number) {
      pending = bytes;
    },
    async drain() {
      pending = 0;
      const waiting = drained;
      drained = [];
      for (const run of waiting) run();
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
    },
    pass(ms: number) {
      now += ms;
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
        if (timer.at > now || !timers.delete(timer)) continue;
        timer.run();
      }
    },
  };
}

const entry = (text: string): Entry => ({ key: text, json: Buffer.from(`"${text}"`) }) as Entry;
const batch = (...texts: string[]): CacheEvent[] =>
  texts.map((text) => ({ type: "ADDED", revision: 1, at: 0, entry: entry(text), previous: undefined }));
const scope: WatchScope = {
  text: "",
  topic: undefined,
  objects: (snapshot) => (snapshot as unknown as { entries: Entry[] }).entries,
  shown: (event) => (event.entry.key === "hidden" ? undefined : event),
};
const snapshot = (...entries: Entry[]): Snapshot => ({ entries }) as unknown as Snapshot;
const plan = (changes: Partial<WatchPlan> = {}): WatchPlan => ({
  scope,
  initial: undefined,
  from: 5,
  initialEventsEnd: undefined,
  startError: undefined,
  ...changes,
});
const added = (text: string): string => `{"type":"ADDED","object":"${text}"}`;
const bookmark = '{"type":"BOOKMARK","object":{"kind":"Thing","apiVersion":"v1","metadata":{"resourceVersion":"9"}}}';

test("initial events, the bookmark that ends them, events, the end of the timeout", () => {
  const watch = fixture({
    bookmarks: true,
    plan: plan({ initial: snapshot(entry("a"), entry("b")), initialEventsEnd: 5 }),
  });
  watch.subscriber()?.events(batch("c", "hidden", "d"));
  watch.subscriber()?.events(batch("hidden"));
  watch.pass(60_000);
  watch.pass(30_000);
  const end = `{"type":"BOOKMARK","object":{"kind":"Thing","apiVersion":"v1","metadata":{"resourceVersion":"5","annotations":{"k8s.io/initial-events-end":"true"}}}}`;
  assert.deepEqual(watch.seen, [added("a"), added("b"), end, added("c"), added("d"), bookmark, bookmark, "end"]);
  assert.equal(watch.subscriber(), undefined);
});

test("the bookmark that ends initial events waits for the version that was named", () => {
  const watch = fixture({ plan: plan({ initial: snapshot(), initialEventsEnd: 8 }) });
  assert.deepEqual(watch.seen, []);
  watch.subscriber()?.progress?.(8);
  watch.subscriber()?.progress?.(9);
  assert.equal(watch.seen.length, 1);
});

test("counts the bytes of all events", () => {
  const sent: number[] = [];
  const watch = fixture({
    plan: plan({ initial: snapshot(entry("a"), entry("bcd")) }),
    bookmarks: true,
    sent: (sizes) => void sent.push(...sizes),
  });
  watch.subscriber()?.events(batch("efghi", "hidden"));
  watch.pass(60_000);
  assert.deepEqual(
    sent,
    watch.seen.map((line) => line.length + 1),
  );
  assert.equal(sent.length, 4);
});

test("initial events wait for a slow reader, piece by piece", async () => {
  const big = "x".repeat(80_000);
  const watch = fixture({ plan: plan({ initial: snapshot(entry(big), entry(big), entry("last")) }) });
  assert.equal(watch.seen.length, 2);
  await watch.drain();
  assert.deepEqual([watch.seen.length, watch.seen.at(-1)], [3, added("last")]);
});

test("other tasks run where the objects have a gap, and no write stays reserved", async () => {
  const gaps = { entries: [entry("a"), undefined, undefined, entry("b")] } as unknown as Snapshot;
  const watch = fixture({ plan: plan({ initial: gaps }) });
  assert.deepEqual([watch.seen, watch.unreserved()], [[added("a")], 0]);
  await watch.drain();
  assert.deepEqual([watch.seen, watch.unreserved()], [[added("a")], 1]);
  await watch.drain();
  assert.deepEqual(watch.seen, [added("a"), added("b")]);
});

test("a stalled watcher pauses, then continues or is closed", async () => {
  const watch = fixture({ timeoutMs: 1_000_000 });
  watch.fill(600_000);
  assert.equal(watch.subscriber()?.events(batch("a")), false);
  await watch.drain();
  assert.equal(watch.resumed(), 1);
  assert.equal(watch.subscriber()?.events(batch("b")), true);
  watch.fill(600_000);
  watch.subscriber()?.events(batch("c"));
  watch.pass(30_000);
  assert.deepEqual(watch.seen, [added("a"), added("b"), added("c"), "abort", "end"]);
});

test("the first event of a table has its columns", () => {
  const watch = fixture({ firstDiffers: true });
  watch.subscriber()?.events(batch("hidden"));
  watch.subscriber()?.events(batch("a", "b"));
  watch.subscriber()?.events(batch("c"));
  assert.deepEqual(watch.seen, [added("first"), added("b"), added("c")]);
});

test("… also a bookmark", () => {
  const watch = fixture({ firstDiffers: true, plan: plan({ initial: snapshot(), initialEventsEnd: 5 }) });
  watch.subscriber()?.events(batch("a"));
  assert.deepEqual(watch.seen, ['{"type":"BOOKMARK","object":"first"}', added("a")]);
});

test("an expired resourceVersion is sent as an event", () => {
  const watch = fixture({ startError: expired("too old resource version: 1 (5)") });
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "too old resource version: 1 (5)",
    reason: "Expired",
    code: 410,
  };
  assert.deepEqual(watch.seen, [JSON.stringify({ type: "ERROR", object: status }), "end"]);
});

test("watchers with the same scope share an encoder until the last ends", () => {
  const watches = openWatches({ timeoutMinMs: 1, counterOf: () => () => {}, listed() {}, cutOff() {} });
  const resolved = {} as never;
  const a = watches.encoder(resolved, form, scope);
  const b = watches.encoder(resolved, form, scope);
  const other = watches.encoder(resolved, { ...form, text: "table" }, scope);
  assert.equal(a.encoder, b.encoder);
  assert.notEqual(a.encoder, other.encoder);
  const events = batch("a");
  assert.equal(a.encoder.encode(events), b.encoder.encode(events));
  a.release();
  b.release();
  assert.notEqual(watches.encoder(resolved, form, scope).encoder, a.encoder);
});

/** Watches that have ended after a time since the end of all was requested. */
const ends: [count: number, graceMs: number, ended: [afterMs: number, count: number][]][] = [
  [2, 0, [[0, 2]]],
  [
    30,
    10_000,
    [
      [0, 10],
      [50, 20],
      [100, 30],
    ],
  ],
  [
    1000,
    500,
    [
      [0, 100],
      [250, 600],
      [450, 1000],
    ],
  ],
  [
    1001,
    500,
    [
      [0, 101],
      [500, 1001],
    ],
  ],
];

for (const [count, graceMs, ended] of ends)
  test(`${count} watches end within ${graceMs} ms, at least 200 in a second`, () => {
    const clock = manualClock();
    const watches = openWatches({ timeoutMinMs: 1, counterOf: () => () => {}, listed() {}, cutOff() {} });
    let done = 0;
    for (let one = 0; one < count; one++) watches.add({ from: 1, end: () => void done++, fail() {} });
    const startedAt = clock.now();
    watches.endWithin(graceMs, clock);
    for (const [afterMs, expected] of ended) {
      clock.advance(startedAt + afterMs - clock.now());
      assert.equal(done, expected, `after ${afterMs} ms`);
    }
  });

test("a watch that has gone is not ended, and one that is added later ends immediately", () => {
  const watches = openWatches({ timeoutMinMs: 1, counterOf: () => () => {}, listed() {}, cutOff() {} });
  let ended = 0;
  const watch = { from: 1, end: () => void ended++, fail() {} };
  const forget = watches.add({ ...watch });
  watches.add({ ...watch });
  forget();
  watches.endWithin(0, manualClock());
  watches.add({ ...watch });
  assert.equal(ended, 2);
});

test("expireAll fails all watches with 410, and reports later ones that begin earlier", () => {
  const watches = openWatches({ timeoutMinMs: 1, counterOf: () => () => {}, listed() {}, cutOff() {} });
  const failed: string[] = [];
  watches.add({ from: 7, end() {}, fail: ({ status }) => void failed.push(`${status.code} ${status.message}`) });
  watches.expireAll(9);
  assert.deepEqual(failed, ["410 too old resource version: 7 (9)"]);
  assert.equal(watches.expiredAt(8)?.status.message, "too old resource version: 8 (9)");
  assert.equal(watches.expiredAt(9), undefined);
});

/** A converter controlled by the test. */
function converter() {
  const asked: {
    resolve: (entries: readonly Entry[]) => void;
    reject: (error: Error) => void;
    entries: readonly Entry[];
  }[] = [];
  const converted = {
    show: (entries: readonly Entry[]) =>
      new Promise<readonly Entry[]>((resolve, reject) => asked.push({ resolve, reject, entries })),
  } as unknown as ConvertedVersion;
  return { asked, converted };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("sends events after their conversion, and accepts no more until then", async () => {
  const { asked, converted } = converter();
  const watch = fixture({ converted, bookmarks: true, plan: plan({ from: 1 }) });
  assert.equal(watch.subscriber()?.events(batch("a", "hidden")), false);
  watch.pass(60_000); // A bookmark would have the revision of the event.
  assert.deepEqual([watch.seen, watch.resumed()], [[], 0]);
  asked[0]?.resolve([entry("A"), entry("hidden")]);
  await turn();
  assert.deepEqual([watch.seen, watch.resumed()], [['{"type":"ADDED","object":"A"}'], 1]);
});

test("retries a failed conversion, and ends the watch after half a minute", async () => {
  const { asked, converted } = converter();
  const watch = fixture({ converted, plan: plan({ from: 1 }) });
  const first = batch("a");
  watch.subscriber()?.events(first);
  for (const delayMs of [800, 1600, 3200, 6400, 12_800]) {
    asked.at(-1)?.reject(plainError("the webhook is down"));
    await turn();
    assert.deepEqual(watch.seen, []);
    watch.pass(delayMs);
  }
  assert.equal(asked.length, 6);
  asked.at(-1)?.reject(plainError("the webhook is down"));
  await turn();
  assert.match(watch.seen[0] as string, /^\{"type":"ERROR".*the webhook is down/);
  assert.deepEqual([watch.seen.length, watch.seen[1]], [2, "end"]);
});

test("initial objects that cannot be converted end the watch at once; one that has ended is not written to", async () => {
  const { asked, converted } = converter();
  const watch = fixture({ converted, plan: plan({ initial: snapshot(entry("a")), from: 1 }) });
  asked[0]?.reject(plainError("no"));
  await turn();
  assert.deepEqual([watch.seen.length, watch.seen[1]], [2, "end"]);
  const other = fixture({ converted, plan: plan({ initial: snapshot(entry("a")), from: 1 }) });
  other.end();
  asked[1]?.resolve([entry("A")]);
  await turn();
  assert.deepEqual(other.seen, ["end"]);
});
