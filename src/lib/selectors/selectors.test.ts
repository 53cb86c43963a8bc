import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { formatFieldSelector, matchesFields, parseFieldSelector, requiresExactMatch } from "./field.ts";
import { formatLabelSelector, matchesLabels, parseLabelSelector } from "./label.ts";
import { formatLabelSelectorObject, type LabelSelectorObject, labelSelectorFromObject } from "./label-object.ts";
import { SelectorError } from "./selector-error.ts";

const labels = new Map([
  ["x", "1"],
  ["y", "b"],
  ["example.com/z", ""],
]);

const matches: [selector: string, matches: boolean][] = [
  ["", true],
  ["x=1", true],
  ["x==1", true],
  ["x = 1", true],
  ["x=2", false],
  ["x!=1", false],
  ["x!=2", true],
  ["w!=2", true],
  ["x in (1,2)", true],
  ["x in (2)", false],
  ["x in ()", false],
  ["x notin (1)", false],
  ["w notin (1)", true],
  ["x", true],
  ["!x", false],
  ["!w", true],
  ["x>0", true],
  ["x>1", false],
  ["in in (in)", false],
  ["x<2", true],
  ["y>1", false],
  ["x=1,y=b", true],
  ["x=1,y=c", false],
  ["example.com/z", true],
  ["example.com/z=", true],
  ["toString", false],
  [" x\t=\n1 ", true],
  ["x in (,1)", true],
  ["x in (2,,1,)", true],
  ["x=1\0", true],
  ["x=\x001", true],
  ["x=1\0\0,x=2", true],
];
for (const [selector, expected] of matches)
  test(`${expected ? "matches" : "does not match"} "${selector}"`, () =>
    assert.equal(matchesLabels(parseLabelSelector(selector), labels), expected));

const invalidNumber = (value: string): string =>
  `unable to parse requirement: values[0]: Invalid value: "${value}": for 'Gt', 'Lt' operators, the value must be an integer`;

const rejected: [selector: string, message: string][] = [
  ["x=1,", "found '', expected: identifier after ','"],
  ["x>a", invalidNumber("a")],
  ["x=1\0b", "found 'b', expected: ',' or 'end of string'"],
  ["=1", "found '=', expected: !, identifier, or 'end of string'"],
  ["x in (1", "unable to parse requirement: found '', expected: ',' or ')'"],
  ["!x=1", "found '=', expected: ',' or 'end of string'"],
  [",", "found ',', expected: !, identifier, or 'end of string'"],
  ["x in 1", "unable to parse requirement: found '1' expected: '('"],
  ["x in (=", "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
  ["x in (1,=)", "unable to parse requirement: found '=', expected: ',', or identifier"],
  ["x in (1,,)", "unable to parse requirement: found ')', expected: ',', or identifier"],
  ["x=(", "unable to parse requirement: found '(', expected: identifier"],
  ["!", "unable to parse requirement: found '', expected: identifier"],
  ["x>9223372036854775808", invalidNumber("9223372036854775808")],
  [
    `x=${"a".repeat(64)}`,
    `unable to parse requirement: values[0][x]: Invalid value: "${"a".repeat(64)}": must be no more than 63 bytes`,
  ],
  [
    `${"a".repeat(64)}`,
    `unable to parse requirement: <nil>: Invalid value: "${"a".repeat(64)}": name part must be no more than 63 bytes`,
  ],
  ["/a", 'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty'],
  // Values are sorted before they are checked, and the message has all problems.
  [
    `x in (${"c".repeat(64)},b,${"a".repeat(64)})`,
    `unable to parse requirement: [${["a", "c"].map((letter, index) => `values[${index * 2}][x]: Invalid value: "${letter.repeat(64)}": must be no more than 63 bytes`).join(", ")}]`,
  ],
  ["x y", "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"],
];
for (const [selector, message] of rejected)
  test(`rejects "${selector}"`, () => assert.throws(() => parseLabelSelector(selector), new SelectorError(message)));

test("formats requirements sorted by key", () =>
  assert.equal(formatLabelSelector(parseLabelSelector("z in (b,a),!c,a=1,b")), "a=1,b,!c,z in (a,b)"));

const objects: [selector: LabelSelectorObject, text: string, matches: boolean | string][] = [
  [{}, "<none>", true],
  [{ matchLabels: { y: "b", x: "1" } }, "x=1,y=b", true],
  [
    {
      matchLabels: { x: "1" },
      matchExpressions: [
        { key: "y", operator: "In", values: ["c", "b"] },
        { key: "w", operator: "DoesNotExist" },
      ],
    },
    "!w,x=1,y in (b,c)",
    true,
  ],
  [{ matchExpressions: [{ key: "x", operator: "NotIn", values: ["1"] }] }, "x notin (1)", false],
  [
    { matchExpressions: [{ key: "x", operator: "In" }] },
    "<error>",
    "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
  ],
  [
    { matchExpressions: [{ key: "x", operator: "Exists", values: ["1"] }] },
    "<error>",
    'values: Invalid value: ["1"]: values set must be empty for exists and does not exist',
  ],
  [
    { matchExpressions: [{ key: "x", operator: "Gt", values: ["1"] }] },
    "<error>",
    '"Gt" is not a valid label selector operator',
  ],
];
for (const [selector, text, expected] of objects) {
  test(`converts ${JSON.stringify(selector)}`, () => {
    assert.equal(formatLabelSelectorObject(selector), text);
    const matches = (): boolean => matchesLabels(labelSelectorFromObject(selector), labels);
    if (typeof expected === "string") assert.throws(matches, new SelectorError(expected));
    else assert.equal(matches(), expected);
  });
}

const fields = new Map([
  ["metadata.name", "a,b"],
  ["type", "my/t"],
]);
const fieldMatches: [selector: string, matches: boolean][] = [
  ["", true],
  ["metadata.name=a\\,b", true],
  ["metadata.name!=a", true],
  ["type==my/t,metadata.name=x", false],
  ["=", true],
  ["!=,=,metadata.name!=x", true],
  ["=x", false],
];
for (const [selector, expected] of fieldMatches)
  test(`${expected ? "matches" : "does not match"} fields "${selector}"`, () =>
    assert.equal(matchesFields(parseFieldSelector(selector), fields), expected));

const rejectedFields: [selector: string, message: string][] = [
  ["metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
  ["metadata.name=a=b", "invalid field selector: unescaped character in value: 61"],
  ["z,a", "invalid selector: 'z,a'; can't understand 'a'"],
  ["metadata.name=a\\x", "invalid field selector: invalid escape sequence: \\x"],
  ["metadata.name=a\\", "invalid field selector: invalid escape sequence: \\"],
];
for (const [selector, message] of rejectedFields)
  test(`rejects fields "${selector}"`, () =>
    assert.throws(() => parseFieldSelector(selector), new SelectorError(message)));

test("finds the required value of a field", () => {
  assert.equal(requiresExactMatch(parseFieldSelector("a=b,metadata.name=x"), "metadata.name"), "x");
  assert.equal(requiresExactMatch(parseFieldSelector("metadata.name!=x"), "metadata.name"), undefined);
});

test("formats field terms sorted and escaped", () => {
  assert.equal(
    formatFieldSelector(parseFieldSelector("metadata.name==a\\,b,,a!=x\\=y")),
    "a!=x\\=y,metadata.name=a\\,b",
  );
});

test("many requirements match as few do", () => {
  for (let seed = 0; seed < 500; seed++) {
    const random = seededRandom(seed);
    const pick = (list: readonly string[]): string => list[random(list.length)] as string;
    const term = (): string => {
      const key = pick(["a", "b", "c", "d"]);
      const value = (): string => pick(["1", "2", "3", "x"]);
      return pick([
        `${key}`,
        `!e${key}`,
        `${key}=${value()}`,
        `${key}!=${value()}`,
        `${key} in (${value()},${value()},1)`,
        `${key} notin (${value()})`,
        `${key}>0`,
        `${key}<3`,
        `!${key}`,
        `${key}!=z${random(9)}`,
      ]);
    };
    const terms = Array.from({ length: 1 + random(3) }, term);
    const object = new Map(["a", "b", "c"].filter(() => random(3) > 0).map((key) => [key, pick(["1", "2", "x"])]));
    // Each term is repeated, until there are more than are compared one by one.
    const few = parseLabelSelector(terms.join());
    const many = parseLabelSelector(Array.from({ length: 20 }, () => terms.join()).join());
    assert.equal(matchesLabels(many, object), matchesLabels(few, object), `SEED=${seed} ${terms.join()}`);
    const fieldTerms = terms.filter((each) => /^\w[!=]/.test(each)).join();
    const fewFields = parseFieldSelector(fieldTerms);
    const manyFields = parseFieldSelector(Array.from({ length: 20 }, () => fieldTerms).join());
    assert.equal(matchesFields(manyFields, object), matchesFields(fewFields, object), `SEED=${seed} ${fieldTerms}`);
  }
});

test("a long list of values has the values that it names", () => {
  const values = Array.from({ length: 1_000 }, (_, index) => `v${index}`);
  const selects = (operator: string, value: string): boolean =>
    matchesLabels(parseLabelSelector(`a ${operator} (${values.join()})`), new Map([["a", value]]));
  for (const value of ["v0", "v1", "v500", "v999"])
    assert.deepEqual([selects("in", value), selects("notin", value)], [true, false], value);
  for (const value of ["", "v", "v1000", "w", "a"])
    assert.deepEqual([selects("in", value), selects("notin", value)], [false, true], value);
});

test("the labels of an object, not the terms of a selector, decide how long a match takes", () => {
  const selector = parseLabelSelector(Array.from({ length: 20_000 }, (_, index) => `a!=v${index}`).join());
  let read = 0;
  const counted = new (class extends Map<string, string> {
    override get(key: string): string | undefined {
      read++;
      return super.get(key);
    }
  })([["a", "b"]]);
  for (let index = 0; index < 100; index++) assert.ok(matchesLabels(selector, counted));
  assert.ok(read <= 100, `${read} reads`);
});
