import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { storageContract, suiteOptions } from "../contract.suite.ts";
import { type LogEvent, type Storage, StorageUnavailable } from "../contract.ts";
import { type LmdbOptions, openLmdbStorage } from "./lmdb.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-lmdb-"));
after(() => rmSync(base, { recursive: true, force: true }));
let count = 0;
const directory = (): string => join(base, String(count++));
const open = (changes: Partial<LmdbOptions> = {}): Promise<Storage> =>
  openLmdbStorage({ ...suiteOptions, dir: directory(), durability: "relaxed", ...changes });

storageContract("lmdb", async (options) => {
  const dir = directory();
  let storage = await open({ ...options, dir });
  return {
    storage,
    async reopen() {
      await storage.close();
      storage = await open({ ...options, dir });
      return storage;
    },
  };
});

test("a second server on the same directory is refused, and told which one", async () => {
  const dir = directory();
  const first = await open({ dir });
  await assert.rejects(open({ dir }), new RegExp(`${dir} is in use`));
  await first.close();
  await (await open({ dir })).close();
});

test("a transaction that fails fails all commits in it and on top of it; nothing of them is visible; the next works", async () => {
  let failing = false;
  const storage = await open({
    faults: {
      beforeWrite() {
        if (failing) throw new Error("no space left on device");
      },
    },
  });
  const events: LogEvent[] = [];
  storage.log("/", 1, { events: (batch) => events.push(...batch), progress() {}, end() {} });
  const put = (key: string, revision: number, text: string): Promise<unknown> =>
    storage.commit([{ key, revision }], [{ key, value: Buffer.from(text) }]);
  await put("/a", 0, "1");
  failing = true;
  const outcomes = await Promise.allSettled([put("/a", 2, "2"), put("/a", 3, "3"), put("/b", 0, "4")]);
  for (const outcome of outcomes) assert.ok(outcome.status === "rejected" && outcome.reason instanceof StorageUnavailable, JSON.stringify(outcome));
  assert.deepEqual([(await storage.get("/a"))?.value.toString(), await storage.get("/b"), await storage.current()], ["1", undefined, 2]);
  failing = false;
  assert.deepEqual(await put("/a", 2, "5"), { ok: true, revision: 3 });
  assert.deepEqual(
    events.map(({ revision, value }) => `${revision} ${value}`),
    ["2 1", "3 5"],
  );
  await storage.close();
});

test("many commits share a transaction", async () => {
  let flushes = 0;
  const storage = await open({ faults: { beforeWrite: () => void flushes++ } });
  await Promise.all(Array.from({ length: 500 }, (_, index) => storage.commit([], [{ key: `/k/${index}`, value: Buffer.from("x") }])));
  assert.ok(flushes < 5, `${flushes} transactions`);
  assert.equal(await storage.current(), 501);
  await storage.close();
});

test("old revisions go by age, in the background, and what is current stays", async () => {
  let now = 0;
  const due: { at: number; run: () => void }[] = [];
  const clock = { now: () => now, after: (delayMs: number, run: () => void) => (due.push({ at: now + delayMs, run }), () => {}) };
  const storage = await open({ clock, historyMs: 1000 });
  for (let step = 0; step < 20; step++) await storage.commit([], [{ key: "/a", value: Buffer.from(String(step)) }]);
  now = 60_000;
  for (const { run } of due.splice(0)) run();
  while (storage.compacted() < 21) await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await storage.get("/a"))?.value.toString(), "19");
  await storage.close();
});
