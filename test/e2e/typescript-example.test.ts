/** The example of a controller in TypeScript: the commands of its README run. test/documented-types.test.ts checks its types. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import packageJson from "../../package.json" with { type: "json" };
import { skipWithout } from "../support/needs.ts";
import { offlineNpm } from "../support/offline-npm.ts";
import { compiled, main } from "../support/program.ts";
import { runPage } from "../support/run-page.ts";

const root = join(import.meta.dirname, "../..");
const example = join(root, "examples/typescript");
const environment = { NODE_COMPILE_CACHE: compiled };
const clone = mkdtempSync(join(tmpdir(), "coxswain-example-"));
after(() => rmSync(clone, { recursive: true, force: true }));

/** Shortens the wait of the test that fails. */
const impatient = `\`\`\`diff
+++ controller.test.ts
@@
-    { timeoutMs: 5000 },
+    { timeoutMs: 1500 },
\`\`\`

`;

describe("the example in TypeScript", { skip: skipWithout("shell") }, () => {
  test("passes, and finds the bug that its fake does not show", async () => {
    const [directory, scratch] = [join(clone, "examples/typescript"), join(clone, "scratch")];
    mkdirSync(scratch);
    cpSync(example, directory, { recursive: true });
    writeFileSync(join(clone, `coxswain-${packageJson.version}.tgz`), "");
    const page = readFileSync(join(example, "README.md"), "utf8");
    const failing = page.indexOf("```sh\nBUGGY=1 node --test controller.test.ts");
    const quick = page.slice(0, failing) + impatient + page.slice(failing);
    await runPage(quick, { directory, scratch, programs: { npm: offlineNpm(main) }, environment });
  });
});
