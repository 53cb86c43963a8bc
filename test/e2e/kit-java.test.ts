/**
 * The kit for Java, with JUnit 5 and fabric8. Downloads packages, so it runs with COXSWAIN_TEST_FULL=1 alone, if
 * Maven is installed.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type KitRunner, openKitRunner } from "../support/kit-runner.ts";

const source = join(import.meta.dirname, "../../kit/java");
const isInstalled = process.env.COXSWAIN_TEST_FULL === "1" && spawnSync("mvn", ["--version"]).status === 0;

describe("Java", { skip: isInstalled ? false : "needs Maven and COXSWAIN_TEST_FULL=1", timeout: 1_200_000 }, () => {
  let runner: KitRunner;
  before(() => {
    runner = openKitRunner();
  });
  after(() => runner.close());

  test("the tests of the kit pass", async () => {
    const kit = join(runner.directory, "kit");
    cpSync(source, kit, { recursive: true });
    const { code, output } = await runner.run(["mvn", "-q", "-B", "test"], kit);
    assert.equal(code, 0, output);
  });
});
