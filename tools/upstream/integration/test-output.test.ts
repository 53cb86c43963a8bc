/** Results are those of tests without subtests; a test that does not end has failed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readResults } from "./test-output.ts";

const rows: [title: string, output: string, results: readonly string[]][] = [
  [
    "passes, fails and is skipped",
    "--- PASS: A (0.01s)\n--- FAIL: B (1.00s)\n--- SKIP: C (0.00s)\n",
    ["A passed", "B failed", "C skipped"],
  ],
  [
    "counts subtests in place of their parents",
    "=== RUN   A\n=== RUN   A/x\n--- FAIL: A (0.01s)\n    --- PASS: A/x (0.00s)\n    --- FAIL: A/y_z (0.00s)\n        --- FAIL: A/y_z/#01 (0.00s)\n",
    ["A/x passed", "A/y_z/#01 failed"],
  ],
  ["counts a parent that fails itself", "--- FAIL: A (0.01s)\n    --- PASS: A/x (0.00s)\n", ["A failed", "A/x passed"]],
  [
    "counts tests that have not ended as failed",
    "=== RUN   A\n=== RUN   A/x\n    --- PASS: A/y (0.00s)\npanic: test timed out after 40m0s\n",
    ["A/x failed", "A/y passed"],
  ],
  ["finds results that follow other output of the same line", "some log--- PASS: A (0.01s)\n", ["A passed"]],
  ["has no results of a program that fails before its tests", "panic: no etcd\n", []],
];

for (const [title, output, results] of rows) {
  test(title, () => {
    const found = readResults(output).map(({ name, state }) => `${name} ${state}`);
    assert.deepEqual(found.sort(), results);
  });
}
