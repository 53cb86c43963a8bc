/**
 * States whose events the cache has dropped, read from the store: they are correct, and share
 * objects with cached states.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { openMemoryStorage } from "../storage/memory.ts";
import { type EntrySource, makeEntry } from "./entry.ts";
import { openWatchCache } from "./watch-cache.ts";

const prefix = "/registry/things/";
const source = { prefix, fingerprint: 1, selectableFields: {} } as unknown as EntrySource;
const head = '{"kind":"Thing","apiVersion":"v1",';
const seal = { fingerprint: 1, itemOffset: head.length, versionOffset: head.length + '"metadata":{'.length };

async function openWorld() {
  const clock = manualClock();
  const storage = await openMemoryStorage({
    clock,
    historyMs: 600_000,
    historyBytesMax: 1 << 30,
    valueBytesMax: 1 << 20,
  });
  let decoded = 0;
  const cache = openWatchCache({
    storage,
    prefix,
    clock,
    eventsMax: 2,
    entryOf({ key, revision, value }) {
      decoded += 1;
      return makeEntry(key, revision, value, seal, source);
    },
  });
  const write = async (names: readonly string[], isDelete = false): Promise<number> => {
    const value = isDelete ? null : Buffer.from(`${head}"metadata":{"name":"x"}}`);
    const done = await storage.commit(
      [],
      names.map((name) => ({ key: prefix + name, value, seal })),
    );
    assert.ok(done.ok);
    await new Promise((resolve) => setImmediate(resolve));
    return done.revision;
  };
  const exactly = async (revision: number): Promise<string[]> => {
    const snapshot = await cache.exactly(revision);
    return [...snapshot.range(prefix)].map(({ key, revision: at }) => `${key.slice(prefix.length)}@${at}`);
  };
  const close = async (): Promise<void> => {
    cache.close();
    await storage.close();
  };
  const compact = (revision: number): Promise<void> => storage.compact(revision);
  return { cache, write, exactly, close, compact, decodedSoFar: () => decoded };
}

test("reads of many old states decode only the objects that differ", async () => {
  const { cache, write, exactly, close, decodedSoFar } = await openWorld();
  const names = Array.from({ length: 2000 }, (_, index) => `n${String(index).padStart(5, "0")}`);
  for (let at = 0; at < names.length; at += 100) await write(names.slice(at, at + 100));
  const revisions: number[] = [];
  for (let index = 0; index < 40; index++) revisions.push(await write([names[index] as string]));
  await cache.ready();
  for (let index = 0; index < 40; index++) await write([names[100 + index] as string]);
  const before = decodedSoFar();
  for (const revision of revisions) assert.equal((await exactly(revision)).length, 2000);
  assert.ok(decodedSoFar() - before < 2000, `decoded ${decodedSoFar() - before}`);
  // Each reads the at most 80 objects that have changed since.
  const { storedObjects } = cache.counts;
  assert.ok(storedObjects - 2000 <= 40 * 80, `read ${storedObjects - 2000}`);
  await close();
});

test("reads an old state when the nearest one that is kept has been compacted", async () => {
  const { cache, write, exactly, close, compact } = await openWorld();
  const first = await write(["a", "b"]);
  await cache.ready();
  const second = await write(["b"]);
  for (const name of ["c", "d", "e", "a"]) await write([name]);
  assert.deepEqual(await exactly(first), [`a@${first}`, `b@${first}`]);
  await compact(second);
  assert.deepEqual(await exactly(second), [`a@${first}`, `b@${second}`]);
  await close();
});

test("reads an old state of a cache that was closed", async () => {
  const { cache, write, exactly, close } = await openWorld();
  const first = await write(["a", "b"]);
  await cache.ready();
  cache.close();
  assert.deepEqual(await exactly(first), [`a@${first}`, `b@${first}`]);
  await close();
});

test("concurrent requests for one old state share a read", async () => {
  const { cache, write, exactly, close } = await openWorld();
  const first = await write(["a"]);
  await cache.ready();
  for (let index = 0; index < 5; index++) await write(["a"]);
  const { storedLists } = cache.counts;
  const answers = await Promise.all(Array.from({ length: 20 }, () => exactly(first)));
  for (const answer of answers) assert.deepEqual(answer, [`a@${first}`]);
  assert.equal(cache.counts.storedLists - storedLists, 1);
  await close();
});

test("rejects too many concurrent reads of different old states, and serves them later", async () => {
  const { cache, write, exactly, close } = await openWorld();
  await cache.ready();
  const revisions: number[] = [];
  for (let index = 0; index < 200; index++) revisions.push(await write(["a"]));
  const old = revisions.slice(0, 190);
  const answers = await Promise.allSettled(old.map(exactly));
  const rejected = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason.status.code] : []));
  assert.deepEqual(rejected, new Array(190 - 128).fill(429));
  assert.deepEqual(await exactly(old.at(-1) as number), [`a@${old.at(-1)}`]);
  await close();
});

test("returns the correct state for random revisions in random order", async (context) => {
  context.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  const { cache, write, exactly, close } = await openWorld();
  const model = new Map<string, number>();
  const states = new Map<number, string[]>();
  await cache.ready();
  for (let index = 0; index < 300; index++) {
    const name = `${random(2) ? "é" : "n"}${random(30)}`;
    const isDelete = model.has(name) && random(3) === 0;
    const revision = await write([name], isDelete);
    if (isDelete) model.delete(name);
    else model.set(name, revision);
    states.set(
      revision,
      [...model].map(([key, at]) => `${key}@${at}`),
    );
  }
  const revisions = [...states.keys()];
  for (let index = 0; index < 400; index++) {
    const revision = revisions[random(revisions.length)] as number;
    assert.deepEqual((await exactly(revision)).sort(), states.get(revision)?.sort(), `revision ${revision}`);
  }
  await close();
});
