/** The kit for Go, with client-go, and the example that uses it. Runs with COXSWAIN_TEST_FULL=1 if Go is installed. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type KitRunner, openKitRunner } from "../support/kit-runner.ts";
import { skipWithout } from "../support/needs.ts";

const root = join(import.meta.dirname, "../..");
const skip = skipWithout("full", "go");

describe("Go", { skip, timeout: 600_000 }, () => {
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
