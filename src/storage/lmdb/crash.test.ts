/**
 * Guarantees after the process is killed at any moment: every acknowledged commit is stored; each
 * commit is stored completely or not at all, with the derived write that counts it; new revisions
 * are above all acknowledged ones; replaying the log gives the current state. `COXSWAIN_TEST_FULL=1` runs more rounds.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { suiteOptions } from "../../../test/support/storage-suite.ts";
import type { Storage } from "../contract.ts";
import { openLmdbStorage } from "./lmdb.ts";

const writerProgram = join(import.meta.dirname, "../../../test/support/storage-writer.ts");
const writers = 4;
const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 200 : 5;

interface Acknowledged {
  number: number;
  revision: number;
}

/**
 * Runs writers until they have reported that many acknowledgments, then kills them.
 * @returns the last acknowledgment of each writer
 */
async function writeAndKill(dir: string, acknowledgments: number): Promise<Map<number, Acknowledged>> {
  const child = spawn(process.execPath, [writerProgram, dir, String(writers), "0", "full"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const last = new Map<number, Acknowledged>();
  let count = 0;
  // Acknowledgments that are still in the pipe when the process is killed count, too.
  for await (const line of createInterface({ input: child.stdout })) {
    const [, writer, number, revision] = /^ack (\d+) (\d+) (\d+)$/.exec(line) ?? [];
    if (revision === undefined) continue; // Cut off.
    last.set(Number(writer), { number: Number(number), revision: Number(revision) });
    if (++count === acknowledgments) child.kill("SIGKILL");
  }
  assert.ok(count >= acknowledgments, "the writers ended by themselves");
  return last;
}

test("rejects a directory that another server uses, until that server is killed", async () => {
  const base = mkdtempSync(join(tmpdir(), "coxswain-lock-"));
  const dir = join(base, "storage");
  const child = spawn(process.execPath, [writerProgram, dir, "1", "0", "full"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  await assert.rejects(
    openLmdbStorage({ ...suiteOptions, dir, durability: "full" }),
    new RegExp(`${dir} is in use by another server`),
  );
  child.kill("SIGKILL");
  await once(child, "exit");
  await (await openLmdbStorage({ ...suiteOptions, dir, durability: "full" })).close();
  rmSync(base, { recursive: true });
});

async function checkWriter(storage: Storage, writer: number, acknowledged: Acknowledged | undefined): Promise<void> {
  const [a, b] = [await storage.get(`/w/${writer}/a`), await storage.get(`/w/${writer}/b`)];
  const number = Number(a?.value ?? 0);
  assert.ok(
    number >= (acknowledged?.number ?? 0),
    `writer ${writer}: ${acknowledged?.number} was acknowledged, ${number} is stored`,
  );
  assert.deepEqual([b?.value.toString(), b?.revision], [a?.value.toString(), a?.revision]);
  const { entries } = await storage.range(`/w/${writer}/log/`);
  const first = number < 10 ? 1 : number - (number % 10);
  assert.deepEqual(
    entries.map(({ value }) => Number(value)).sort((x, y) => x - y),
    Array.from({ length: number === 0 ? 0 : number - first + 1 }, (_, index) => first + index),
  );
}

async function checkCount(storage: Storage): Promise<void> {
  let commits = 0;
  for (let writer = 0; writer < writers; writer++) commits += Number((await storage.get(`/w/${writer}/a`))?.value ?? 0);
  assert.equal(Number((await storage.get("/commits"))?.value ?? 0), commits);
}

async function checkLog(storage: Storage): Promise<void> {
  const current = await storage.current();
  const state = new Map<string, string>();
  let newest = 1;
  const { promise, resolve } = Promise.withResolvers<void>();
  storage.log("", 1, {
    events(batch) {
      for (const { type, key, value, revision } of batch) {
        assert.ok(revision >= newest);
        newest = revision;
        if (type === "put") state.set(key, `${value}@${revision}`);
        else state.delete(key);
      }
    },
    progress: (revision) => void (revision === current && resolve()),
    end() {},
  });
  await promise;
  const { entries } = await storage.range("");
  assert.deepEqual(
    entries.map(({ key, value, revision }) => [key, `${value}@${revision}`]),
    [...state].sort(([x], [y]) => (x < y ? -1 : 1)),
  );
}

test(`kill -9 loses no acknowledged commit and leaves no partial commit (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const base = mkdtempSync(join(tmpdir(), "coxswain-crash-"));
  const dir = join(base, "storage");
  for (let round = 0; round < rounds; round++) {
    const acknowledged = await writeAndKill(dir, 1 + random(150));
    const storage = await openLmdbStorage({ ...suiteOptions, dir, durability: "full" });
    for (let writer = 0; writer < writers; writer++) await checkWriter(storage, writer, acknowledged.get(writer));
    await checkCount(storage);
    await checkLog(storage);
    const next = await storage.commit([], [{ key: "/round", value: Buffer.from(String(round)) }]);
    for (const { revision } of acknowledged.values()) assert.ok(next.ok && next.revision > revision);
    await storage.close();
  }
  rmSync(base, { recursive: true });
});
