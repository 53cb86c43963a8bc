/**
 * Tests that run at once in several workers see only their own objects: each worker has its own server, and each test its
 * own namespace. COXSWAIN_TEST_FULL=1: 1,000 tests over 8 workers.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { kit } from "../support/program.ts";

const { workers, tests } =
  process.env.COXSWAIN_TEST_FULL === "1" ? { workers: 8, tests: 1000 } : { workers: 2, tests: 20 };

/** A failing test prints its timeline, which is long. */
const failuresShown = 3;

const source = (worker: number): string => `
import assert from "node:assert/strict";
import * as runner from "node:test";
import { configMap, useTestServer } from ${JSON.stringify(kit)};

const kit = useTestServer(runner);
async function read(path) {
  const response = await kit.server.fetch(path);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text);
}
const names = async (path) => (await read(path)).items.map(({ metadata }) => metadata.name);

runner.describe("at once", { concurrency: ${tests / workers} }, () => {
  for (let index = 0; index < ${tests / workers}; index++)
    runner.test("test " + index, async (t) => {
      const namespace = await kit.namespace(t);
      const path = "/api/v1/namespaces/" + namespace + "/configmaps";
      const data = { owner: "${worker}/" + index };
      const response = await kit.server.fetch(path, { method: "POST", body: configMap("own", { data }) });
      assert.equal(response.status, 201);
      assert.deepEqual((await names(path)).filter((name) => name !== "kube-root-ca.crt"), ["own"]);
      assert.deepEqual((await read(path + "/own")).data, data);
      const all = (await read("/api/v1/configmaps")).items.filter(({ metadata }) => metadata.name === "own");
      assert.deepEqual(all.filter(({ data }) => !data.owner.startsWith("${worker}/")), []);
    });
});
`;

test(`${tests} tests over ${workers} workers see only their own objects`, () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-workers-"));
  try {
    const files = Array.from({ length: workers }, (_, worker) => join(directory, `worker-${worker}.test.mjs`));
    for (const [worker, file] of files.entries()) writeFileSync(file, source(worker));
    const args = ["--test", "--test-reporter=tap", `--test-concurrency=${workers}`, ...files];
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8", env, maxBuffer: 1 << 28 });
    const failures = stdout.match(/^ *error: [\s\S]*?^ *code: .*$/gm) ?? [];
    const count = (what: string): number => Number(new RegExp(`^# ${what} (\\d+)$`, "m").exec(stdout)?.[1]);
    const ended = { tests: count("tests"), passed: count("pass"), failures: failures.slice(0, failuresShown) };
    assert.deepEqual(ended, { tests, passed: tests, failures: [] });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
