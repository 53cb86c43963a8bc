/** What is logged and counted where both validations differ, and how much of it at most. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { validationMetrics } from "../metrics/validation-metrics.ts";
import type { ValidationMismatch } from "../registry/contract.ts";
import { validationObserver } from "./validation.ts";

const mismatch: ValidationMismatch = {
  field: "spec.a",
  reason: "FieldValueInvalid",
  origin: "minimum",
  handWritten: [],
  declarative: ["Invalid value: 1"],
};

function observe(act: (observer: ReturnType<typeof validationObserver>) => void): {
  lines: unknown[][];
  counts: Record<string, number>;
} {
  const metrics = validationMetrics();
  const lines: unknown[][] = [];
  const log = (...line: unknown[]): void => void lines.push(line);
  act(validationObserver(metrics, { info: log, warn: log, error: log }));
  const samples = metrics
    .collect()
    .flatMap(({ name, samples: all }) =>
      all.map(({ labels, value }) => [labels === "" ? name : `${name}{${labels}}`, value] as const),
    );
  return { lines, counts: Object.fromEntries(samples.filter(([, value]) => value > 0)) };
}

test("logs the field and the messages of both sides, and counts under every name", () => {
  const { lines, counts } = observe((observer) => observer.mismatched("thing_create", [mismatch]));
  assert.deepEqual(lines, [
    ["Declarative and hand-written validation differ", { validation: "thing_create", ...mismatch }],
  ]);
  assert.deepEqual(counts, {
    apiserver_validation_declarative_validation_mismatch_total: 1,
    'apiserver_validation_declarative_validation_parity_discrepancies_total{validation_identifier="thing_create"}': 1,
    declarative_validation_mismatch_total: 1,
  });
});

test("counts all mismatches of an object and logs the first of them, shortened", () => {
  const long = { ...mismatch, handWritten: Array(1000).fill("x".repeat(10_000)) };
  const { lines, counts } = observe((observer) => observer.mismatched("thing_create", Array(1000).fill(long)));
  assert.equal(lines.length, 10);
  assert.ok(JSON.stringify(lines).length < 50_000);
  assert.equal(counts.declarative_validation_mismatch_total, 1000);
});

test("logs and counts a rule that throws", () => {
  const error = new Error("no");
  const { lines, counts } = observe((observer) => observer.panic("thing_create", error));
  assert.deepEqual(lines, [["Declarative validation failed", { validation: "thing_create", err: error }]]);
  assert.deepEqual(counts, {
    apiserver_validation_declarative_validation_panic_total: 1,
    'apiserver_validation_declarative_validation_panics_total{validation_identifier="thing_create"}': 1,
  });
});

test("counts errors of an update that are equal to an earlier one", () => {
  const cause = { reason: "FieldValueInvalid", field: "metadata.labels", message: "Invalid value" };
  const { lines, counts } = observe((observer) =>
    observer.rejectedUpdate([cause, cause, { ...cause, field: "metadata.name" }, cause]),
  );
  assert.deepEqual(lines, []);
  assert.deepEqual(counts, { apiserver_validation_duplicate_validation_error_total: 2 });
});
