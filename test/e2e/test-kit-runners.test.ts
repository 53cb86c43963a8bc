/**
 * The fixtures of the test kit with each test runner, in a child process: a namespace for each test, the end of its
 * faults, the timeline of failed tests, and an end without open handles. node:test runs always; the others need COXSWAIN_TEST_FULL=1: builds
 * the package and installs the runners.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { skipWithout } from "../support/needs.ts";
import { kit } from "../support/program.ts";

const root = join(import.meta.dirname, "..", "..");
const directory = mkdtempSync(join(tmpdir(), "coxswain-runners-"));
const runners = join(directory, "node_modules/.bin");

interface Runner {
  readonly name: string;
  /** Statements that define `runner` and `test`. */
  readonly imports: string;
  readonly file: string;
  readonly command: readonly [program: string, ...args: string[]];
  /** Whether hooks know that a test has failed. */
  readonly knowsFailures: boolean;
  /** Whether it ends a test after five seconds. */
  readonly hasLimit: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

const nodeTest: Runner = {
  name: "node:test",
  imports: 'import * as runner from "node:test"; const { test } = runner;',
  file: "kit.test.mjs",
  command: [process.execPath, "--test", "--test-reporter=tap"],
  knowsFailures: true,
  hasLimit: false,
};

const others: readonly Runner[] = [
  {
    name: "Vitest",
    imports: 'import * as runner from "vitest"; const { test } = runner;',
    file: "kit.vitest.test.mjs",
    command: [join(runners, "vitest"), "run"],
    knowsFailures: true,
    hasLimit: true,
  },
  {
    name: "Jest",
    imports: 'import * as runner from "@jest/globals"; const { test } = runner;',
    file: "kit.jest.test.mjs",
    command: [process.execPath, "--experimental-vm-modules", join(runners, "jest"), "--detectOpenHandles"],
    knowsFailures: false,
    hasLimit: true,
  },
  {
    name: "Bun",
    imports: 'import * as runner from "bun:test"; const { test } = runner;',
    file: "kit.bun.test.mjs",
    command: [join(runners, "bun"), "test"],
    knowsFailures: false,
    hasLimit: true,
  },
  {
    name: "Deno",
    imports: "const runner = Deno.test; const test = Deno.test;",
    file: "kit.deno.test.mjs",
    command: [join(runners, "deno"), "test", "--allow-all"],
    knowsFailures: false,
    hasLimit: false,
  },
];

/** Its error is seen only if the wait ends before the runner ends the test. */
const waits = `test("four", () => eventually(() => { throw new Error("not yet"); }));
`;

/** Two tests pass, and the others fail. */
const tests = (runner: Runner): string => `${runner.imports}
import assert from "node:assert/strict";
import { configMap, eventually, useTestServer } from "coxswain/testing";

const kit = useTestServer(runner);
const create = async (namespace, name) => {
  const path = \`/api/v1/namespaces/\${namespace}/configmaps\`;
  return (await kit.server.fetch(path, { method: "POST", body: configMap(name) })).status;
};
let former;

let fork;

test("one", async () => {
  fork = await kit.fork();
  assert.equal((await fork.fetch("/api/v1/namespaces/default", { method: "DELETE" })).status, 403);
  const path = "/api/v1/namespaces/default/configmaps";
  assert.equal((await fork.fetch(path, { method: "POST", body: configMap("of-the-fork") })).status, 201);
  assert.equal((await kit.server.fetch(path + "/of-the-fork")).status, 404);
  former = await kit.namespace();
  assert.equal(await create(former, "a"), 201);
  const forbidden = await kit.server.fetch("/api/v1/secrets", { as: { user: "ann" } });
  assert.equal(forbidden.status, 403);
  kit.server.faults.add({ optional: true }, { type: "internalError" });
});

test("two", async () => {
  assert.deepEqual(kit.server.faults.list(), [], "the rules of another test have ended");
  await assert.rejects(fork.fetch("/readyz"), "the fork of another test is closed");
  assert.notEqual(await kit.namespace(), former);
  const read = () => kit.server.fetch(\`/api/v1/namespaces/\${former}\`);
  await eventually(async () => (await read()).status === 404, { timeoutMs: 60_000 });
});

const fails = async () => {
  await (await kit.fork()).fetch("/api/v1/nodes/read-from-the-fork");
  assert.equal(await create(await kit.namespace(), "of-the-failed-test"), 500);
};
test("three", ${runner.knowsFailures ? "fails" : "kit.withTimeline(fails)"});
${runner.hasLimit ? waits : ""}`;

function run({ name, file, command, environment }: Runner): { status: number | null; output: string } {
  const [program, ...args] = command;
  const { status, stdout, stderr } = spawnSync(program, [...args, file], {
    cwd: name === nodeTest.name ? root : directory,
    encoding: "utf8",
    timeout: 280_000,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: "1", CI: "1", ...environment },
  });
  return { status, output: stdout + stderr };
}

function check(runner: Runner, passedAndFailed: RegExp): void {
  const { status, output } = run(runner);
  assert.match(output, passedAndFailed);
  assert.match(output, /Timeline of the failed test:/);
  assert.match(output, /create[^\n]*configmaps/);
  assert.match(output, /of-the-failed-test/);
  assert.match(output, /get[^\n]*nodes read-from-the-fork/);
  assert.doesNotMatch(output, /\/secrets/, "requests of other tests are not printed");
  if (runner.hasLimit) assert.match(output, /did not pass within 4\d\d\d ms, in \d+ checks\. Last failure: not yet/);
  assert.doesNotMatch(output, /open handle|did not exit|leak/i);
  assert.notEqual(status, 0);
  assert.notEqual(status, null, "it ends by itself");
}

after(() => rmSync(directory, { recursive: true, force: true }));

test("node:test", () => {
  const file = join(directory, nodeTest.file);
  writeFileSync(file, tests(nodeTest).replace('"coxswain/testing"', JSON.stringify(kit)));
  check({ ...nodeTest, file }, /# pass 2\n# fail 1\n/);
});

const counts: Readonly<Record<string, RegExp>> = {
  Vitest: /2 failed \| 2 passed/,
  Jest: /2 failed, 2 passed/,
  Bun: /2 pass\n\s*2 fail/,
  Deno: /2 passed \| 1 failed/,
};

describe("other runners", { skip: skipWithout("full") }, () => {
  before(() => {
    execFileSync(process.execPath, [join(root, "tools/build.ts")], { cwd: root, stdio: "ignore" });
    const allowScripts = { bun: true, deno: true };
    const jest = { testMatch: ["**/*.jest.test.mjs"], transform: {} };
    writeFileSync(
      join(directory, "package.json"),
      JSON.stringify({ private: true, type: "module", allowScripts, jest }),
    );
    const packages = ["vitest@5", "jest@30", "@jest/globals@30", "bun@1.4", "deno@2.9"];
    execFileSync("npm", ["install", "--no-audit", "--no-fund", ...packages], { cwd: directory, stdio: "ignore" });
    symlinkSync(root, join(directory, "node_modules/coxswain"), "junction");
  });

  for (const runner of others)
    test(runner.name, () => {
      writeFileSync(join(directory, runner.file), tests(runner));
      check(runner, counts[runner.name] as RegExp);
    });
});
