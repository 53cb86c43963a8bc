/**
 * Every expression returns a value or throws an error of the library. Expressions are generated
 * from a grammar with all functions, or are mutated recorded ones. SEED=n replays a run;
 * COXSWAIN_TEST_FULL=1 runs more expressions.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { standardFunctions } from "./functions/standard/standard.ts";
import {
  CelError,
  CelSyntaxError,
  type CelType,
  type CheckedAst,
  dynType,
  type Environment,
  type FunctionDeclaration,
  intType,
  jsonPatchKeys,
  jsonValue,
  kubernetesEnvironment,
  kubernetesLibraries,
  listType,
  mapType,
  stringType,
} from "./index.ts";

const costLimit = 20_000;
const environment = kubernetesEnvironment([1, 36]).extend(jsonPatchKeys, {
  variables: [
    { name: "self", type: dynType },
    { name: "names", type: listType(stringType) },
    { name: "labels", type: mapType(stringType, intType) },
    { name: "n", type: intType },
  ],
});

const self = {
  text: "a\u00e9\u{1f600}b",
  broken: "\ud800x",
  whole: 3,
  big: 2n ** 62n,
  part: 0.5,
  none: null,
  yes: true,
  list: [1, "a", null, [2], { a: 1 }],
  map: { a: 1, "": 2, constructor: "c", nested: { a: [] } },
};
const bindings = new Map([
  ["self", jsonValue(self)],
  ["names", jsonValue(["a", "bb", ""])],
  ["labels", jsonValue({ a: 1, b: 2 })],
  ["n", jsonValue(7)],
]);

type Random = (below: number) => number;

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[random(items.length)] as Item;
}

const functions: readonly FunctionDeclaration[] = [
  ...standardFunctions,
  ...kubernetesLibraries.flatMap(({ library }) => library.functions),
];
const callable = functions
  .filter(({ name }) => /^[a-z]/i.test(name))
  .flatMap(({ name, overloads }) => overloads.map((overload) => ({ name, overload })));
const binary = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "in", "&&", "||"];
const macros = [
  "all",
  "exists",
  "exists_one",
  "map",
  "filter",
  "transformList",
  "transformMap",
  "optMap",
  "optFlatMap",
  "existsOne",
];
const leaves = new Map<string, readonly string[]>([
  [
    "int",
    ["0", "1", "-1", "7", "n", "9223372036854775807", "-9223372036854775808", "0x10", "self.whole", "self.big", "x"],
  ],
  ["uint", ["0u", "18446744073709551615u"]],
  ["double", ["0.0", "1.5", "-0.0", "1e308", "(1.0 / 0.0)", "(0.0 / 0.0)", "self.part"]],
  [
    "string",
    [
      "''",
      "'a'",
      "'\\u00e9\u{1f600}'",
      "self.text",
      "self.broken",
      "'%s %d'",
      "'1h'",
      "'2024-02-29T00:00:00Z'",
      "'(a*)*'",
      "'10Gi'",
      "'http://a:1/b?c=d'",
      "'1.2.3.4/8'",
      "'1.2.3'",
      "x",
    ],
  ],
  ["bool", ["true", "false", "self.yes"]],
  ["bytes", ["b''", "b'\\xff'", "b'a'"]],
  ["list", ["[]", "[1]", "['a', 'b']", "names", "self.list", "[[1], []]"]],
  ["map", ["{}", "{'a': 1}", "labels", "self.map", "{1: 2}"]],
  ["null", ["null", "self.none"]],
  ["timestamp", ["timestamp(0)", "timestamp('9999-12-31T23:59:59.999999999Z')"]],
  ["duration", ["duration('1h')", "duration('-9223372036s')"]],
  ["type", ["int", "type(n)", "list"]],
  ["opaque", ["quantity('1')", "optional.of(1)", "optional.none()", "optional.of(self)"]],
  ["dyn", ["self", "self.none", "dyn(1)", "dyn('a')", "x", "y", "self.missing"]],
]);

/** @param kind the kind of type that the expression usually has */
function expression(random: Random, depth: number, kind: string): string {
  if (depth <= 0 || random(6) === 0)
    return pick(random, leaves.get(random(8) === 0 ? pick(random, [...leaves.keys()]) : kind) ?? ["self"]);
  const any = (): string => expression(random, depth - 1, pick(random, [...leaves.keys()]));
  switch (random(9)) {
    case 0:
      return `(${any()} ${pick(random, binary)} ${any()})`;
    case 1:
      return `(${expression(random, depth - 1, "bool")} ? ${expression(random, depth - 1, kind)} : ${any()})`;
    case 2:
      return `${expression(random, depth - 1, random(2) === 0 ? "list" : "map")}.${pick(random, macros)}(x${pick(random, ["", ", y"])}, ${expression(random, depth - 1, "bool")})`;
    case 3:
      return `${any()}${pick(random, [".a", "[0]", ".?a", "[?'a']", "['a']", ".nested", "[n]"])}`;
    case 4:
      return pick(random, [
        `[${any()}, ${any()}]`,
        `{${any()}: ${any()}}`,
        `[?${any()}]`,
        `has(self.${pick(random, ["a", "map.a", "list"])})`,
        `!${any()}`,
        `-${any()}`,
      ]);
    default:
      return call(random, depth, kind);
  }
}

function call(random: Random, depth: number, kind: string): string {
  const fitting = callable.filter(({ overload }) => overload.result.kind === kind);
  const { name, overload } = pick(random, fitting.length === 0 || random(4) === 0 ? callable : fitting);
  const args = overload.parameters.map((type: CelType) =>
    expression(random, depth - 1, type.kind === "parameter" ? "dyn" : type.kind),
  );
  if (random(20) === 0) args.pop();
  return overload.member && args.length > 0
    ? `${args[0]}.${name}(${args.slice(1).join(", ")})`
    : `${name}(${args.join(", ")})`;
}

const recorded = readFileSync(join(import.meta.dirname, "testdata/upstream.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => String(JSON.parse(line).expr))
  .filter((text) => text.length < 300);
const pieces = [
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  ".",
  ",",
  "?",
  ":",
  "!",
  "-",
  "&&",
  "==",
  "in",
  "null",
  "1",
  "'",
  '"',
  "`",
  "\\",
  "\n",
  "\0",
  "\ud800",
  "\u{1f600}",
  "9".repeat(30),
  " as ",
  "x.all(",
];

function mutated(random: Random, text: string): string {
  let result = text;
  for (let times = 1 + random(3); times > 0; times--) {
    const [at, until] = [random(result.length + 1), random(result.length + 1)].sort((left, right) => left - right) as [
      number,
      number,
    ];
    const part = pick(random, [pick(random, pieces), result.slice(at, until), pick(random, recorded), ""]);
    result =
      random(2) === 0
        ? result.slice(0, at) + part + result.slice(at)
        : result.slice(0, at) + part + result.slice(Math.min(until, at + 4));
  }
  return result.slice(0, 2000);
}

function run(from: Environment, checked: CheckedAst): void {
  from.estimateCost(checked);
  from.plan(checked).evaluate(bindings, { costLimit });
}

/** @returns the stack of an error that is not one of the library, or undefined */
function unexpectedError(step: () => void): string | undefined {
  try {
    step();
    return undefined;
  } catch (error) {
    return error instanceof CelSyntaxError || error instanceof CelError ? undefined : String((error as Error).stack);
  }
}

test("random and mutated expressions return a value or throw an error of the library", (context) => {
  const count = process.env.COXSWAIN_TEST_FULL === "1" ? 300_000 : 1_500;
  context.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  let evaluated = 0;
  for (let at = 0; at < count; at++) {
    const written = expression(random, 1 + random(4), pick(random, [...leaves.keys()]));
    const text = random(3) === 0 ? mutated(random, random(2) === 0 ? written : pick(random, recorded)) : written;
    const failed = unexpectedError(() => {
      const ast = environment.parse(text);
      const unchecked = unexpectedError(() => run(environment, environment.unchecked(ast)));
      assert.equal(unchecked, undefined);
      const checked = environment.check(ast);
      evaluated++;
      run(environment, checked);
    });
    assert.equal(failed, undefined, `SEED=${seed} ${JSON.stringify(text)}\n${failed}`);
  }
  assert.ok(
    evaluated > count / 20,
    `only ${evaluated} of ${count} passed the type check: the grammar no longer tests evaluation`,
  );
});

const long = "a".repeat(90_000);
const many = (text: string, times: number): string => text.repeat(times);

/** Expensive expressions, limited by the parser, the checker, the planner or the cost limit. */
const bombs: readonly string[] = [
  ...[
    "(",
    "[",
    "{",
    "!",
    "-",
    "$",
    "'",
    "`",
    ".",
    "?",
    ",",
    "//\n",
    "a ",
    "a?b:",
    "f(",
    "x.all(y,",
    "has(",
    "{1:",
    "\u{1f600}",
    "\ud800",
  ].map((text) => many(text, Math.floor(99_000 / text.length))),
  `${many("!", 99_000)}true`,
  `1${many("+1", 49_000)}`,
  `a${many(".b", 49_000)}`,
  `a${many("[0]", 33_000)}`,
  `true${many("&&true", 16_000)}`,
  `[${many("1,", 49_000)}1]`,
  `dyn(${many("[", 249)}${many("]", 249)})`,
  `${many("[1].map(x, ", 120)}x${many(")", 120)}`,
  `${many("[1, 2, 3, 4].map(x, ", 30)}x${many(")", 30)}`,
  `${many("names.all(x, ", 245)}true${many(")", 245)}`,
  `optional.of(1)${many(".optMap(x, x)", 200)}`,
  `optional.of(1)${many(".optMap(x, [x, x])", 60)}`,
  `${many("optional.of(1).optMap(x, ", 100)}x${many(")", 100)}`,
  `[1]${many(".map(x, x)", 240)}`,
  `names${many(".map(x, x + x)", 60)}`,
  `[names]${many(".map(x, x + x)", 60)}`,
  `'${long}'.replace('a', '${many("b", 9_000)}')`,
  `'${long}'.split('').map(x, '${many("b", 9_000)}').join('')`,
  `names.map(x, '${long}').map(x, x + x).map(x, x + x).map(x, x + x).join('${"b".repeat(1000)}')`,
  "lists.range(9223372036854775807)",
  "lists.range(100000).map(x, lists.range(100000))",
  "sets.equivalent(lists.range(100000), lists.range(100000))",
  "lists.range(100000).distinct()",
  ...[
    "(a*)*b",
    "(a|aa)+$",
    "^(a+)+$",
    "((((a{10}){10}){10}){10}){10}",
    many("a?", 200) + many("a", 200),
    many("(", 5000),
    many("(", 2000) + many(")", 2000),
    many("[a-z]?", 1000),
    "x{1001}",
    "\\\\pN",
    "(?P<a>",
    "[[:foo:]]",
  ].map((pattern) => `'${many("a", 5000)}'.matches('${pattern}')`),
  `'${long}'.findAll('')`,
  `'${long}'.lastIndexOf('${many("a", 4000)}b')`,
  ...["int", "uint", "double", "duration", "timestamp", "quantity", "semver", "ip", "cidr", "url"].flatMap((name) =>
    [
      many("9", 90_000),
      `-${many("9", 90_000)}`,
      `1e${many("9", 400)}`,
      many("1h", 40_000),
      many("1.", 40_000),
      many(":", 90_000),
      "\ud800",
      "\0",
    ].map((text) => `${name}('${text}')`),
  ),
  "quantity('1e999999999')",
  "quantity('1E-2147483648').add(quantity('1E2147483647'))",
  "timestamp(9223372036854775807)",
  "timestamp(-9223372036854775808)",
  "timestamp('9999-12-31T23:59:59Z').getFullYear('+9999:9999')",
  "timestamp('0001-01-01T00:00:00Z').getFullYear('-9999:9999')",
  `timestamp(0).getHours('${long}')`,
  "-9223372036854775808 / -1",
  "-9223372036854775808 % -1",
  "string(b'\\xff\\xfe')",
  "self.broken + '\ud800'",
  "bytes(self.broken) == bytes('\ud800')",
  "self.broken.split('').map(x, x.matches('.'))",
  ...[
    "'%.1000000000f'.format([1.0])",
    "'%.99999999999999999999e'.format([1.0])",
    "'%1000000000d'.format([1])",
    "'%s'.format([self])",
  ],
  `'${many("%s", 40_000)}'.format([${many("1, ", 100)}1])`,
  ...["__proto__", "constructor", "toString", "hasOwnProperty"].flatMap((name) => [
    `self.${name}`,
    `has(self.map.${name})`,
    `{'${name}': 1}.${name}`,
    `'${name}' in self`,
    `labels.${name}`,
  ]),
];

test("expensive expressions return a value or throw an error of the library", () => {
  for (const text of bombs) {
    const failed = unexpectedError(() => run(environment, environment.compile(text)));
    assert.equal(failed, undefined, `${JSON.stringify(text.slice(0, 200))}\n${failed}`);
  }
});

test("compares data that is 1,000 levels deep", () => {
  const deep = (): unknown => {
    let value: unknown = 1;
    for (let at = 0; at < 1000; at++) value = at % 2 === 0 ? [value] : { a: value };
    return value;
  };
  const both = environment.extend({ variables: [{ name: "other", type: dynType }] });
  const data = new Map([
    ["self", jsonValue(deep() as never)],
    ["other", jsonValue(deep() as never)],
  ]);
  for (const text of ["self == other", "[self] == [other]", "self in [other]", "{'a': self} != {'a': other}"]) {
    assert.equal(typeof both.plan(both.compile(text)).evaluate(data).value, "boolean");
  }
});
