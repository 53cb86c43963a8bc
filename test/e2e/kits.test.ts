/**
 * The kits for Java, with JUnit 5 and fabric8, and for Rust, with kube-rs. They download and compile
 * packages, so they run with COXSWAIN_TEST_FULL=1 alone, where the program that builds them is
 * installed.
 */
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type KitRunner, openKitRunner } from "../support/kit-runner.ts";
import { skipWithout } from "../support/needs.ts";

const kits: [language: "java" | "rust", command: readonly [string, ...string[]]][] = [
  ["java", ["mvn", "-q", "-B", "test"]],
  ["rust", ["cargo", "test", "--quiet", "--locked"]],
];
for (const [language, command] of kits) {
  const skip = skipWithout("full", language);
  describe(`kit/${language}`, { skip, timeout: 1_200_000 }, () => {
    let runner: KitRunner;
    before(() => {
      runner = openKitRunner();
    });
    after(() => runner.close());

    test("the tests of the kit pass", async () => {
      const kit = join(runner.directory, "kit");
      cpSync(join(import.meta.dirname, "../../kit", language), kit, { recursive: true });
      const { code, output } = await runner.run(command, kit);
      assert.equal(code, 0, output);
    });
  });
}
