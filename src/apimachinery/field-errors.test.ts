import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldErrors } from "./field-errors.ts";

const boundRows: [what: string, value: string, causes: number][] = [
  ["short messages", "x", 1000],
  ["long messages", "x".repeat(1 << 20), 4],
];
for (const [what, value, causes] of boundRows) {
  test(`reports the first errors up to the limit: ${what}`, () => {
    const errors = new FieldErrors();
    for (let index = 0; index < 2000; index++) errors.invalid(`spec[${index}]`, value, "is wrong");
    assert.equal(errors.causes.length, causes);
    assert.equal(errors.causes.at(-1)?.field, `spec[${causes - 1}]`);
  });
}
