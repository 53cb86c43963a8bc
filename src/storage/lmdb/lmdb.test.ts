import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { type Open, suiteOptions } from "../../../test/support/storage-suite.ts";
import { until } from "../../../test/support/until.ts";
import { storageContract } from "../contract.suite.ts";
import type { Storage } from "../contract.ts";
import { embeddedContract } from "../embedded/embedded.suite.ts";
import { type Change, positionOf } from "../embedded/ledger.ts";
import { GroupWriter } from "./group-writer.ts";
import { type LmdbOptions, openLmdbStorage } from "./lmdb.ts";
import { openMaps } from "./maps.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-lmdb-"));
after(() => rmSync(base, { recursive: true, force: true }));
let count = 0;
const directory = (): string => join(base, String(count++));
const open = (changes: Partial<LmdbOptions> = {}): Promise<Storage> =>
  openLmdbStorage({ ...suiteOptions, dir: directory(), durability: "relaxed", ...changes });

for (const durability of ["relaxed", "full"] as const) {
  const openEmpty: Open = async (options) => {
    const dir = directory();
    let storage = await open({ ...options, dir, durability });
    return {
      storage,
      async reopen(changed) {
        await storage.close();
        storage = await open({ ...changed, dir, durability });
        return storage;
      },
    };
  };
  storageContract(`lmdb, ${durability}`, openEmpty);
  embeddedContract(`lmdb, ${durability}`, openEmpty);
}

test("rejects a second server on the same directory, and names the directory", async () => {
  const dir = directory();
  const first = await open({ dir });
  await assert.rejects(open({ dir }), new RegExp(`${dir} is in use by another server`));
  await first.commit([], [{ key: "/a", value: Buffer.from("still works") }]);
  await first.close();
  await (await open({ dir })).close();
});

test("concurrent commits share a transaction", async () => {
  let writes = 0;
  const storage = await open({ faults: { beforeWrite: () => void writes++ } });
  await Promise.all(
    Array.from({ length: 500 }, (_, index) => storage.commit([], [{ key: `/k/${index}`, value: Buffer.from("x") }])),
  );
  assert.ok(writes < 5, `${writes} transactions`);
  assert.equal(await storage.current(), 501);
  await storage.close();
});

test("records of almost half a page share pages, also after the store is opened again", async () => {
  const dir = directory();
  const value = Buffer.alloc(1700, "x");
  const commits = 200;
  for (const round of [0, 1]) {
    const storage = await open({ dir, valueBytesMax: 2000 });
    for (let index = 0; index < commits; index++) await storage.commit([], [{ key: `/${round}/${index}`, value }]);
    await storage.close();
  }
  const { root, log } = await openMaps({ dir, durability: "relaxed" });
  const { entryCount, treeLeafPageCount } = log.getStats() as { entryCount: number; treeLeafPageCount: number };
  await root.close();
  assert.ok(entryCount >= commits * 2);
  assert.ok(treeLeafPageCount < entryCount * 0.6, `${treeLeafPageCount} pages of ${entryCount} records`);
});

test("adds a record before others", async () => {
  const maps = await openMaps({ dir: directory(), durability: "relaxed" });
  await maps.log.put(positionOf(9, 0), Buffer.from("later"));
  const writer = new GroupWriter(maps.marks);
  const change = { type: "put", position: positionOf(5, 0), key: "/a", previous: 0, value: Buffer.from("a") } as Change;
  const group = { expiries: [], drop: [], dropExpiries: [], marks: { ...maps.marks, revision: 9 } };
  const added: Promise<boolean>[] = [];
  for (const position of [positionOf(5, 0), positionOf(12, 0), positionOf(11, 0), positionOf(13, 0)])
    await maps.root.batch(() => void added.push(...writer.put({ ...group, changes: [{ ...change, position }] }, maps)));
  assert.deepEqual(await Promise.all(added), [true, true]);
  assert.deepEqual(
    [...maps.log.getKeys()],
    [5, 9, 11, 12, 13].map((revision) => positionOf(revision, 0)),
  );
  await maps.root.close();
});

test("history, compaction and expiries persist", async () => {
  const dir = directory();
  const clock = manualClock();
  const first = await open({ dir, clock, historyMs: 60_000 });
  await first.commit(
    [],
    [
      { key: "/a", value: Buffer.from("1") },
      { key: "/b", value: Buffer.from("1"), ttlSeconds: 100 },
    ],
  );
  await first.commit([], [{ key: "/a", value: Buffer.from("2") }]);
  await first.compact(2);
  await first.close();
  const second = await open({ dir, clock, historyMs: 60_000 });
  assert.deepEqual([await second.current(), second.compacted()], [3, 2]);
  assert.equal((await second.get("/a", 2))?.value.toString(), "1");
  const expired = new Promise<string>((resolve) =>
    second.log("/b", 3, {
      events: ([event]) => resolve(`${event?.type} ${event?.key} ${event?.revision}`),
      progress() {},
      end() {},
    }),
  );
  clock.advance(101_000);
  assert.equal(await expired, "delete /b 4");
  await until(() => second.compacted() >= 3);
  assert.equal(second.compacted(), 3);
  await second.close();
});

test("only their owner can access the files", async () => {
  const dir = directory();
  await (await open({ dir })).close();
  const { statSync } = await import("node:fs");
  const modes = ["", "data.mdb", "lock.mdb"].map((file) => (statSync(join(dir, file)).mode & 0o777).toString(8));
  assert.deepEqual(modes, ["700", "600", "600"]);
});
