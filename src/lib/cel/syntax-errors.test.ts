/** Compares syntax errors with those of cel-go for its own parser tests. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CelSyntaxError, optionalTypes, standardEnvironment } from "./index.ts";

const testdata = "@bufbuild/cel-spec/testdata/parsing.js"; // Its types require the protobuf library.
const { tests: suite } = (await import(testdata)) as {
  tests: { tests: { original: { expr: string }; error?: string }[] };
};

/**
 * Starts of expressions with another error, and the reason. A row without a difference fails the
 * test.
 */
const differing = new Map([
  ["[].existsOne(__result__", "Kubernetes has the macro under its older name only"],
  ["a ? b ((?))", "the parser counts recoveries in another way"],
  ["ó", "the parser does not count skipped tokens"],
  ["x{?.", "optional syntax and recoveries"],
]);

/** Errors of cases with other limits, or with syntax that Kubernetes does not enable. */
const otherOptions = /limit exceeded: 32|max recursion|`/;

const plain = standardEnvironment();
const environments = [plain, plain.extend(optionalTypes)];

function errorsOf(expr: string): string[] {
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
  if (error === undefined || otherOptions.test(error)) continue;
  test(`reports the error of cel-go for ${JSON.stringify(original.expr).slice(0, 60)}`, () => {
    const expected = error.replaceAll("ERROR: :", "ERROR: <input>:");
    const errors = errorsOf(original.expr);
    const reason = [...differing].find(([start]) => original.expr.startsWith(start))?.[1];
    if (reason !== undefined) assert.ok(!errors.includes(expected), `no longer differs; listed because ${reason}`);
    else if (!errors.includes(expected)) assert.equal(errors[0], expected);
  });
}

for (const part of [")-", "!]", "-||", "(-)", "[-]", "{-}", "f(-)", "a.-", "a?-", "- ", "!", "(", "[", "a[", "T{a:"]) {
  test(`parses or rejects ${JSON.stringify(part)}, repeated to 50,000 characters, without a deep stack`, () => {
    try {
      plain.parse(part.repeat(Math.floor(50_000 / part.length)));
    } catch (error) {
      assert.ok(error instanceof CelSyntaxError, String(error));
    }
  });
}
