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

describe("eventually", () => {
  test("ends before the limit of the runner, with what happened", () => {
    const { passed, failed, output } = run(
      `
const kit = useTestServer(runner);
const maps = "/api/v1/namespaces/default/configmaps";
test("waits too long", async (t) => {
  const ended = new AbortController();
  t.after(() => ended.abort());
  const { body } = await kit.server.fetch(maps + "?watch=1", { signal: ended.signal });
  await kit.server.fetch(maps, { method: "POST", body: configMap("made-by-the-test") });
  const started = Date.now();
  try {
    await eventually(() => { throw new Error("still red"); }, { timeoutMs: 60_000 });
  } finally {
    console.log("# waited " + (Date.now() - started > 1000));
  }
});
test("waits as long as it says", () => eventually(() => false, { timeoutMs: 50 }));
`,
      "--test-timeout=3000",
    );
    assert.deepEqual([passed, failed], [0, 2], output);
    assert.match(output, /waited true/);
    assert.match(output, /did not pass within [12]\d\d\d ms, in \d+ checks\. Last failure: still red/);
    assert.match(output, /The test runner ends the test after 3000 ms; a longer timeout of the test gives more time\./);
    assert.match(output, /The last requests:\n[\s\S]*made-by-the-test/);
    assert.match(output, /Open watches:\n[^\n]*watch +configmaps default → 200 \d+ events \(open\)/);
    assert.match(output, /did not pass within 50 ms, in \d+ checks\. Last failure: the check returned false/);
    assert.doesNotMatch(output, /test timed out/);
  });

  test("shows its last failure when a test ends that has a limit of its own", () => {
    const { failed, output } = run(`
useTestServer(runner);
test("has a limit", { timeout: 600 }, () => eventually(() => { throw new Error("still red"); }));
`);
    assert.equal(failed, 0, output);
    assert.match(output, /# cancelled 1\n/);
    assert.match(
      output,
      /The test ended during a wait: did not pass within 10000 ms, in \d+ checks\. Last failure: still red/,
    );
  });

  test("needs no fixture", () => {
    const { failed, output } = run(
      `
const server = await startTestServer();
runner.after(() => server.close());
test("waits", async () => {
  await server.fetch("/api/v1/nodes/a");
  await eventually(() => false, { server });
});
`,
      "--test-timeout=4000",
    );
    assert.equal(failed, 1, output);
    assert.match(output, /did not pass within [123]\d\d\d ms/);
    assert.match(output, /The last requests:\n[\s\S]*nodes a → 404/);
  });
});

describe("what a file does not close", () => {
  test("is named, and does not make the runner hang", () => {
    const { passed, output, status } = run(`
const kit = useTestServer(runner);
test("a server", async () => {
  const server = await startTestServer();
  await server.fetch("/api/v1/nodes");
});
test("a fork", async () => void (await kit.server.fork()));
test("a watch", async () => void (await kit.server.fetch("/api/v1/nodes?watch=1")));
test("a watch that ends", async () => {
  const ended = new AbortController();
  await kit.server.fetch("/api/v1/secrets?watch=1", { signal: ended.signal });
  ended.abort();
});
test("a fork that the kit closes", async () => void (await kit.fork()));
`);
    assert.deepEqual([passed, status], [5, 0], output);
    assert.doesNotMatch(output, /secrets/);
    assert.match(
      output,
      /Not closed at the end of the tests:\n[^\n]*a server opened at [^\n]*file-\d+\.test\.mjs:6:24/,
    );
    assert.match(output, /\n[^\n]*a fork opened at [^\n]*file-\d+\.test\.mjs:\d+:\d+/);
    assert.equal(output.match(/opened at/g)?.length, 2);
    assert.match(output, /a watch: [\d:.]+ watch +nodes → 200 0 events \(open\) · kubernetes-admin · coxswain-testing/);
  });

  test("is named when something else holds the process", () => {
    const { output, status } = run(`
const kit = useTestServer(runner);
test("a watch that is opened again and again", async () => {
  const again = () => void kit.server.fetch("/api/v1/nodes?watch=1").then(
    async ({ body }) => { for await (const _ of body); },
  ).catch(() => {}).finally(() => setTimeout(again, 50));
  again();
  await eventually(() => kit.server.timeline.openWatches().length === 1);
  setTimeout(() => process.exit(0), 4500);
});
`);
    assert.match(output, /The tests ended 3 s ago and the process still runs\. These watches were open/, output);
    assert.match(output, /watch +nodes → 200 0 events \(open\) · kubernetes-admin · coxswain-testing/);
    assert.equal(status, 0);
  });
});
