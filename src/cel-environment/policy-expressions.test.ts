/**
 * Upstream's results for expressions of policies: types, values, errors, and the cost budget that is left.
 * `npm run golden cel-policies` records testdata/policies.jsonl again.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  boolType,
  CelList,
  type CelType,
  type CelValue,
  type JsonValue,
  listType,
  nullType,
  objectType,
  stringType,
} from "../lib/cel/index.ts";
import { intDecl, objectDecl } from "../lib/cel/schema-types/index.ts";
import { longName } from "./compile-expression.ts";
import { storedExpressions } from "./environments.ts";
import { runtimeBudget } from "./limits.ts";
import { jsonPatchName, ObjectValue, typeNameErrors } from "./mutation-types.ts";
import { plainValue } from "./plain-value.ts";
import { OutOfBudget } from "./policy-evaluator.ts";
import { PolicyCompiler } from "./policy-expressions.ts";

interface Expression {
  readonly name?: string;
  readonly text: string;
  readonly returns?: readonly string[];
  readonly type?: string;
  readonly compile?: string;
  readonly value?: string;
  readonly error?: string;
  readonly left?: number;
}

interface Row {
  readonly what: string;
  readonly patch?: boolean;
  readonly variables?: readonly Expression[];
  readonly expressions: readonly Expression[];
  readonly object?: JsonValue;
  readonly oldObject?: JsonValue;
  readonly params?: JsonValue;
  readonly request?: JsonValue;
  readonly namespaceObject?: JsonValue;
  readonly budget?: number;
  readonly fatal?: string;
}

const returnTypes = new Map<string, CelType>([
  ["bool", boolType],
  ["string", stringType],
  ["null", nullType],
  ["Object", objectType("Object")],
  ["JSONPatch", listType(objectType(jsonPatchName))],
]);

/** Formats a value like Go. */
function textOf(value: CelValue): string {
  if (value === null) return "NULL_VALUE";
  if (value instanceof CelList) return "[]";
  if (!(value instanceof ObjectValue)) return String(value);
  const sorted = JSON.stringify(plainValue(value), (_key, part) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  );
  return [sorted, ...typeNameErrors(value)].join(" ");
}

const rows = readFileSync(join(import.meta.dirname, "testdata/policies.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line): Row => JSON.parse(line));

function outcome(compiled: {
  readonly checked?: { readonly type: CelType } | undefined;
  readonly error?: string | undefined;
}): object {
  return { type: compiled.checked === undefined ? "" : longName(compiled.checked.type), compile: compiled.error ?? "" };
}

function resultsOf(row: Row): {
  readonly variables: unknown[];
  readonly expressions: unknown[];
  readonly fatal: string;
} {
  const options = { hasParams: row.params !== undefined, hasAuthorizer: false, hasPatchTypes: row.patch === true };
  const compiler = new PolicyCompiler(storedExpressions(), options);
  const { object = null, oldObject = null, request = null, namespaceObject = null, params = null } = row;
  const variables = (row.variables ?? []).map(({ name = "", text }) =>
    outcome(compiler.addVariable({ name, expression: text })),
  );
  let budget = row.budget ?? runtimeBudget;
  let fatal = "";
  const expressions = row.expressions.map(({ text, returns = [] }) => {
    const compiled = compiler.compile(
      text,
      returns.map((name) => returnTypes.get(name) as CelType),
    );
    const empty = { ...outcome(compiled), value: "", error: "", left: 0 };
    if (fatal !== "") return empty;
    const evaluator = compiler.evaluator({ object, oldObject, request, namespaceObject, params }, budget);
    try {
      const { value, error = "" } = evaluator.evaluate(compiled);
      budget = evaluator.budget;
      return { ...empty, value: value === undefined ? "" : textOf(value), error, left: budget };
    } catch (problem) {
      if (!(problem instanceof OutOfBudget)) throw problem;
      fatal = problem.message;
      return empty;
    }
  });
  return { variables, expressions, fatal };
}

for (const row of rows) {
  const results = resultsOf(row);
  for (const [index, { type = "", compile = "", name, text }] of (row.variables ?? []).entries()) {
    test(`${row.what}: ${name} is ${text}`, () => assert.deepEqual(results.variables[index], { type, compile }));
  }
  for (const [
    index,
    { type = "", compile = "", value = "", error = "", left = 0, text },
  ] of row.expressions.entries()) {
    test(`${row.what}: ${text}`, () =>
      assert.deepEqual(results.expressions[index], { type, compile, value, error, left }));
  }
  test(`${row.what}: fatal error`, () => assert.equal(results.fatal, row.fatal ?? ""));
}

test("evaluates and charges a variable once per request", () => {
  const compiler = new PolicyCompiler(storedExpressions(), {
    hasParams: false,
    hasAuthorizer: false,
    hasPatchTypes: false,
  });
  compiler.addVariable({ name: "big", expression: "object.l.map(x, x + 1).size()" });
  const compiled = compiler.compile("variables.big > 0", [boolType]);
  const object = { l: Array.from({ length: 100 }, (_, index) => index) };
  const evaluator = compiler.evaluator({ object, oldObject: null, request: null, namespaceObject: null }, 1500);
  assert.equal(evaluator.evaluate(compiled).value, true);
  const left = evaluator.budget;
  assert.equal(evaluator.evaluate(compiled).value, true);
  assert.deepEqual([left, left - evaluator.budget], [93, 3]);
});

test("returns type errors for warnings", () => {
  const objectType = objectDecl("Widget", { replicas: intDecl });
  const compiler = new PolicyCompiler(storedExpressions(), {
    hasParams: false,
    hasAuthorizer: true,
    hasPatchTypes: false,
    objectType,
  });
  assert.equal(compiler.typeIssues("object.replicas > 1 && authorizer.path('/x').check('get').allowed()"), undefined);
  const undefinedField = "ERROR: <input>:1:7: undefined field 'zzz'\n | object.zzz > 1\n | ......^";
  assert.equal(compiler.typeIssues("object.zzz > 1"), undefinedField);
});

test("an expression ends when its variables have spent the budget", () => {
  const compiler = new PolicyCompiler(storedExpressions(), {
    hasParams: false,
    hasAuthorizer: false,
    hasPatchTypes: false,
  });
  for (const name of ["a", "b", "c"]) compiler.addVariable({ name, expression: "object.all(x, x == x)" });
  let read = 0;
  const bindings = {
    get object() {
      read++;
      return Array.from({ length: 10 }, (_, at) => at);
    },
    oldObject: null,
    request: {},
    namespaceObject: null,
  };
  const sum = compiler.compile("variables.a && variables.b && variables.c && oldObject == null");
  assert.throws(() => compiler.evaluator(bindings, 20).evaluate(sum), OutOfBudget);
  assert.equal(read, 1);
  assert.equal(compiler.evaluator(bindings, 1000).evaluate(sum).value, true);
});

test("an expression that asks for the size of a map again does not count its keys again", () => {
  const compiler = new PolicyCompiler(storedExpressions(), {
    hasParams: false,
    hasAuthorizer: false,
    hasPatchTypes: false,
  });
  let counted = 0;
  const ownKeys = (target: object): (string | symbol)[] => {
    counted++;
    return Reflect.ownKeys(target);
  };
  const data = new Proxy<Record<string, number>>({ a: 1, b: 2, c: 3 }, { ownKeys });
  const bindings = { object: { other: {}, data }, oldObject: null, request: {}, namespaceObject: null };
  const expression = compiler.compile("object.data.all(k, object.other.size() < object.data.size())");
  assert.equal(compiler.evaluator(bindings, 1000).evaluate(expression).value, true);
  assert.equal(counted, 1);
});
