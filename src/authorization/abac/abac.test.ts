import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuthorizationAttributes, Decision } from "../contract.ts";
import { abacAuthorizer, abacRules } from "./abac.ts";
import { parseAbacPolicies } from "./policy-file.ts";

const v1 = (spec: object): string =>
  JSON.stringify({ apiVersion: "abac.authorization.kubernetes.io/v1beta1", kind: "Policy", spec });
const base: AuthorizationAttributes = {
  user: { name: "ann", uid: "", groups: ["dev", "system:authenticated"], extra: new Map() },
  verb: "get",
  isResourceRequest: true,
  path: "",
  group: "",
  version: "v1",
  resource: "pods",
  subresource: "",
  namespace: "n",
  name: "",
  fieldSelector: "",
  labelSelector: "",
};

const rows: [line: string, request: Partial<AuthorizationAttributes>, allowed: boolean][] = [
  [v1({ user: "ann", namespace: "n", resource: "pods" }), {}, true],
  [v1({ user: "ann", namespace: "n", resource: "pods" }), { group: "apps" }, false],
  [v1({ user: "ann", namespace: "n", resource: "pods", apiGroup: "*" }), { group: "apps", verb: "delete" }, true],
  [v1({ user: "ann", namespace: "m", resource: "pods" }), {}, false],
  [v1({ user: "bob", namespace: "*", resource: "*" }), {}, false],
  [v1({ user: "ann", group: "ops", namespace: "*", resource: "*" }), {}, false],
  [v1({ user: "ann", group: "dev", namespace: "*", resource: "*" }), {}, true],
  [v1({ user: "*", namespace: "*", resource: "*" }), {}, true],
  [
    v1({ user: "*", namespace: "*", resource: "*" }),
    { user: { ...base.user, groups: ["system:unauthenticated"] } },
    false,
  ],
  [v1({ namespace: "*", resource: "*" }), {}, false],
  [v1({ user: "ann", namespace: "*", resource: "*", readonly: true }), { verb: "watch" }, true],
  [v1({ user: "ann", namespace: "*", resource: "*", readonly: true }), { verb: "create" }, false],
  [v1({ user: "ann", nonResourcePath: "/a*" }), { isResourceRequest: false, path: "/ab" }, true],
  [v1({ user: "ann", nonResourcePath: "/a" }), { isResourceRequest: false, path: "/ab" }, false],
  [v1({ user: "ann", nonResourcePath: "*" }), {}, false],
  ["{}", {}, true],
  ["{}", { isResourceRequest: false, path: "/x" }, true],
  ['{"user":"ann","resource":"pods"}', { group: "apps" }, true],
  ['{"user":"ann","resource":"pods"}', { isResourceRequest: false, path: "/x" }, false],
  ["# nothing", {}, false],
];

for (const [line, request, allowed] of rows) {
  test(`${line}: ${JSON.stringify(request)} ${allowed ? "allowed" : "no opinion"}`, () => {
    const { decision, reason } = abacAuthorizer(parseAbacPolicies(`\n${line}\n`, "f"))({
      ...base,
      ...request,
    }) as Decision;
    assert.deepEqual([decision, reason], allowed ? ["allow", ""] : ["noOpinion", "No policy matched."]);
  });
}

const bad: [text: string, message: RegExp][] = [
  [`${v1({ user: "a" })}\n\n{`, /^Error: error reading policy file f, line 3: \{: /],
  ["[]", /line 1: \[\]: the policy is not an object/],
  ['{"apiVersion":"x/v1","kind":"Policy"}', /line 1: .*no kind "Policy" is registered for version "x\/v1"/],
  [v1({ user: 1 }), /user is not a string/],
  [v1({ readonly: "yes" }), /readonly is not a boolean/],
];

for (const [text, message] of bad)
  test(`rejects a file with ${text}`, () => assert.throws(() => parseAbacPolicies(text, "f"), message));

test("lists the policies for a user as rules", () => {
  const policies = parseAbacPolicies(
    [
      v1({ user: "ann", namespace: "n", resource: "pods", readonly: true }),
      v1({ group: "dev", namespace: "*", nonResourcePath: "/x" }),
    ].join("\n"),
    "f",
  );
  assert.deepEqual(abacRules(policies, base.user, "n"), [
    { verbs: ["get", "list", "watch"], apiGroups: [""], resources: ["pods"] },
    { verbs: ["*"], nonResourceURLs: ["/x"] },
  ]);
});
