/** Guarantee: whatever has been written, by servers that closed their store, nothing is found in it. Random: SEED=n replays. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { seededRandom } from "../../testing/seeded-random.ts";
import { suiteOptions } from "../contract.suite.ts";
import type { Storage, Write } from "../contract.ts";
import { checkFile } from "./check-file.ts";
import { openLmdbStorage } from "./lmdb.ts";
import { openMaps } from "./maps.ts";

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
const random = seededRandom(seed);
const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 200 : 6;
const base = mkdtempSync(join(tmpdir(), "coxswain-check-"));
after(() => rmSync(base, { recursive: true, force: true }));

/** Many small keys for deep trees, large values for pages of their own, deletions and compactions for long lists of free pages. */
async function churn(storage: Storage): Promise<void> {
  const commits: Promise<unknown>[] = [];
  for (let number = random(150); number >= 0; number--) {
    const writes = new Map<string, Write>();
    for (let count = random(60); count >= 0; count--) {
      const key = `/k/${random(3)}/${"n".repeat(random(80))}${random(400)}`;
      const bytes = [0, 40, 900, 2500, 30_000][random(5)] as number;
      const ttlSeconds = random(9) === 0 ? { ttlSeconds: 1000 + random(1000) } : {};
      writes.set(key, { key, value: random(3) === 0 ? null : Buffer.alloc(bytes, key), ...ttlSeconds });
    }
    commits.push(storage.commit([], [...writes.values()]));
    if (random(4) === 0) await Promise.all(commits);
  }
  await Promise.all(commits);
  if (random(2) === 0) await storage.compact(Math.max(1, (await storage.current()) - random(100)));
}

test(`nothing is found in stores that were written at random (SEED=${seed})`, async () => {
  const dir = join(base, "random");
  for (let round = 0; round < rounds; round++) {
    const options = { ...suiteOptions, valueBytesMax: 1 << 20, dir, durability: "relaxed" as const };
    const storage = await openLmdbStorage(options);
    for (let part = random(3); part >= 0; part--) await churn(storage);
    await storage.close();
    for (const withLog of [false, true]) checkFile(dir, { withLog });
  }
});

test("nothing is found in a copy that LMDB has made, before and after its first transactions", async () => {
  const dir = join(base, "original");
  const original = await openLmdbStorage({ ...suiteOptions, dir, durability: "relaxed" });
  for (let number = 0; number < 50; number++) await original.commit([], [{ key: `/k/${number % 20}`, value: Buffer.alloc(500) }]);
  await original.close();
  const copy = join(base, "copy");
  mkdirSync(copy, { mode: 0o700 });
  const maps = await openMaps({ dir, durability: "relaxed" });
  await maps.root.backup(copy, true);
  await maps.root.close();
  for (let number = 0; number < 3; number++) {
    checkFile(copy, { withLog: true });
    const storage = await openLmdbStorage({ ...suiteOptions, dir: copy, durability: "relaxed" });
    assert.equal(await storage.count("/k/"), 20);
    await storage.commit([], [{ key: "/k/0", value: Buffer.from(String(number)) }]);
    await storage.close();
  }
});
