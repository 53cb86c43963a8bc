/** The time limit of expressions, with a clock that each reading advances. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { compileRules } from "./compile-rules.ts";
import { storedExpressions } from "./environments.ts";
import { PolicyEvaluator } from "./policy-evaluator.ts";
import { PolicyCompiler } from "./policy-expressions.ts";
import { TimeLimit } from "./time-limit.ts";
import { validateRules } from "./validate-rules.ts";

/**
 * @param stepMs between two readings of the clock, of which there is one for ten elements
 * @param cpuShare the part of that time in which this thread runs
 */
function limitOf(stepMs: number, cpuShare = 1): TimeLimit {
  let now = 0;
  return new TimeLimit({
    elapsed() {
      now += stepMs;
      return now;
    },
    cpu: () => now * cpuShare,
  });
}

const object = { names: Array.from({ length: 100 }, String) };
const text = "object.names.all(n, n != 'x')";
const interrupted = `expression '${text}' resulted in error: operation interrupted`;

for (const [stepMs, cpuShare, expected] of [
  [200, 1, undefined],
  [300, 1, interrupted],
  [800, 0.25, undefined],
  [1200, 0.25, interrupted],
  [100_000, 0, undefined],
] as const) {
  const takes = `takes ${stepMs * 10} ms, ${stepMs * 10 * cpuShare} ms of them on a CPU,`;
  test(`an expression that ${takes} ${expected === undefined ? "succeeds" : "is interrupted"}`, () => {
    const variables = { hasParams: false, hasAuthorizer: false, hasPatchTypes: false, hasVariables: false };
    const compiled = new PolicyCompiler(storedExpressions(), variables).compile(text);
    const bindings = { object, oldObject: null, request: null, namespaceObject: null };
    const evaluator = new PolicyEvaluator(bindings, new Map(), 1_000_000, limitOf(stepMs, cpuShare));
    for (const _ of [1, 2]) assert.equal(evaluator.evaluate(compiled).error, expected); // Each has its own time.
  });
}

test("a rule of a definition is interrupted, and the next one runs", () => {
  const rules = [{ rule: "self.names.all(n, n != 'x')" }, { rule: "self.names.size() < 5" }];
  const names = { type: "array", maxItems: 100, items: { type: "string", maxLength: 10 } } as const;
  const schema = { type: "object", properties: { names }, "x-kubernetes-validations": rules } as const;
  const root = compileRules(schema);
  assert.ok(root !== undefined);
  const errors = new FieldErrors();
  validateRules(root, { object, errors, keepUnchanged: false, optionalOldSelf: false, limit: limitOf(300) });
  assert.deepEqual(
    errors.causes.map(({ message }) => message?.replace(/^Invalid value: [^:]*: /, "")),
    ["operation interrupted evaluating rule: self.names.all(n, n != 'x')", "self.names.size() < 5"],
  );
});
