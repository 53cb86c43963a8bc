/** The TypeScript examples of the documents run. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");

for (const document of ["README.md", "docs/controller-tests.md"]) {
  const text = readFileSync(join(root, document), "utf8");
  for (const [index, [, code = ""]] of [...text.matchAll(/^```ts\n(.*?)^```$/gms)].entries()) {
    test(`${document}: TypeScript example ${index + 1} runs`, () => {
      const source = code.replace('from "coxswain"', 'from "./src/index.ts"');
      const { status, stderr, stdout } = spawnSync(process.execPath, ["--input-type=module-typescript"], {
        cwd: root,
        input: source,
        encoding: "utf8",
        timeout: 120_000,
        env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      });
      assert.equal(status, 0, stdout + stderr);
    });
  }
}
