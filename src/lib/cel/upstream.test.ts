/**
 * What upstream's library makes of expressions, wrong ones above all: its complaints, letter by letter, and its values, types and costs.
 * `go run . < testdata/upstream.jsonl` in tools/golden/cel makes the answers anew from the rows.
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

/** Expressions whose answers differ, and why; each must. */
const differing = new Map([
  ["[?self.x]", "upstream panics"],
  ["google.protobuf.Duration{}", "no protobuf messages"],
  ["google.protobuf.Duration{seconds: 1}", "no protobuf messages"],
  ["google.protobuf.Timestamp{seconds: 'a'}", "no protobuf messages"],
  ["google.protobuf.Int32Value{value: 1}", "no protobuf messages"],
  ["google.protobuf.Value{}", "no protobuf messages"],
  ["int{a: 1}", "upstream complains of the fields as well"],
  ["[1, ?se, ?self.?x, 3][?0].hasValue()", "upstream complains twice of what has no type"],
  ["dyn(quantity('1')).all(x, true)", "the message has the type's name in Go"],
  ["self[self]", "the message has the type's name in Go"],
  ["!-self.n + u * (2 - 1) / 4 % 5", "a sign after another sign"],
  [
    "has(self.a) ? self.a.b[0] : {'a': [elf..a) ? self.a.b[0] : {'a': [1, ",
    "a dot within brackets that nothing follows",
  ],
  ["has(self.a) ? self.a.b[0] : {'a': [1, 2.[5], 'b': []}.a", "a dot within brackets that nothing follows"],
  ["[1, ?self., 3][?0].hasValue)", "a dot within brackets that nothing follows"],
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

interface Answer {
  error: string;
  type?: string;
  min?: number;
  cost?: number;
}

function answerTo({ expr, data = null, variables = {}, unchecked }: Row): Answer {
  const declared = Object.entries(variables).map(([name, type]) => ({ name, type: types.get(type) as CelType }));
  const environment = base.extend({ variables: [{ name: "self", type: dynType }, ...declared] });
  const answer: Answer = { error: "" };
  try {
    const checked = unchecked === true ? environment.unchecked(environment.parse(expr)) : environment.compile(expr);
    answer.type = formatType(checked.type);
    const estimated = environment.estimateCost(unchecked === true ? { ...checked, references: new Map() } : checked);
    answer.min = Number(estimated.min);
    const program = environment.plan(checked);
    answer.cost = program.evaluate(new Map([["self", jsonValue(data)]]), { costLimit: 10_000_000 }).cost;
  } catch (error) {
    assert.ok(error instanceof CelError || error instanceof CelSyntaxError, String(error));
    if (error instanceof CelError) answer.cost = error.cost;
    answer.error = error.message;
  }
  return answer;
}

/** What a result is of is called by its name at run time there, types of types apart. */
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

test(`upstream's answers to ${rows.length} expressions`, () => {
  const wrong: unknown[] = [];
  for (const row of rows) {
    const wanted: Answer = { error: (row.error ?? "").replace(/^plan: /, "") };
    if (row.type !== undefined) wanted.type = shortName(row.type);
    if (row.min !== undefined) wanted.min = row.min;
    if (row.cost !== undefined) wanted.cost = row.cost;
    const found = answerTo(row);
    if (/\btype\b/.test(row.type ?? "")) wanted.type = found.type; // Types of types are written in another way there.
    const reason = differing.get(row.expr);
    if (isDeepStrictEqual(found, wanted) !== (reason === undefined))
      wrong.push({ expr: row.expr, found, wanted, reason });
  }
  assert.deepEqual(wrong, []);
});
