/** The examples in docstrings run, and print what their comments say. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { docstringExamples } from "./support/docstring-examples.ts";
import { runProgram } from "./support/run-program.ts";

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
    const expected = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => `${text}\n`);
    assert.equal(await runProgram(code), expected.join(""));
  });
}
