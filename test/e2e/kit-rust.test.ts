/**
 * The kit for Rust, with kube-rs. Downloads and compiles packages, so it runs with COXSWAIN_TEST_FULL=1 alone, if
 * Cargo is installed.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type KitRunner, openKitRunner } from "../support/kit-runner.ts";

const source = join(import.meta.dirname, "../../kit/rust");
const isInstalled = process.env.COXSWAIN_TEST_FULL === "1" && spawnSync("cargo", ["--version"]).status === 0;

describe("Rust", { skip: isInstalled ? false : "needs Cargo and COXSWAIN_TEST_FULL=1", timeout: 1_200_000 }, () => {
  let runner: KitRunner;
  before(() => {
    runner = openKitRunner();
  });
  after(() => runner.close());

  test("the tests of the kit pass", async () => {
    const kit = join(runner.directory, "kit");
    cpSync(source, kit, { recursive: true });
    const { code, output } = await runner.run(["cargo", "test", "--quiet", "--locked"], kit);
    assert.equal(code, 0, output);
  });
});
