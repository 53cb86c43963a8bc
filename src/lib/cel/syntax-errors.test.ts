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

/** Long expressions, and what cel-go 0.26.0 reports of them: how many errors, those of its parser, the last line. */
const long: readonly [repeated: string, times: number, errors: number, ofParser: number, last: RegExp][] = [
  ["#", 50, 51, 1, /:1:51: Syntax error: mismatched input '<EOF>' expecting/],
  ["#", 99, 100, 1, /:1:100: Syntax error: mismatched input '<EOF>' expecting/],
  ["#", 100, 100, 0, /^1 more errors were truncated$/],
  ["#", 101, 100, 0, /^1 more errors were truncated$/],
  ["#", 50_000, 100, 0, /^1 more errors were truncated$/],
  ["a #\n", 200, 100, 1, /^1 more errors were truncated$/],
  ["[#]", 120, 100, 33, /^1 more errors were truncated$/],
  ["a + # * b", 150, 100, 50, /^1 more errors were truncated$/],
  ["a ? # ", 150, 100, 1, /^1 more errors were truncated$/],
  ["f(#, 1) # +", 150, 100, 33, /^1 more errors were truncated$/],
  ["+ #", 150, 63, 32, /:1:93: Syntax error: token recognition error at: '#'$/],
  ["x y ", 300, 2, 2, /:1:3: Syntax error: mismatched input 'y' expecting <EOF>$/],
  [", ", 300, 2, 2, /:1:1: Syntax error: mismatched input ',' expecting/],
  ["[1 2 ", 200, 3, 3, /:1:9: Syntax error: mismatched input '2' expecting '\]'$/],
];

for (const [repeated, times, errors, ofParser, last] of long)
  test(`reports as many errors as cel-go for ${times} times ${JSON.stringify(repeated)}`, () => {
    const lines = (errorsOf(repeated.repeat(times))[0] as string).split("\n").filter((line) => !line.startsWith(" |"));
    const reported = lines.filter((line) => line.startsWith("ERROR:"));
    assert.equal(reported.length, errors);
    assert.equal(reported.filter((line) => !line.includes("token recognition error")).length, ofParser);
    assert.match(lines.at(-1) as string, last);
  });

test("stops where cel-go skips too many tokens", () => {
  const [first = ""] = errorsOf("x y ".repeat(300));
  assert.match(first, /^ERROR: <input>:-1:0: error recovery token lookahead limit exceeded: 256\n/);
  assert.doesNotMatch(errorsOf(`x${" y".repeat(256)}`)[0] as string, /limit/);
});
