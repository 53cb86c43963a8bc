import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { addExpressionProblem } from "./expression-problem.ts";

for (const [problem, cause] of [
  [
    "compilation failed: ERROR",
    { reason: "FieldValueInvalid", message: 'Invalid value: "1": compilation failed: ERROR' },
  ],
  [
    "program instantiation failed: timestamp overflow",
    { reason: "InternalError", message: "Internal error: program instantiation failed: timestamp overflow" },
  ],
] as const)
  test(`an expression is rejected because of: ${problem}`, () => {
    const errors = new FieldErrors();
    addExpressionProblem(errors, "spec.a", "1", problem);
    assert.deepEqual(errors.causes, [{ ...cause, field: "spec.a" }]);
  });
