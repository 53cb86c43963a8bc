/** Upstream's own complaints about its parser's cases, letter by letter. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CelSyntaxError, optionalTypes, standardEnvironment } from "./index.ts";

const testdata = "@bufbuild/cel-spec/testdata/parsing.js"; // Its own types want the protobuf library.
const { tests: suite } = (await import(testdata)) as {
  tests: { tests: { original: { expr: string }; error?: string }[] };
};

/** Cases by how they start, and why they differ; each must. */
const differing = new Map([
  ["[].existsOne(__result__", "Kubernetes has the macro under its older name only"],
  ["a ? b ((?))", "we do not count recoveries"],
  ["ó", "we do not count tokens skipped"],
  ["x{?.", "optional syntax and recoveries"],
]);

/** With upstream's limit of 32 levels, or syntax that Kubernetes leaves off and that was on. */
const elsewhere = /limit exceeded: 32|max recursion|`/;

const plain = standardEnvironment();
const environments = [plain, plain.extend(optionalTypes)];

function complaintsOf(expr: string): string[] {
  return environments.map((environment) => {
    try {
      environment.compile(expr);
      return "none";
    } catch (error) {
      if (error instanceof CelSyntaxError) return error.message;
      throw error;
    }
  });
}

for (const { original, error } of suite.tests) {
  if (error === undefined || elsewhere.test(error)) continue;
  test(`complaint about ${JSON.stringify(original.expr).slice(0, 60)}`, () => {
    const wanted = error.replaceAll("ERROR: :", "ERROR: <input>:");
    const found = complaintsOf(original.expr);
    const reason = [...differing].find(([start]) => original.expr.startsWith(start))?.[1];
    if (reason !== undefined) assert.ok(!found.includes(wanted), `it is as upstream's now; listed because ${reason}`);
    else if (!found.includes(wanted)) assert.equal(found[0], wanted);
  });
}
