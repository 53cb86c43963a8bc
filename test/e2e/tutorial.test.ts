/** The tutorial, from an empty directory to its passing tests. Its files can import only what its commands install. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { offlineNpm } from "../support/offline-npm.ts";
import { runPage } from "../support/run-page.ts";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/tutorial.md"), "utf8");
const directory = mkdtempSync(join(tmpdir(), "coxswain-tutorial-"));
const project = join(directory, "secrets-controller");
after(() => rmSync(directory, { recursive: true, force: true }));

/** @param name of the directory that is the clone */
function run(markdown: string, name: string): Promise<void> {
  const [clone, scratch] = [join(directory, name), join(directory, `${name}-scratch`)];
  mkdirSync(clone);
  mkdirSync(scratch);
  return runPage(markdown, { directory: clone, scratch, programs: { npm: offlineNpm } });
}

const skip = process.platform === "win32" ? "the commands are for a POSIX shell" : false;

describe("the tutorial", { skip }, () => {
  test("ends with passing tests", () => run(page, "clone"));

  test("fails if its controller does nothing", async () => {
    const idle = page.replace("if (limit === undefined) return;", "return;");
    rmSync(project, { recursive: true });
    await assert.rejects(run(idle, "clone-of-idle"), /the block at line \d+ fails/);
  });
});
