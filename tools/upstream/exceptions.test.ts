/** A failure that is not listed, and a listed test that passes, are reported. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readList } from "./conformance/list.ts";
import { compareWithExceptions, type Exception, kinds, type Outcome } from "./exceptions.ts";
import { readExceptions } from "./integration/exceptions.ts";

const outcomes: Outcome[] = [
  { name: "A", state: "passed" },
  { name: "B/x", state: "failed" },
  { name: "B/y", state: "passed" },
  { name: "C", state: "skipped" },
  { name: "Bx", state: "passed" },
];

const rows: [title: string, listed: readonly string[], expected: object][] = [
  ["reports a failure that is not listed", [], { listed: [], unlisted: ["B/x"], unexpectedPasses: [] }],
  ["accepts a listed failure", ["B/x"], { listed: ["B/x"], unlisted: [], unexpectedPasses: [] }],
  ["accepts failures below a listed parent", ["B"], { listed: ["B/x"], unlisted: [], unexpectedPasses: [] }],
  ["reports a listed test that passes", ["A", "B"], { listed: ["B/x"], unlisted: [], unexpectedPasses: ["A"] }],
  ["reports no listed test that did not run", ["B", "C", "D"], { listed: ["B/x"], unlisted: [], unexpectedPasses: [] }],
];

for (const [title, tests, expected] of rows) {
  test(title, () => {
    const exceptions = tests.map((name): Exception => ({ test: name, kind: "decided", reason: "docs" }));
    assert.deepEqual(compareWithExceptions(outcomes, exceptions), { passed: 3, skipped: 1, ...expected });
  });
}

test("a test that measures time may pass", () => {
  const { unexpectedPasses } = compareWithExceptions(outcomes, [{ test: "A", kind: "timing", reason: "1 ms" }]);
  assert.deepEqual(unexpectedPasses, []);
});

const lists = { ...readExceptions(), conformance: readList().exceptions };
for (const [name, exceptions] of Object.entries(lists)) {
  test(`the exceptions of ${name} have a known kind and a reason, and are listed once`, () => {
    const wrong = exceptions.filter(({ kind, reason }) => !Object.hasOwn(kinds, kind) || reason.trim() === "");
    assert.deepEqual(wrong, []);
    assert.equal(new Set(exceptions.map(({ test }) => test)).size, exceptions.length);
  });
}
