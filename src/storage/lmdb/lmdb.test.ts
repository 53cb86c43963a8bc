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
import { type LmdbOptions, openLmdbStorage } from "./lmdb.ts";

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
