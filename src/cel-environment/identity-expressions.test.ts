/**
 * Expressions with claims, users and reviews. Source: the tests of
 * k8s.io/apiserver@v0.36.0/pkg/authentication/cel and pkg/authorization/cel
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { boolType, CelList, type CelType, type JsonValue } from "../lib/cel/index.ts";
import {
  claimsExpressions,
  type IdentityExpressions,
  reviewExpressions,
  reviewValue,
  userExpressions,
} from "./identity-expressions.ts";

const claims = { sub: "jane", email: "a@b", email_verified: true, roles: ["x", "y"], exp: 5, nested: { a: { b: 1 } } };
const user = { username: "jane", groups: ["g"], extra: { "example.com/k": ["v"] } };
const review = reviewValue({
  user: "jane",
  groups: ["g"],
  resourceAttributes: {
    verb: "list",
    resource: "pods",
    labelSelector: { requirements: [{ key: "a", operator: "Exists" }] },
  },
});

interface Kind {
  readonly expressions: IdentityExpressions;
  readonly value: JsonValue;
  readonly returns?: readonly CelType[];
}

const kinds = {
  claims: { expressions: claimsExpressions(), value: claims },
  user: { expressions: userExpressions(), value: user, returns: [boolType] },
  review: { expressions: reviewExpressions(), value: review, returns: [boolType] },
};

const undefinedField = (at: number, text: string, field: string): string =>
  `compilation failed: ERROR: <input>:1:${at}: undefined field '${field}'\n | ${text}\n | ${".".repeat(at - 1)}^`;

const rows: readonly [kind: keyof typeof kinds, text: string, expected: unknown][] = [
  ["claims", "claims.sub", "jane"],
  ["claims", "claims.email_verified ? claims.email : 'none'", "a@b"],
  ["claims", "claims.?email_verified.orValue(true) && claims.exp < 10", true],
  ["claims", "claims.roles", ["x", "y"]],
  ["claims", "claims.nested.a.b == 1", true],
  ["claims", "has(claims.zzz)", false],
  ["claims", "claims.zzz", "expression 'claims.zzz' resulted in error: no such key: zzz"],
  ["user", "user.username.startsWith('ja') && 'g' in user.groups", true],
  ["user", "user.extra['example.com/k'][0] == 'v' && !has(user.uid)", true],
  ["user", "user.zzz == 1", undefinedField(5, "user.zzz == 1", "zzz")],
  ["user", "user.username", "must evaluate to bool"],
  ["review", "request.user", "must evaluate to bool but got string"],
  ["review", "request.user == 'jane' && request.resourceAttributes.verb == 'list' && request.uid == ''", true],
  ["review", "has(request.resourceAttributes.labelSelector) && !has(request.resourceAttributes.fieldSelector)", true],
  [
    "review",
    "request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'a' && r.operator == 'Exists')",
    true,
  ],
  ["review", "has(request.nonResourceAttributes)", false],
  [
    "review",
    "request.resourceAttributes.zzz == 'a'",
    undefinedField(27, "request.resourceAttributes.zzz == 'a'", "zzz"),
  ],
  [
    "review",
    "request.nonResourceAttributes.path == '/x'",
    "expression 'request.nonResourceAttributes.path == '/x'' resulted in error: no such key: nonResourceAttributes",
  ],
];

for (const [kind, text, expected] of rows) {
  test(`${kind}: ${text}`, () => {
    const { expressions, value: input, returns }: Kind = kinds[kind];
    const result = expressions.evaluate(expressions.compile(text, returns), input);
    const value =
      result.value instanceof CelList
        ? Array.from({ length: result.value.size }, (_, at) => (result.value as CelList).at(at))
        : result.value;
    assert.deepEqual(result.error ?? value, expected);
  });
}
