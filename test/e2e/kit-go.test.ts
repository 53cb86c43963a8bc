/** The kit for Go, with client-go, and the example that uses it. Runs with COXSWAIN_TEST_FULL=1 if Go is installed. */
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

  const folders: [title: string, folder: string][] = [
    ["the kit", "kit/go"],
    ["the example", "examples/go"],
  ];
  for (const [title, folder] of folders) {
    test(`the tests of ${title} pass`, async () => {
      const { code, output } = await runner.run(["go", "test", "-count=1", "./..."], join(root, folder));
      assert.equal(code, 0, output);
    });

    test(`the code of ${title} is formatted`, async () => {
      const { code, output } = await runner.run(["gofmt", "-l", "."], join(root, folder));
      assert.deepEqual([code, output], [0, ""]);
    });
  }
});
