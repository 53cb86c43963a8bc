/** The tutorial, from an empty directory to its passing tests. Its files can import only what its commands install. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { skipWithout } from "../support/needs.ts";
import { offlineNpm } from "../support/offline-npm.ts";
import { compiled, main } from "../support/program.ts";
import { runPage } from "../support/run-page.ts";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/tutorial.md"), "utf8");
const directory = mkdtempSync(join(tmpdir(), "coxswain-tutorial-"));
const environment = { NODE_COMPILE_CACHE: compiled };
const project = join(directory, "secrets-controller");
after(() => rmSync(directory, { recursive: true, force: true }));

function run(markdown: string, workingDirectory: string): Promise<void> {
  const scratch = mkdtempSync(join(directory, "scratch-"));
  return runPage(markdown, { directory: workingDirectory, scratch, programs: { npm: offlineNpm(main) }, environment });
}

describe("the tutorial", { skip: skipWithout("shell") }, () => {
  test("ends with passing tests", async () => {
    const clone = join(directory, "clone");
    mkdirSync(clone);
    await run(page, clone);
  });

  test("fails if its controller does nothing", async () => {
    const files = page.slice(page.indexOf("```ts"));
    const impatient = files.replaceAll(/^ {2}\}\);$/gm, "  }, { timeoutMs: 300 });");
    const idle = impatient.replace("if (limit === undefined) return;", "return;");
    await assert.rejects(run(idle, project), /the block at line \d+ fails.*ℹ fail 2.*did not pass within 300 ms/s);
  });
});
