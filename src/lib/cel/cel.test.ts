/** Error messages with carets, failures, costs, and limits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import {
  boolType,
  CelError,
  CelSyntaxError,
  dynType,
  fixed,
  homogeneousLiterals,
  intType,
  jsonValue,
  listType,
  mapType,
  optionalTypes,
  standardEnvironment,
  stringType,
  twoVariableComprehensions,
} from "./index.ts";

const environment = standardEnvironment().extend(optionalTypes, twoVariableComprehensions, {
  variables: [
    { name: "self", type: dynType },
    { name: "names", type: listType(stringType) },
    { name: "labels", type: mapType(stringType, stringType) },
    { name: "n", type: intType },
    { name: "ok", type: boolType },
  ],
  validators: [homogeneousLiterals],
  features: { crossTypeNumericComparisons: true, presenceTestCost: 0, foldConstants: true },
});

const self = { replicas: 2, maxReplicas: 3, items: [{ name: "ab" }, { name: "ac" }], nested: { deep: null } };
const bindings = new Map([
  ["self", jsonValue(self)],
  ["names", jsonValue(["a", "bb"])],
  ["labels", jsonValue({ a: "b", __proto__x: "c" })],
  ["n", jsonValue(5)],
  ["ok", true],
]);

const operands =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

const syntaxErrors: [text: string, message: string][] = [
  [
    "1 + +",
    `ERROR: <input>:1:5: Syntax error: mismatched input '+' expecting ${operands}\n | 1 + +\n | ....^\nERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting ${operands}\n | 1 + +\n | .....^`,
  ],
  [
    "1 + $",
    `ERROR: <input>:1:5: Syntax error: token recognition error at: '$'\n | 1 + $\n | ....^\nERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting ${operands}\n | 1 + $\n | .....^`,
  ],
  [
    "a | b",
    "ERROR: <input>:1:3: Syntax error: token recognition error at: '| '\n | a | b\n | ..^\nERROR: <input>:1:5: Syntax error: extraneous input 'b' expecting <EOF>\n | a | b\n | ....^",
  ],
  [
    "self.true == 1",
    "ERROR: <input>:1:6: Syntax error: mismatched input 'true' expecting IDENTIFIER\n | self.true == 1\n | .....^",
  ],
  ["{a}", "ERROR: <input>:1:3: Syntax error: mismatched input '}' expecting ':'\n | {a}\n | ..^"],
  ["as", "ERROR: <input>:1:1: reserved identifier: as\n | as\n | ^"],
  ["has(n)", "ERROR: <input>:1:5: invalid argument to has() macro\n | has(n)\n | ....^"],
  [
    "1 + 'a'",
    "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^",
  ],
  [
    "x\n  && y",
    "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^\nERROR: <input>:2:6: undeclared reference to 'y' (in container '')\n |   && y\n | .....^",
  ],
  ["[1, 'a']", "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, 'a']\n | ....^"],
  [
    "names.all(x, 1)",
    "ERROR: <input>:1:14: expected type 'bool' but found 'int'\n | names.all(x, 1)\n | .............^",
  ],
  [
    "n.all(x, true)",
    "ERROR: <input>:1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)\n | n.all(x, true)\n | ^",
  ],
  [
    "'😁' + 1",
    "ERROR: <input>:1:5: found no matching overload for '_+_' applied to '(string, int)'\n | '😁' + 1\n | .．..^",
  ],
  [
    "names.size(1)",
    "ERROR: <input>:1:11: found no matching overload for 'size' applied to 'list(string).(int)'\n | names.size(1)\n | ..........^",
  ],
  // Recorded from kube-apiserver: the type of the first branch or item is kept with an error.
  [
    "(true ? 1 : foo) + 'a'",
    "ERROR: <input>:1:13: undeclared reference to 'foo' (in container '')\n | (true ? 1 : foo) + 'a'\n | ............^\nERROR: <input>:1:18: found no matching overload for '_+_' applied to '(int, string)'\n | (true ? 1 : foo) + 'a'\n | .................^",
  ],
  [
    "(true ? foo : 1) + 'a'",
    "ERROR: <input>:1:9: undeclared reference to 'foo' (in container '')\n | (true ? foo : 1) + 'a'\n | ........^",
  ],
  [
    "[foo, null][0] + 1",
    "ERROR: <input>:1:2: undeclared reference to 'foo' (in container '')\n | [foo, null][0] + 1\n | .^\nERROR: <input>:1:16: found no matching overload for '_+_' applied to '(null, int)'\n | [foo, null][0] + 1\n | ...............^",
  ],
  [
    "(true ? null : timestamp('x')) + 1u",
    "ERROR: <input>:1:32: found no matching overload for '_+_' applied to '(null, uint)'\n | (true ? null : timestamp('x')) + 1u\n | ...............................^",
  ],
  [
    "[timestamp('x'), null][0] + 1u",
    "ERROR: <input>:1:27: found no matching overload for '_+_' applied to '(null, uint)'\n | [timestamp('x'), null][0] + 1u\n | ..........................^",
  ],
];

for (const [text, message] of syntaxErrors) {
  test(`reports a syntax error: ${JSON.stringify(text)}`, () => {
    assert.throws(() => environment.compile(text), { name: "CelSyntaxError", message });
  });
}

const failures: [text: string, message: string][] = [
  ["self.x", "no such key: x"],
  ["names[3]", "index out of bounds: 3"],
  ["names[-1] == ''", "index out of bounds: -1"],
  ["1 / (n - 5) > 0", "division by zero"],
  ["1 % (n - 5) > 0", "modulus by zero"],
  ["9223372036854775807 + n > 0", "integer overflow"],
  ["self + 1", "no such overload: _+_"],
  ["labels['q']", "no such key: q"],
  ["'a'.matches(names[0] + '[')", "error parsing regexp: missing closing ]: `[`"],
];

for (const [text, message] of failures) {
  test(`fails: ${text}`, () => {
    const program = environment.plan(environment.compile(text));
    assert.throws(() => program.evaluate(bindings), { name: "CelError", message });
  });
}

/**
 * Run-time costs and estimates. `max` is missing where the size of the data, and so the cost, is
 * unlimited.
 */
const costs: [text: string, actual: number, min: bigint, max?: bigint][] = [
  ["n", 1, 1n, 1n],
  ["self.replicas <= self.maxReplicas", 5, 4n],
  ["has(self.replicas)", 1, 1n, 1n],
  ["has(self.nested.deep)", 2, 1n],
  ["[1, 2]", 0, 10n, 10n],
  ["[n, 2]", 11, 11n, 11n],
  ["{'a': n}", 31, 31n, 31n],
  ["n in [1, 2]", 1, 3n + 10n, 13n],
  ["ok ? n : 3", 1, 1n, 2n],
  ["names.all(x, true)", 8, 2n],
  ["names.exists(x, x == 'bb')", 14, 2n],
  ["'abc'.startsWith('a')", 1, 1n, 1n],
  ["'abc'.matches('^a')", 1, 1n, 1n],
  ["duration('1h') > duration('1m')", 1, 3n, 3n],
];

for (const [text, actual, min, max] of costs) {
  test(`costs ${actual}: ${text}`, () => {
    const checked = environment.compile(text);
    const estimated = environment.estimateCost(checked);
    assert.equal(environment.plan(checked).evaluate(bindings).cost, actual);
    if (max !== undefined) assert.deepEqual(estimated, { min, max });
  });
}

test("size hints limit the estimated cost", () => {
  const checked = environment.compile("names.all(x, x == 'abcdefghijk')");
  const sizes = new Map([
    ["names", 10],
    ["names.@items", 20],
  ]);
  const estimated = environment.estimateCost(checked, {
    estimateSize: ({ path }) =>
      sizes.has(path?.join(".") ?? "") ? { min: 0n, max: fixed(sizes.get(path?.join(".") ?? "") ?? 0).max } : undefined,
  });
  assert.deepEqual(estimated, { min: 2n, max: 62n });
});

test("an evaluation ends at the cost limit or when interrupted", () => {
  const program = environment.plan(environment.compile("names.all(x, names.all(y, x != y || true))"));
  assert.throws(() => program.evaluate(bindings, { costLimit: 10 }), {
    reason: "cost",
    message: "operation cancelled: actual cost limit exceeded",
  });
  const many = new Map([["names", jsonValue(Array.from({ length: 200 }, String))]]);
  const wide = environment.plan(environment.compile("names.all(x, true)"));
  assert.throws(() => wide.evaluate(many, { isInterrupted: () => true }), {
    reason: "interrupted",
    message: "operation interrupted",
  });
});

const tooLarge: [name: string, text: string, message: RegExp][] = [
  ["too long", `'${"a".repeat(100_001)}'`, /code point size exceeds limit: size: 100003, limit 100000/],
  ["nested brackets", "[".repeat(5000), /expression recursion limit exceeded: 250/],
  ["a long sum", `1${" + 1".repeat(5000)}`, /max recursion depth exceeded/],
  ["a long chain", `self${".a".repeat(5000)}`, /max recursion depth exceeded/],
  ["a huge integer", "9".repeat(5000), /invalid int literal/],
  ["a huge double", `1e${"9".repeat(400)}`, /invalid double literal/],
];

for (const [name, text, message] of tooLarge) {
  test(`rejects an expression above a limit: ${name}`, () =>
    assert.throws(() => environment.compile(text), { name: "CelSyntaxError", message }));
}

test("compiles nested macros that use their target twice in linear time", () => {
  const text = `optional.of(1)${".optMap(x, x + 1)".repeat(40)}.hasValue()`;
  const program = environment.plan(environment.compile(text));
  assert.throws(() => program.evaluate(bindings, { costLimit: 100_000 }), { reason: "cost" });
});

const pieces =
  "self n ok names labels .a .replicas [0] ['a'] [?0] .?b ( ) [ ] { } , : ? && || ! - + * / % == < in 1 2u 1.5 'x' b'y' null true .all(x, .exists(x, .map(x, .filter(x, has( x size( string( duration('1h') optional.of( .orValue( @ ` \" 'é😁' 0x 1e \n".split(
    " ",
  );

test("random texts throw only errors of the library", () => {
  const count = process.env.COXSWAIN_TEST_FULL === "1" ? 200_000 : 5_000;
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let at = 0; at < count; at++) {
    const text = Array.from({ length: 1 + random(12) }, () => pieces[random(pieces.length)]).join(
      random(2) === 0 ? "" : " ",
    );
    try {
      environment.plan(environment.compile(text)).evaluate(bindings, { costLimit: 10_000 });
    } catch (error) {
      const isExpected = error instanceof CelSyntaxError || error instanceof CelError;
      assert.ok(isExpected, `SEED=${seed} ${JSON.stringify(text)}: ${(error as Error).stack}`);
    }
  }
});
