/**
 * A process that holds a read transaction open: the file grows, which is logged, until the process
 * is killed.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { valueBytesMaxDefault } from "../options.ts";
import { openLmdbStorage } from "./lmdb.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-readers-"));
after(() => rmSync(base, { recursive: true, force: true }));
const value = Buffer.alloc(10_000, "x");

test("logs a process that reads an old state, and reuses its pages after it was killed", async (t) => {
  const warnings: unknown[] = [];
  const logger = {
    info() {},
    warn: (message: string, values?: Record<string, unknown>) => void warnings.push([message, values?.pid]),
    error() {},
  };
  const limits = { historyMs: 300_000, historyBytesMax: 50_000, valueBytesMax: valueBytesMaxDefault };
  const storage = await openLmdbStorage({
    ...limits,
    clock: manualClock(),
    dir: join(base, "store"),
    durability: "relaxed",
    logger,
  });
  const grow = async (commits: number): Promise<number> => {
    const before = await storage.sizeBytes();
    for (let index = 0; index < commits; index++) await storage.commit([], [{ key: "/a", value }]);
    return (await storage.sizeBytes()) - before;
  };
  await grow(200);
  assert.equal(await grow(400), 0);
  const reader = spawn(
    process.execPath,
    [join(import.meta.dirname, "../../../test/support/store-holder.ts"), join(base, "store")],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  t.after(() => void reader.kill("SIGKILL"));
  const [output] = await Promise.race([once(reader.stdout, "data"), once(reader, "exit")]);
  assert.equal(String(output), "reading current\n");
  const held = await grow(2000);
  assert.ok(held > 2000 * value.length, `${held} bytes`);
  assert.deepEqual(warnings, [
    ["Another process reads an old state of the store, whose file grows meanwhile", reader.pid],
  ]);
  reader.kill("SIGKILL");
  await once(reader, "exit");
  // One allocation of the disk reserve, which detects the killed process.
  const after = await grow(2000);
  assert.ok(after <= (await storage.sizeBytes()) / 4, `${after} bytes`);
  await storage.close();
});
