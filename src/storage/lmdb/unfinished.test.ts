import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { unfinishedPath } from "./unfinished.ts";

test("removes what killed processes left, and nothing else", (context) => {
  const dir = mkdtempSync(join(tmpdir(), "coxswain-unfinished-"));
  context.after(() => rmSync(dir, { recursive: true }));
  const { pid: ended } = spawnSync(process.execPath, ["--version"]);
  const kept = [
    `backup.unfinished-${process.ppid}`,
    "backup.unfinished-",
    "backup.unfinished-0",
    "backup.unfinished-12.old",
    `other.unfinished-${ended}`,
  ];
  for (const name of [...kept, `backup.unfinished-${process.pid}`]) writeFileSync(join(dir, name), "");
  const left = join(dir, `backup.unfinished-${ended}`);
  mkdirSync(left);
  writeFileSync(join(left, "data.mdb"), "");
  assert.equal(unfinishedPath(join(dir, "backup")), join(dir, `backup.unfinished-${process.pid}`));
  assert.deepEqual(readdirSync(dir).sort(), kept.sort());
});
