/** The kit for Go, with client-go. Runs with COXSWAIN_TEST_FULL=1 if Go is installed. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type KitRunner, openKitRunner } from "../support/kit-runner.ts";

const root = join(import.meta.dirname, "../..");
const go = process.env.COXSWAIN_TEST_FULL === "1" && spawnSync("go", ["version"]).status === 0;

describe("Go", { skip: go ? false : "needs Go and COXSWAIN_TEST_FULL=1", timeout: 600_000 }, () => {
  let runner: KitRunner;
  before(() => {
    runner = openKitRunner();
  });
  after(() => runner.close());

  test("the tests of the kit pass", async () => {
    const { code, output } = await runner.run(["go", "test", "-count=1", "./..."], join(root, "kit/go"));
    assert.equal(code, 0, output);
  });

  test("the code of the kit is formatted", async () => {
    const { code, output } = await runner.run(["gofmt", "-l", "."], join(root, "kit/go"));
    assert.deepEqual([code, output], [0, ""]);
  });
});
