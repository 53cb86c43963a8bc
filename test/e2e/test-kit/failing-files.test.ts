/** What the kit reports of a file of tests that runs in a process of its own, with node:test. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { kit } from "../../support/program.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-failing-"));
after(() => rmSync(directory, { recursive: true, force: true }));

let files = 0;
interface Ended {
  readonly passed: number;
  readonly failed: number;
  /** Of both streams. */
  readonly output: string;
  /** Null when it had to be killed. */
  readonly status: number | null;
}

/** Runs statements of a test file. @param args of node */
function run(statements: string, ...args: string[]): Ended {
  const file = join(directory, `file-${files++}.test.mjs`);
  const imports = `import * as runner from "node:test"; const { test } = runner;
import { configMap, eventually, startTestServer, useTestServer } from ${JSON.stringify(kit)};
`;
  writeFileSync(file, `${imports}${statements}`);
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: "1" };
  const command = ["--test", "--test-reporter=tap", ...args, file];
  const { stdout, stderr, status } = spawnSync(process.execPath, command, { encoding: "utf8", env, timeout: 120_000 });
  const count = (what: string): number => Number(new RegExp(`^# ${what} (\\d+)$`, "m").exec(stdout)?.[1]);
  return { passed: count("pass"), failed: count("fail"), output: stdout + stderr, status };
}

describe("rules of faults", () => {
  test("a rule that never applied fails its test, and names itself", () => {
    const { passed, failed, output } = run(`
const kit = useTestServer(runner);
const conflict = { verb: "update", resource: "configmaps" };
test("never applied", () => void kit.server.faults.add(conflict, { type: "conflict" }));
test("optional", () => void kit.server.faults.add({ ...conflict, optional: true }, { type: "conflict" }));
test("removed", () => kit.server.faults.add(conflict, { type: "conflict" }).remove());
test("applied", async () => {
  kit.server.faults.add({ resource: "nodes" }, { type: "internalError" });
  await kit.server.fetch("/api/v1/nodes");
});
test("failed", () => {
  kit.server.faults.add(conflict, { type: "conflict" });
  throw new Error("its own failure");
});
`);
    assert.deepEqual([passed, failed], [3, 2], output);
    assert.match(output, /These rules of faults never applied; if that is right, set optional: true in the rule:/);
    assert.match(output, /fault-1: \{"type":"conflict"\} for \{"verb":"update","resource":"configmaps"\}/);
    assert.match(output, /its own failure/);
    assert.equal(output.match(/These rules/g)?.length, 1);
  });
});
