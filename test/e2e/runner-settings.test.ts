/**
 * The settings and the test of docs/test-runners.md with each runner. Runs with COXSWAIN_TEST_FULL=1: builds the package and installs the
 * runners.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { skipWithout } from "../support/needs.ts";

const root = join(import.meta.dirname, "..", "..");

/** The commands of the page, and the line that says that the test has passed. */
const runners: readonly (readonly [command: string, passed: RegExp])[] = [
  ["vitest run", /Tests {2}1 passed/],
  ["node --experimental-vm-modules node_modules/.bin/jest", /Tests: +1 passed, 1 total/],
  ["bun test --timeout 30000 map.bun", /1 pass\n\s*0 fail/],
  ["deno test --allow-all map.deno.test.mjs", /1 passed \| 0 failed/],
];

describe("the settings of each runner", { skip: skipWithout("full", "shell") }, () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-runner-settings-"));
  after(() => rmSync(directory, { recursive: true, force: true }));
  before(() => {
    execFileSync(process.execPath, [join(root, "tools/build.ts")], { cwd: root, stdio: "ignore" });
    cpSync(join(import.meta.dirname, "runner-settings"), directory, { recursive: true });
    const allowScripts = { bun: true, deno: true };
    writeFileSync(join(directory, "package.json"), JSON.stringify({ private: true, type: "module", allowScripts }));
    const packages = ["vitest@5", "jest@30", "@jest/globals@30", "bun@1.4", "deno@2.9"];
    execFileSync("npm", ["install", "--no-audit", "--no-fund", ...packages], { cwd: directory, stdio: "ignore" });
    symlinkSync(root, join(directory, "node_modules/coxswain"), "junction");
  });

  for (const [command, passed] of runners)
    test(command, () => {
      const path = [join(directory, "node_modules/.bin"), join(process.execPath, ".."), process.env.PATH].join(":");
      const { status, stdout, stderr } = spawnSync("sh", ["-c", command], {
        cwd: directory,
        encoding: "utf8",
        timeout: 280_000,
        env: { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: "1", CI: "1", PATH: path },
      });
      assert.match(stdout + stderr, passed);
      assert.equal(status, 0);
    });
});
