import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { valueValidator } from "./value-validator.ts";

const names = Array.from({ length: 40_000 }, (_, number) => `name-${number}`);

/** The number of errors of a list whose items have a long enumeration. */
function errorsOf(items: readonly unknown[], allowed: readonly unknown[]): number {
  const errors = new FieldErrors();
  valueValidator({ type: "array", items: { enum: [...allowed] } }).validate(items, "spec.list", errors);
  return errors.causes.length;
}

// Each value was compared with each of the enumeration, which takes minutes.
test("validates a long list of a long enumeration in linear time", () => {
  assert.equal(errorsOf(names, names), 0);
  assert.equal(errorsOf([...names.keys()], [...names.keys()]), 0);
});

// Each error had a text of its own with all values, so that the texts of a list needed gigabytes.
test("ends the errors of a long enumeration at the limit of their messages", () => {
  assert.ok(errorsOf(names.slice(0, 5000), names.slice(5000)) < 100);
});

test("compares values of an enumeration by type", () => {
  const allowed = [null, true, "1", 2, 2.5, { a: 1 }, [1]];
  for (const [value, errors] of [
    [null, 1],
    [true, 0],
    [false, 1],
    ["1", 0],
    [1, 1],
    ["2", 1],
    [2, 0],
    [2.5, 0],
    [2.25, 0], // Go compares the whole parts with an integer.
    [{ a: 1 }, 0],
    [{ a: 2 }, 1],
    [[1], 0],
    [49, 0], // The code of "1".
  ] as const)
    assert.equal(errorsOf([value], allowed), errors, JSON.stringify(value));
});
