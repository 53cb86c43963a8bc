import assert from "node:assert/strict";
import { test } from "node:test";
import { findWrappers } from "./starter.ts";

const certDir = "--cert-dir=/tmp/k8s_test_framework_1";

/** The process has the parent 10. */
const rows: [
  title: string,
  argv: string[],
  processes: Record<number, [parent: number, command: string]>,
  wrappers: [pid: number, parent: number][],
][] = [
  ["the test process itself", [certDir], { 10: [5, "operator.test -test.v"] }, []],
  ["a script", [certDir], { 10: [5, `/bin/sh run ${certDir} --v=1`], 5: [4, "operator.test"] }, [[10, 5]]],
  [
    "a script in a script",
    ["--v=1", certDir],
    { 10: [9, `sh in ${certDir}`], 9: [5, `sh out ${certDir}`], 5: [4, "operator.test"] },
    [
      [10, 9],
      [9, 5],
    ],
  ],
  ["a flag that is part of another one", [certDir], { 10: [5, `x ${certDir}2`] }, []],
  ["a flag without a value", ["--controllers="], { 10: [5, "operator.test --controllers= "] }, []],
  ["an argument that is not a flag", ["run=1"], { 10: [5, "operator.test run=1"] }, []],
  ["no arguments", [], { 10: [5, "operator.test"] }, []],
  ["a process that has ended", [certDir], {}, []],
];
for (const [title, argv, processes, wrappers] of rows) {
  test(`findWrappers: ${title}`, () => {
    const table = { parentOf: (pid: number) => processes[pid]?.[0], commandOf: (pid: number) => processes[pid]?.[1] };
    assert.deepEqual(findWrappers(table, 10, argv), wrappers);
  });
}

test("findWrappers ends when a process is its own parent", () => {
  const table = { parentOf: () => 10, commandOf: () => certDir };
  assert.equal(findWrappers(table, 10, [certDir]).length, 8);
});
