import assert from "node:assert/strict";
import { test } from "node:test";
import { runnerLimitMs } from "./runner-limit.ts";

const rows: [what: string, context: unknown, limitMs: number | undefined][] = [
  ["the timeout of a test of Vitest", { task: { timeout: 7000 } }, 7000],
  ["no limit of Vitest", { task: { timeout: 0 } }, undefined],
  ["an infinite limit", Object.assign(() => {}, { task: { timeout: Number.POSITIVE_INFINITY } }), undefined],
  ["a context of node:test", { name: "a", signal: new AbortController().signal }, undefined],
  ["no context", undefined, undefined],
];
for (const [what, context, limitMs] of rows) {
  test(`finds ${what}`, () => assert.equal(runnerLimitMs(context), limitMs));
}
