/** The examples in docstrings run, and print what their comments say. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { docstringExamples } from "./support/docstring-examples.ts";
import { importingSources } from "./support/package-sources.ts";

const root = join(import.meta.dirname, "..");
const examples = docstringExamples();

/** The exports that users meet first. */
const required = [
  ...["startServer", "ServerOptions", "RunningServer", "defaultOptions", "ServiceResolver", "Logger"],
  ...["kubernetesEnvironment", "Environment", "Program", "CelSyntaxError"],
  ...["applyIntent", "MergeContext", "decodeFieldsV1"],
  ...["startTestServer", "startControlledServer", "virtualClock", "eventually", "object", "stable"],
];

test("the exports that users meet first have an example", () => {
  const named = examples.map(({ title }) => title.split(": ")[1] as string);
  assert.deepEqual([...named].sort(), [...required].sort());
});

for (const { title, code } of examples) {
  test(`${title}: the example prints what its comments say`, async () => {
    const source = importingSources(code);
    const expected = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module-typescript", "--eval", source],
      { cwd: root, timeout: 120_000, env: { ...process.env, NODE_TEST_CONTEXT: undefined } },
    );
    assert.deepEqual(stdout.split("\n").slice(0, -1), expected);
  });
}
