/** A watch cache over a store whose events arrive later than the answers of reads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { passTurns } from "../../test/support/pass-turns.ts";
import { ApiError } from "../apimachinery/errors.ts";
import {
  type LogEvent,
  type LogSubscriber,
  RevisionCompacted,
  RevisionInFuture,
  RevisionsWentBack,
  type Storage,
  type Stored,
} from "../storage/contract.ts";
import type { Snapshot } from "./contract.ts";
import { type EntrySource, makeEntry } from "./entry.ts";
import { openWatchCache } from "./watch-cache.ts";

const prefix = "/registry/things/";
const source = { prefix, fingerprint: 1, selectableFields: {} } as unknown as EntrySource;
const head = '{"kind":"Thing","apiVersion":"v1",';
const seal = { fingerprint: 1, itemOffset: head.length, versionOffset: head.length + '"metadata":{'.length };
const bytesOf = (name: string): Buffer => Buffer.from(`${head}"metadata":{"name":"${name}"}}`);

/** A store of which the test decides what reads return, and when events arrive. */
function remoteStore({ reportsProgress = true } = {}) {
  const clock = manualClock();
  const remote = {
    revision: 1,
    /** The newest state. */
    objects: new Map<string, number>(),
    /** Open logs. */
    logs: new Set<LogSubscriber>(),
    loads: 0,
  };
  const storage: Partial<Storage> = {
    isShared: true,
    reportsProgress,
    current: async () => remote.revision,
    async range(_prefix, { revision: at = remote.revision } = {}) {
      if (at > remote.revision) throw new RevisionInFuture(remote.revision);
      remote.loads++;
      const stored = ([name, revision]: [string, number]): Stored => ({
        key: prefix + name,
        revision,
        value: bytesOf(name),
      });
      return { entries: [...remote.objects].sort().map(stored), revision: at, more: false };
    },
    log(_prefix, _from, subscriber) {
      remote.logs.add(subscriber);
      return { close: () => void remote.logs.delete(subscriber) };
    },
  };
  const cache = openWatchCache({
    storage: storage as Storage,
    prefix,
    clock,
    entryOf: ({ key, revision, value }) => makeEntry(key, revision, value, seal, source),
  });
  return {
    ...{ remote, cache, clock },
    /** Stores an object; its event does not arrive yet. */
    write(name: string): LogEvent {
      remote.objects.set(name, ++remote.revision);
      const { revision } = remote;
      return { type: "put", key: prefix + name, revision, previousRevision: 0, at: clock.now(), value: bytesOf(name) };
    },
    arrive(...events: LogEvent[]): void {
      for (const log of remote.logs) {
        log.events(events);
        log.progress((events.at(-1) as LogEvent).revision);
      }
    },
    progress(revision: number): void {
      for (const log of remote.logs) log.progress(revision);
    },
    end(error: Error): void {
      for (const log of [...remote.logs]) {
        remote.logs.delete(log);
        log.end(error);
      }
    },
  };
}

const show = (snapshot: Snapshot): string =>
  `${[...snapshot.range(prefix)].map(({ key, revision }) => `${key.slice(prefix.length)}@${revision}`).join(" ")} at ${snapshot.revision}`;
const turns = async (): Promise<void> => {
  await passTurns(5);
};
const outcome = (read: Promise<Snapshot>): Promise<string> =>
  read.then(show, (error: unknown) => (error instanceof ApiError ? `${error.status.code}` : String(error)));

/** @returns the outcome, or "waiting" */
async function state(read: Promise<Snapshot>): Promise<string> {
  let known = "waiting";
  void outcome(read).then((text) => {
    known = text;
  });
  await turns();
  return known;
}

test("a consistent read waits for the events before the revision of the store", async () => {
  const { cache, write, arrive } = remoteStore();
  await cache.ready();
  const events = [write("a"), write("b")] as const;
  const read = cache.current();
  assert.equal(await state(read), "waiting");
  arrive(events[0]);
  assert.equal(await state(read), "waiting");
  arrive(events[1]);
  assert.equal(await state(read), "a@2 b@3 at 3");
});

test("a consistent read waits for progress when other kinds were written", async () => {
  const { cache, remote, progress } = remoteStore();
  await cache.ready();
  remote.revision = 9;
  const read = cache.current();
  progress(8);
  assert.equal(await state(read), "waiting");
  progress(9);
  assert.equal(await state(read), " at 9");
});

test("a read of a revision whose events do not arrive fails with 504 after three seconds", async () => {
  const { cache, write, clock } = remoteStore();
  await cache.ready();
  write("a");
  const read = cache.notOlderThan(2);
  clock.advance(2_999);
  assert.equal(await state(read), "waiting");
  clock.advance(1);
  assert.equal(await state(read), "504");
});

test("a consistent read of a store without progress reads the store when the cache is behind", async () => {
  const { cache, remote, write, arrive } = remoteStore({ reportsProgress: false });
  await cache.ready();
  const event = write("a");
  let fallbacks = 0;
  const read = (): Promise<string> => outcome(cache.current(() => void fallbacks++));
  assert.equal(await read(), "a@2 at 2");
  assert.deepEqual([remote.loads, fallbacks], [2, 1]);
  arrive(event);
  assert.equal(await read(), "a@2 at 2");
  assert.deepEqual([remote.loads, fallbacks], [2, 1], "the cache has the revision");
});

test("a consistent read reads the store when events do not arrive in time", async () => {
  const { cache, write, clock } = remoteStore();
  await cache.ready();
  write("a");
  let fallbacks = 0;
  const read = outcome(cache.current(() => void fallbacks++));
  await turns();
  assert.equal(fallbacks, 0);
  clock.advance(3_000);
  assert.deepEqual([await read, fallbacks], ["a@2 at 2", 1]);
});

const ends: [what: string, error: Error][] = [
  ["compacted changes are missing", new RevisionCompacted(5)],
  ["the revisions went back", new RevisionsWentBack(2)],
];
for (const [what, error] of ends) {
  test(`ends watches and loads the objects again when ${what}`, async () => {
    const { cache, remote, write, end } = remoteStore();
    await cache.ready();
    let ended = 0;
    cache.subscribe(1, { events: () => assert.fail("no event arrived"), end: () => void ended++ });
    write("a");
    end(error);
    assert.equal(ended, 1);
    assert.equal(await outcome(cache.current()), "a@2 at 2");
    assert.equal(remote.logs.size, 1);
  });
}

test("revisions of the lost history are in the future, and a compaction of it is forgotten", async () => {
  const { cache, remote, clock, write, arrive, end } = remoteStore();
  await cache.ready();
  for (let count = 0; count < 8; count++) arrive(write("old"));
  cache.forgetBefore(8);
  remote.revision = 3;
  remote.objects = new Map([["restored", 3]]);
  end(new RevisionsWentBack(3));
  const lost = cache.exactly(9);
  await turns();
  clock.advance(3_000);
  assert.equal(await state(lost), "504");
  arrive(write("new"));
  assert.equal(await outcome(cache.exactly(3)), "restored@3 at 3");
});
