import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome, Suite, SuiteRun } from "./contract.ts";
import { differingTests, goOutcomes, junitOutcomes } from "./results.ts";

test("the outcomes of go test -json are those of top-level tests", () => {
  const line = (event: object): string => `${JSON.stringify({ Package: "example.com/a/b", ...event })}\n`;
  const output = [
    "go: downloading example.com/c v1.0.0\n",
    line({ Action: "run", Test: "TestA" }),
    line({ Action: "pass", Test: "TestA/one" }),
    line({ Action: "pass", Test: "TestA" }),
    line({ Action: "fail", Test: "TestB" }),
    line({ Action: "skip", Test: "TestC" }),
    line({ Action: "fail" }),
  ].join("");
  assert.deepEqual(goOutcomes(output), { "a/b.TestA": "pass", "a/b.TestB": "fail", "a/b.TestC": "skip" });
});

test("the outcomes of a JUnit report", () => {
  const report = `<?xml version="1.0"?><testsuites><testsuite name="s" tests="4">
    <testcase classname="tests.a" name="one[x &gt; y]" time="0.1" />
    <testcase classname="tests.a" name="two"><failure message="a">trace &lt;testcase</failure></testcase>
    <testcase classname="tests.a" name="three"><error message="b"/></testcase>
    <testcase classname="tests.a" name="four" time="0"><skipped/></testcase></testsuite></testsuites>`;
  assert.deepEqual(junitOutcomes(report), {
    "tests.a.one[x &gt; y]": "pass",
    "tests.a.two": "fail",
    "tests.a.three": "fail",
    "tests.a.four": "skip",
  });
});

test("tests that may differ, and equal ones, are not reported", () => {
  const run = (outcomes: Record<string, Outcome>): SuiteRun => ({ outcomes, seconds: 1, cpuSeconds: 0, memoryMiB: 0 });
  const suite = { differing: { b: "the API rejects its object" } } as unknown as Suite;
  const theirs = run({ a: "pass", b: "pass", c: "pass", d: "fail", e: "pass" });
  assert.deepEqual(differingTests(suite, run({ a: "pass", b: "fail", c: "fail", d: "fail" }), theirs), ["c", "e"]);
});
