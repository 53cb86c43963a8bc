/** Guarantees when the ledger cannot read: only what needs the read fails, and nothing of it is left. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { suiteOptions } from "../../../test/support/storage-suite.ts";
import { until } from "../../../test/support/until.ts";
import { type LogEvent, type Storage, StorageUnavailable, type Write } from "../contract.ts";
import { openEmbeddedStorage } from "./embedded-storage.ts";
import type { Change } from "./ledger.ts";
import { MemoryLedger } from "./memory-ledger.ts";

const unreadable = new Error("MDB_PAGE_NOTFOUND");
const put = (key: string): Write => ({ key, value: Buffer.from(key) });
const remove = (key: string): Write => ({ key, value: null });

/** A store whose ledger has a method that fails for puts of one key. */
function openFaultyStorage(context: TestContext, method: "read" | "valueBytes", key: string): Storage {
  const ledger = new MemoryLedger();
  const read = ledger.read.bind(ledger);
  const checked = (called: typeof method, position: number, of: string): Change => {
    if (called === method && of === key) throw unreadable;
    return read(position, of);
  };
  ledger.read = (position, of) => checked("read", position, of);
  ledger.valueBytes = (position, of) => checked("valueBytes", position, of).value.length;
  const storage = openEmbeddedStorage(ledger, suiteOptions);
  context.after(() => storage.close());
  return storage;
}

test("a commit that cannot read one of its keys changes none of them", async (context) => {
  const storage = openFaultyStorage(context, "valueBytes", "/b");
  await storage.commit([], [put("/b")]);
  await assert.rejects(storage.commit([], [put("/a"), put("/b")]), unreadable);
  assert.deepEqual(await storage.commit([{ key: "/a", revision: 0 }], [put("/a")]), { ok: true, revision: 3 });
  assert.equal((await storage.get("/a"))?.revision, 3);
});

test("a deletion whose event cannot be read ends the watches of its key, and the store writes on", async (context) => {
  const storage = openFaultyStorage(context, "read", "/a/b");
  const seen: string[] = [];
  const watch = (prefix: string): void => {
    const events = (batch: readonly LogEvent[]): void => void seen.push(...batch.map(({ key }) => `${prefix} ${key}`));
    storage.log(prefix, 2, { events, progress() {}, end: (error) => seen.push(`${prefix} ends: ${error?.message}`) });
  };
  await storage.commit([], [put("/a/b")]);
  for (const prefix of ["/a/", "/a/b", "/c/"]) watch(prefix);
  await storage.commit([], [put("/a/c"), remove("/a/b"), put("/c/d")]);
  assert.deepEqual(seen.splice(0), ["/a/ ends: MDB_PAGE_NOTFOUND", "/a/b ends: MDB_PAGE_NOTFOUND", "/c/ /c/d"]);
  await storage.commit([], [put("/c/e"), put("/a/e")]);
  assert.deepEqual(seen, ["/c/ /c/e"]);
  assert.equal(await storage.get("/a/b"), undefined);
});

test("history that cannot be read fails its compaction, and neither writes nor later compactions", async (context) => {
  const ledger = new MemoryLedger();
  const warnings: string[] = [];
  const logger = { info() {}, warn: (message: string) => void warnings.push(message), error() {} };
  const storage = openEmbeddedStorage(ledger, { ...suiteOptions, logger });
  context.after(() => storage.close());
  await storage.commit([], [put("/a")]);
  const heads = ledger.heads.bind(ledger);
  ledger.heads = () => {
    throw unreadable;
  };
  await Promise.all([
    assert.rejects(storage.compact(2), StorageUnavailable),
    storage.commit([], [put("/b")]),
    assert.rejects(storage.compact(2), /the history cannot be read: Error: MDB_PAGE_NOTFOUND/),
  ]);
  assert.deepEqual(warnings, ["Compaction failed"]);
  ledger.heads = heads;
  await storage.compact(3);
  assert.equal(storage.compacted(), 3);
});

test("times of expiry that cannot be read are read again, and keys expire then", async (context) => {
  const ledger = new MemoryLedger();
  const clock = manualClock();
  const warnings: string[] = [];
  const logger = { info() {}, warn: (message: string) => void warnings.push(message), error() {} };
  const storage = openEmbeddedStorage(ledger, { ...suiteOptions, clock, logger });
  context.after(() => storage.close());
  await storage.commit([], [{ ...put("/a"), ttlSeconds: 10 }]);
  const expiries = ledger.expiries.bind(ledger);
  ledger.expiries = () => {
    throw unreadable;
  };
  for (let second = 0; second < 12; second++) {
    clock.advance(1000);
    await new Promise(setImmediate);
  }
  assert.deepEqual(warnings, ["Could not delete expired keys, retrying"]);
  ledger.expiries = expiries;
  clock.advance(1000);
  await until(async () => (await storage.get("/a")) === undefined);
});
