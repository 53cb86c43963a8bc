/**
 * Values, failures, costs and versions of the Kubernetes libraries. Source: the tests of
 * k8s.io/apiserver@v0.36.0/pkg/cel/library and of cel-go's ext
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type AuthorizationCheck, authorizerType, CelAuthorizer } from "./functions/kubernetes/authorizer.ts";
import { jsonPatchKeys } from "./functions/kubernetes/json-patch.ts";
import { CelError, CelSyntaxError, intType, jsonValue, listType, type Range, stringType } from "./index.ts";
import { kubernetesEnvironment } from "./kubernetes-environment.ts";

const variables = [
  { name: "authorizer", type: authorizerType },
  { name: "texts", type: listType(stringType) },
  { name: "numbers", type: listType(intType) },
  { name: "text", type: stringType },
];
const environment = kubernetesEnvironment([1, 36]).extend(jsonPatchKeys, { variables });

const checks: AuthorizationCheck[] = [];
const authorizer = new CelAuthorizer((check) => {
  checks.push(check);
  return check.verb === "fail"
    ? { allowed: false, reason: "", error: "broken" }
    : { allowed: check.verb === "get", reason: "because" };
});
const bindings = new Map([
  ["authorizer", authorizer],
  ["texts", jsonValue(["aa", "bb", "cc"])],
  ["numbers", jsonValue([1, 2, 3, 4, 5])],
  ["text", "a1 b2"],
] as const);

function evaluate(text: string): { readonly value: unknown; readonly cost: number } {
  return environment.plan(environment.compile(text)).evaluate(bindings, { costLimit: 10_000_000 });
}

/** Expressions that evaluate to true. */
const truths: readonly string[] = [
  "quantity('-1Mi').sign() == -1 && quantity('0').sign() == 0 && quantity('1m').sign() == sign(quantity('1m'))",
  "'tacocat'.charAt(3) == 'o' && 'tacocat'.charAt(7) == ''",
  "'©αT'.charAt(1) == 'α' && '😀b'.charAt(1) == 'b'",
  "'tacocat'.indexOf('') == 0 && 'tacocat'.indexOf('ac') == 1 && 'tacocat'.indexOf('none') == -1",
  "'tacocat'.indexOf('', 3) == 3 && 'tacocat'.indexOf('a', 3) == 5 && 'tacocat'.indexOf('a', 99) == -1",
  "'ta©o©αT'.indexOf('©', 3) == 4 && '😀😀b'.indexOf('b') == 2",
  "'tacocat'.lastIndexOf('') == 7 && 'tacocat'.lastIndexOf('at') == 5 && ''.lastIndexOf('a') == -1",
  "'tacocat'.lastIndexOf('a', 3) == 1 && 'ta©o©αT'.lastIndexOf('©', 3) == 2",
  "'TacoCÆt Xii'.lowerAscii() == 'tacocÆt xii' && 'tacoCæt xii'.upperAscii() == 'TACOCæT XII'",
  "'12 days 12 hours'.replace('{0}', '2') == '12 days 12 hours' && '{0} days {0} hours'.replace('{0}', '2', 1) == '2 days {0} hours'",
  "'1 ©αT taco'.replace('αT', 'o©α') == '1 ©o©α taco' && 'ab'.replace('', '-') == '-a-b-' && 'ab'.replace('', '-', 2) == '-a-b'",
  "'hello world'.split(' ') == ['hello', 'world'] && 'hello world events!'.split(' ', 2) == ['hello', 'world events!']",
  "'o©o'.split('') == ['o', '©', 'o'] && 'a b'.split(' ', 0) == [] && ''.split('x') == ['']",
  "'tacocat'.substring(4) == 'cat' && 'tacocat'.substring(0, 4) == 'taco' && 'ta©o©αT'.substring(2, 6) == '©o©α'",
  "'\\u000b\\u0085\\u2003text\\u3000'.trim() == 'text'",
  "['x', 'y'].join() == 'xy' && ['x', 'y'].join('-') == 'x-y' && [].join('-') == ''",
  `strings.quote('a"\\n\\a') == '"a\\\\"\\\\n\\\\a"'`,
  "[1, 2, 3].isSorted() && !['b', 'a'].isSorted() && [].isSorted()",
  "[1, 3].sum() == 4 && [1.0, 3.0].sum() == 4.0 && [duration('1m'), duration('1s')].sum() == duration('1m1s') && [1u, 2u].sum() == 3u",
  "[1, 3].min() == 1 && ['b', 'a'].max() == 'b' && [true, false].min() == false",
  "[1, 2, 2, 3].indexOf(2) == 1 && [1, 2, 2, 3].lastIndexOf(2) == 2 && ['a'].indexOf('x') == -1",
  "[1, 2, 3, 4].slice(1, 3) == [2, 3] && [[1], [2, 3]].flatten() == [1, 2, 3] && [dyn(1), dyn([2])].flatten(1) == [1, 2]",
  "[3, 1, 2].sort() == [1, 2, 3] && ['b', 'a'].sort() == ['a', 'b'] && lists.range(3) == [0, 1, 2] && lists.range(-1) == []",
  "[1, 2].reverse() == [2, 1] && [2, 1, 2].distinct() == [2, 1]",
  "'abc 123'.find('[0-9]+') == '123' && 'abc'.find('xyz') == ''",
  "'123 abc 456'.findAll('[0-9]+') == ['123', '456'] && '123 abc 456'.findAll('[0-9]+', 1) == ['123'] && '1'.findAll('2') == []",
  "'baab'.findAll('a*') == ['', 'aa', ''] && '1 2'.findAll('[0-9]', -1).size() == 2 && '1'.findAll('1', 0).size() == 0",
  "sets.contains([1, 2, 3], [2, 3]) && !sets.contains([1], [2]) && sets.equivalent([1, 1], [1]) && sets.intersects([1], [1, 2])",
  "isQuantity('200M') && !isQuantity('200Mo') && quantity('50k') == quantity('50000') && quantity('50k') != quantity('5')",
  "quantity('50Mi').isInteger() && !quantity('50m').isInteger() && quantity('50k').asInteger() == 50000 && quantity('50.1k').asApproximateFloat() == 50100.0",
  "sign(quantity('-5')) == -1 && quantity('5').add(3) == quantity('8') && quantity('5').sub(quantity('8')).compareTo(quantity('-3')) == 0",
  "quantity('200M').isGreaterThan(quantity('0.1G')) && quantity('1').isLessThan(quantity('2'))",
  "jsonpatch.escapeKey('k8s.io/my~label') == 'k8s.io~1my~0label'",
  "authorizer.path('/healthz').check('get').allowed() && authorizer.path('/x').check('get').reason() == 'because'",
  "authorizer.path('/x').check('fail').errored() && authorizer.path('/x').check('fail').error() == 'broken'",
];

for (const text of truths) test(text, () => assert.equal(evaluate(text).value, true));

const failures: readonly [text: string, message: RegExp][] = [
  ["'tacocat'.charAt(30) == ''", /index out of range: 30/],
  ["'tacocat'.indexOf('a', -1) == 0", /index out of range: -1/],
  ["'tacocat'.lastIndexOf('a', -1) == 0", /index out of range: -1/],
  ["[1].slice(0, 2) == [1]", /cannot slice\(0, 2\), list is length 1/],
  ["lists.range(9000000000000000000).size() == 0", /cost/],
  ["'tacocat'.substring(40) == ''", /index out of range: 40/],
  ["'tacocat'.substring(3, 1) == ''", /invalid substring range\. start: 3, end: 1/],
  ["numbers.filter(n, n > 9).max() == 0", /max called on empty list/],
  ["[9223372036854775807, 1].sum() == 0", /integer overflow/],
  ["quantity('50m').asInteger() == 0", /cannot convert value to integer/],
  ["quantity('10 Mo') == quantity('1')", /quantities must match the regular expression/],
  ["authorizer.path(' ').check('get').allowed()", /path must not be empty/],
  ["authorizer.group('').resource('').check('get').allowed()", /resource must not be empty/],
  ["authorizer.serviceAccount('default', 'A').path('/').check('get').allowed()", /Invalid service account name/],
  ["authorizer.serviceAccount('a.b', 'a').path('/').check('get').allowed()", /Invalid service account namespace/],
];

for (const [text, message] of failures) {
  test(`fails: ${text}`, () =>
    assert.throws(
      () => evaluate(text),
      (error) => error instanceof CelError && message.test(error.message),
    ));
}

test("an authorization check has all attributes of the expression", () => {
  checks.length = 0;
  evaluate(
    "authorizer.serviceAccount('ns', 'sa').group('apps').resource('deployments').subresource('scale').namespace('n').name('x').fieldSelector('a=b').labelSelector('c').check('get').allowed()",
  );
  const resource = {
    group: "apps",
    resource: "deployments",
    subresource: "scale",
    namespace: "n",
    name: "x",
    fieldSelector: "a=b",
    labelSelector: "c",
  };
  assert.deepEqual(checks, [{ verb: "get", serviceAccount: { namespace: "ns", name: "sa" }, resource }]);
});

/** The costs are those of cost_test.go where it has the expression. */
const costs: readonly [text: string, actual: number, estimate: Range][] = [
  ["'ABCDEFGHIJ abcdefghij'.lowerAscii()", 3, { min: 3n, max: 3n }],
  ["'ABCDEFGHIJ abcdefghij'.lowerAscii() == 'abcdefghij ABCDEFGHIJ'.lowerAscii()", 9, { min: 7n, max: 9n }],
  ["'abc 123 def 123'.split(' ')", 3, { min: 3n, max: 3n }],
  ["'abc 123 def 123'.split(' ', 1)", 3, { min: 3n, max: 3n }],
  ["authorizer.path('/healthz')", 2, { min: 2n, max: 2n }],
  [
    "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=example-node-name.fully.qualified.domain.name.example.com')",
    1821,
    { min: 1821n, max: 1821n },
  ],
  ["authorizer.path('/healthz').check('get').allowed()", 350003, { min: 350003n, max: 350003n }],
  [
    "authorizer.group('apps').resource('deployments').subresource('status').namespace('test').name('backend').check('create').allowed()",
    350007,
    { min: 350007n, max: 350007n },
  ],
  ["[1,2,3,4].reverse()", 15, { min: 25n, max: 25n }],
  ["lists.range(3)", 14, { min: 14n, max: 14n }],
  ['quantity("12Mi")', 1, { min: 1n, max: 1n }],
  ['isQuantity("20M")', 1, { min: 1n, max: 1n }],
  ['quantity("200M") == quantity("200M")', 3, { min: 3n, max: 3n }],
  ['quantity("200M") == quantity("0.2G") && quantity("0.2G") == quantity("200M")', 6, { min: 3n, max: 6n }],
];

for (const [text, actual, estimate] of costs) {
  test(`costs: ${text}`, () => {
    assert.deepEqual(
      { actual: evaluate(text).cost, ...environment.estimateCost(environment.compile(text)) },
      { actual, ...estimate },
    );
  });
}

const versions: readonly [text: string, since: readonly [number, number]][] = [
  ["'a'.charAt(0) == 'a'", [1, 0]],
  ["authorizer.path('/').check('get').allowed()", [1, 27]],
  ["isQuantity('1')", [1, 28]],
  ["1 < 2.0", [1, 28]],
  ["optional.none().hasValue()", [1, 28]],
  ["strings.quote('a') == ''", [1, 29]],
  ["isURL('a')", [1, 0]],
  ["'%d'.format([1]) == ''", [1, 29]],
  ["sets.contains([1], [1])", [1, 29]],
  ["isIP('a')", [1, 30]],
  ["isCIDR('a')", [1, 30]],
  ["format.uri().validate('a').hasValue()", [1, 31]],
  ["isSemver('1.2.3', true)", [1, 33]],
  ["[2, 1].sortBy(e, e) == [1, 2]", [1, 34]],
  ["authorizer.group('').resource('pods').labelSelector('a').check('get').allowed()", [1, 31]],
  ["lists.range(1) == [0]", [1, 34]],
  ["[1].all(i, v, v == 1)", [1, 32]],
];

for (const [text, [major, minor]] of versions) {
  test(`since ${major}.${minor}: ${text}`, () => {
    kubernetesEnvironment([major, minor]).extend({ variables }).compile(text);
    if (minor > 0)
      assert.throws(
        () =>
          kubernetesEnvironment([major, minor - 1])
            .extend({ variables })
            .compile(text),
        CelSyntaxError,
      );
  });
}

test("no version has reverse() of strings", () =>
  assert.throws(() => environment.compile("'ab'.reverse() == ''"), CelSyntaxError));
