import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesFields, parseFieldSelector, requiresExactMatch } from "./field.ts";
import { formatLabelSelector, matchesLabels, parseLabelSelector } from "./label.ts";
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
  ["x<2", true],
  ["y>1", false],
  ["x=1,y=b", true],
  ["x=1,y=c", false],
  ["example.com/z", true],
  ["example.com/z=", true],
  ["toString", false],
];
for (const [selector, wanted] of matches) test(`"${selector}"`, () => assert.equal(matchesLabels(parseLabelSelector(selector), labels), wanted));

const refused: [selector: string, message: string][] = [
  ["x=1,", "found '', expected: identifier after ','"],
  ["x>a", "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer"],
  ["=1", "found '=', expected: !, identifier, or 'end of string'"],
  ["x in (1", "unable to parse requirement: found '', expected: ',' or ')'"],
  ["!x=1", "found '=', expected: ',' or 'end of string'"],
  [",", "found ',', expected: !, identifier, or 'end of string'"],
  ["x y", "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"],
];
for (const [selector, message] of refused)
  test(`refused: "${selector}"`, () => assert.throws(() => parseLabelSelector(selector), new SelectorError(message)));

test("formatting sorts by key", () => assert.equal(formatLabelSelector(parseLabelSelector("z in (b,a),!c,a=1,b")), "a=1,b,!c,z in (a,b)"));

const fields = new Map([
  ["metadata.name", "a,b"],
  ["type", "my/t"],
]);
const fieldMatches: [selector: string, matches: boolean][] = [
  ["", true],
  ["metadata.name=a\\,b", true],
  ["metadata.name!=a", true],
  ["type==my/t,metadata.name=x", false],
];
for (const [selector, wanted] of fieldMatches)
  test(`fields "${selector}"`, () => assert.equal(matchesFields(parseFieldSelector(selector), fields), wanted));

const fieldRefused: [selector: string, message: string][] = [
  ["metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
  ["metadata.name=a\\", "invalid field selector: invalid escape sequence: \\"],
];
for (const [selector, message] of fieldRefused)
  test(`refused fields: "${selector}"`, () => assert.throws(() => parseFieldSelector(selector), new SelectorError(message)));

test("a fixed name is found", () => {
  assert.equal(requiresExactMatch(parseFieldSelector("a=b,metadata.name=x"), "metadata.name"), "x");
  assert.equal(requiresExactMatch(parseFieldSelector("metadata.name!=x"), "metadata.name"), undefined);
});
