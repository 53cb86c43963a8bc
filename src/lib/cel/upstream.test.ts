/**
 * Compares errors, values, types and costs of expressions, mostly invalid ones, with recorded
 * results of cel-go. `npm run golden cel` records the results again.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import {
  boolType,
  CelError,
  CelSyntaxError,
  type CelType,
  dynType,
  formatType,
  intType,
  type JsonValue,
  jsonValue,
  kubernetesEnvironment,
  listType,
  mapType,
  stringType,
} from "./index.ts";

interface Row {
  readonly expr: string;
  readonly data?: JsonValue;
  readonly variables?: Readonly<Record<string, string>>;
  readonly unchecked?: boolean;
  readonly error?: string;
  readonly type?: string;
  readonly min?: number;
  readonly cost?: number;
}

/** Expressions with another result, and the reason. A row without a difference fails the test. */
const differing = new Map([
  ["[?self.x]", "cel-go panics"],
  ["google.protobuf.Duration{}", "no protobuf messages"],
  ["google.protobuf.Duration{seconds: 1}", "no protobuf messages"],
  ["google.protobuf.Timestamp{seconds: 'a'}", "no protobuf messages"],
  ["google.protobuf.Int32Value{value: 1}", "no protobuf messages"],
  ["google.protobuf.Value{}", "no protobuf messages"],
  ["int{a: 1}", "cel-go reports an error for the fields too"],
  ["self[self]", "the message has the type's name in Go"],
  ["!-self.n + u * (2 - 1) / 4 % 5", "a sign after another sign"],
  ["has(self.a) ? self.a.b[0] : {'a': [elf..a) ? self.a.b[0] : {'a': [1, ", "a dot without a name inside brackets"],
  ["has(self.a) ? self.a.b[0] : {'a': [1, 2.[5], 'b': []}.a", "a dot without a name inside brackets"],
  ["[1, ?self., 3][?0].hasValue)", "a dot without a name inside brackets"],
  ["!-", "a sign after another sign"],
  ["-!", "a sign after another sign"],
]);

const types = new Map<string, CelType>([
  ["bool", boolType],
  ["int", intType],
  ["string", stringType],
  ["list", listType(stringType)],
  ["map", mapType(stringType, stringType)],
]);

const base = kubernetesEnvironment([1, 36]);

interface Outcome {
  error: string;
  type?: string;
  min?: number;
  cost?: number;
}

function outcomeOf({ expr, data = null, variables = {}, unchecked }: Row): Outcome {
  const declared = Object.entries(variables).map(([name, type]) => ({ name, type: types.get(type) as CelType }));
  const environment = base.extend({ variables: [{ name: "self", type: dynType }, ...declared] });
  const outcome: Outcome = { error: "" };
  try {
    const checked = unchecked === true ? environment.unchecked(environment.parse(expr)) : environment.compile(expr);
    outcome.type = formatType(checked.type);
    const estimated = environment.estimateCost(unchecked === true ? { ...checked, references: new Map() } : checked);
    outcome.min = Number(estimated.min);
    const program = environment.plan(checked);
    outcome.cost = program.evaluate(new Map([["self", jsonValue(data)]]), { costLimit: 10_000_000 }).cost;
  } catch (error) {
    assert.ok(error instanceof CelError || error instanceof CelSyntaxError, String(error));
    if (error instanceof CelError) outcome.cost = error.cost;
    outcome.error = error.message;
  }
  return outcome;
}

/** Replaces run-time names, which the recorded types use. */
function shortName(type: string): string {
  return type
    .replaceAll("google.protobuf.Timestamp", "timestamp")
    .replaceAll("google.protobuf.Duration", "duration")
    .replaceAll("null_type", "null");
}

const rows = readFileSync(join(import.meta.dirname, "testdata/upstream.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);

test(`returns the results of cel-go for ${rows.length} expressions`, () => {
  const wrong: unknown[] = [];
  for (const row of rows) {
    const expected: Outcome = { error: (row.error ?? "").replace(/^plan: /, "") };
    if (row.type !== undefined) expected.type = shortName(row.type);
    if (row.min !== undefined) expected.min = row.min;
    if (row.cost !== undefined) expected.cost = row.cost;
    const actual = outcomeOf(row);
    if (/\btype\b/.test(row.type ?? "")) expected.type = actual.type; // Recorded types of types have another format.
    const reason = differing.get(row.expr);
    if (isDeepStrictEqual(actual, expected) !== (reason === undefined))
      wrong.push({ expr: row.expr, actual, expected, reason });
  }
  assert.deepEqual(wrong, []);
});
