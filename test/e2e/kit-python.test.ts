/**
 * The kit for pytest, with the package kubernetes, and the example that uses it. Installs packages, so it runs with
 * COXSWAIN_TEST_FULL=1 alone, if Python is installed.
 */
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type KitRunner, openKitRunner } from "../support/kit-runner.ts";
import { skipWithout } from "../support/needs.ts";

const root = join(import.meta.dirname, "../..");

describe("Python", { skip: skipWithout("full", "python"), timeout: 600_000 }, () => {
  let runner: KitRunner;
  let kit: string;
  const bin = (name: string): string => join(runner.directory, "venv/bin", name);
  before(async () => {
    runner = openKitRunner();
    kit = join(runner.directory, "kit");
    cpSync(join(root, "kit/python"), kit, { recursive: true });
    await succeed(["python3", "-m", "venv", join(runner.directory, "venv")]);
    await succeed([bin("pip"), "install", "--quiet", "--requirement", "tests/requirements.txt", kit]);
  });
  after(() => runner.close());

  async function succeed(command: readonly [string, ...string[]]): Promise<void> {
    const { code, output } = await runner.run(command, kit);
    assert.equal(code, 0, output);
  }

  test("the tests of the kit pass", () => succeed([bin("pytest"), "--quiet", "tests"]));

  test("the tests of the example pass", async () => {
    const example = join(runner.directory, "example");
    cpSync(join(root, "examples/python"), example, { recursive: true });
    await succeed([bin("pip"), "install", "--quiet", "--requirement", join(example, "requirements.txt")]);
    await succeed([bin("pytest"), "--quiet", example]);
  });

  test("the kit has types", () => succeed([bin("mypy"), "src"]));
});
