import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { skipWithout } from "../../../test/support/needs.ts";
import { type ProcessTable, procTable, psTable } from "./process-table.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-processes-"));
test.after(() => rmSync(directory, { recursive: true, force: true }));

/** Its name looks like the fields that follow the name in `/proc/<pid>/stat`. */
const script = join(directory, "a) S 1 (b");
writeFileSync(script, "#!/bin/sh\necho started\nread line\n", { mode: 0o755 });

const rows: [name: string, table: ProcessTable, skip: string | false][] = [
  ["/proc", procTable, skipWithout("linux")],
  ["ps", psTable, skipWithout("ps")],
];
for (const [name, table, skip] of rows) {
  test(`${name} has the parent and the arguments of a running process`, { skip }, async () => {
    const child = spawn(script, ["--cert-dir=/a b", "--v=1"]);
    const pid = child.pid as number;
    await once(child.stdout, "data");
    assert.equal(table.parentOf(pid), process.pid);
    assert.match(` ${table.commandOf(pid)} `, / --cert-dir=\/a b --v=1 /);
    child.stdin.end();
    await once(child, "exit");
    assert.deepEqual([table.parentOf(pid), table.commandOf(pid)], [undefined, undefined]);
  });
}
