import assert from "node:assert/strict";
import { test } from "node:test";
import { created, updated } from "../../../test/support/strategy-driver.ts";
import type { Strategy } from "../../catalog/strategy-contract.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "./kinds.ts";

const group = "rbac.authorization.k8s.io";
const rule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
const roleRef = { kind: "ClusterRole", name: "r" };

const rows: [what: string, kind: Strategy, input: Record<string, unknown>, problems: string[]][] = [
  ["nothing", role, {}, []],
  ["a rule of resources", role, { rules: [rule] }, []],
  [
    "an empty rule",
    role,
    { rules: [rule, {}] },
    [
      "rules[1].verbs: Required value: verbs must contain at least one value",
      "rules[1].apiGroups: Required value: resource rules must supply at least one api group",
      "rules[1].resources: Required value: resource rules must supply at least one resource",
    ],
  ],
  [
    "paths in a namespace",
    role,
    { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] },
    ['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'],
  ],
  ["paths", clusterRole, { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] }, []],
  [
    "paths and resources",
    clusterRole,
    { rules: [{ ...rule, nonResourceURLs: ["/x"] }] },
    [
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
  ],
  [
    "a rule that collects nothing",
    clusterRole,
    { aggregationRule: {} },
    [
      "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil",
    ],
  ],
  [
    "a selector that is none",
    clusterRole,
    { aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: "a", operator: "In" }] }] } },
    [
      "aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.",
    ],
  ],
  [
    "a binding of users, groups and accounts",
    roleBinding,
    {
      roleRef,
      subjects: [
        { kind: "User", name: "ann" },
        { kind: "Group", name: "g" },
        { kind: "ServiceAccount", name: "s" },
      ],
    },
    [],
  ],
  [
    "a binding of nothing",
    roleBinding,
    {},
    ['roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"', "roleRef.name: Required value"],
  ],
  [
    "a Role, everywhere",
    clusterRoleBinding,
    { roleRef: { kind: "Role", name: "a/b", apiGroup: "x" } },
    [
      `roleRef.apiGroup: Unsupported value: "x": supported values: "${group}"`,
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
      "roleRef.name: Invalid value: \"a/b\": may not contain '/'",
    ],
  ],
  [
    "subjects that are none",
    clusterRoleBinding,
    {
      roleRef,
      subjects: [
        { kind: "Cat", name: "c" },
        { kind: "User", apiGroup: "x" },
        { kind: "ServiceAccount", name: "A", apiGroup: "x" },
      ],
    },
    [
      'subjects[0].kind: Unsupported value: "Cat": supported values: "ServiceAccount", "User", "Group"',
      "subjects[1].name: Required value",
      `subjects[1].apiGroup: Unsupported value: "x": supported values: "${group}"`,
      "subjects[2].name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      'subjects[2].apiGroup: Unsupported value: "x": supported values: ""',
      "subjects[2].namespace: Required value",
    ],
  ],
];

for (const [what, kind, input, problems] of rows) {
  test(`${what}: ${problems.length === 0 ? "valid" : problems.length}`, () => {
    assert.deepEqual(created(kind, input, kind === role || kind === roleBinding).problems, problems);
  });
}

test("the roleRef of a binding is immutable", () => {
  const { problems } = updated(roleBinding, { metadata: { resourceVersion: "1" }, roleRef }, (object) => {
    object.roleRef.name = "other";
  });
  assert.deepEqual(problems, [
    `roleRef: Invalid value: {"APIGroup":"${group}","Kind":"ClusterRole","Name":"other"}: cannot change roleRef`,
  ]);
});
