import assert from "node:assert/strict";
import { test } from "node:test";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { AuthorizationAttributes, PolicyRule } from "../contract.ts";
import { type Binding, Policy, type Role, type Subject } from "./policy.ts";
import { listedRules, rbacAuthorizer, rulesFor } from "./rbac.ts";
import { ruleAllows } from "./rule.ts";

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
  name: "p",
  fieldSelector: "",
  labelSelector: "",
};
const core: PolicyRule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };

const ruleRows: [what: string, rule: PolicyRule, request: Partial<AuthorizationAttributes>, allowed: boolean][] = [
  ["the verb, group and resource", core, {}, true],
  ["another verb", core, { verb: "list" }, false],
  ["any verb", { ...core, verbs: ["*"] }, { verb: "sing" }, true],
  ["another group", core, { group: "apps" }, false],
  ["any group", { ...core, apiGroups: ["*"] }, { group: "apps" }, true],
  ["no group", { verbs: ["get"], resources: ["pods"] }, {}, false],
  ["another resource", core, { resource: "nodes" }, false],
  ["the resource, for a subresource", core, { subresource: "log" }, false],
  ["the subresource", { ...core, resources: ["pods/log"] }, { subresource: "log" }, true],
  ["the subresource of every resource", { ...core, resources: ["*/log"] }, { subresource: "log" }, true],
  ["another subresource of every resource", { ...core, resources: ["*/log"] }, { subresource: "og" }, false],
  [
    "a wildcard as subresource, which matches nothing",
    { ...core, resources: ["pods/*"] },
    { subresource: "log" },
    false,
  ],
  ["any resource", { ...core, resources: ["*"] }, { subresource: "log" }, true],
  ["a name", { ...core, resourceNames: ["p", "q"] }, {}, true],
  ["another name", { ...core, resourceNames: ["q"] }, {}, false],
  ["a name, for a request without a name", { ...core, resourceNames: ["q"] }, { name: "", verb: "get" }, false],
  ["an empty name, for a request without a name", { ...core, resourceNames: [""] }, { name: "" }, true],
  ["a path, for a resource request", { verbs: ["get"], nonResourceURLs: ["*"] }, {}, false],
  ["a path", { verbs: ["get"], nonResourceURLs: ["/healthz"] }, { isResourceRequest: false, path: "/healthz" }, true],
  [
    "a path, for a longer path",
    { verbs: ["get"], nonResourceURLs: ["/healthz"] },
    { isResourceRequest: false, path: "/healthz/ping" },
    false,
  ],
  [
    "a path with a wildcard",
    { verbs: ["get"], nonResourceURLs: ["/healthz/*"] },
    { isResourceRequest: false, path: "/healthz/ping" },
    true,
  ],
  [
    "a path with two asterisks",
    { verbs: ["get"], nonResourceURLs: ["/healthz/**"] },
    { isResourceRequest: false, path: "/healthz/ping" },
    true,
  ],
  ["any path", { verbs: ["get"], nonResourceURLs: ["*"] }, { isResourceRequest: false, path: "/x" }, true],
  ["resources, for a path", core, { isResourceRequest: false, path: "/healthz" }, false],
];

for (const [what, rule, request, allowed] of ruleRows) {
  test(`a rule with ${what}: ${allowed ? "allowed" : "not allowed"}`, () => {
    assert.equal(ruleAllows(rule, { ...base, ...request }), allowed);
  });
}

const subject = (kind: string, name: string, namespace = ""): Subject => ({ kind, name, namespace });
const role = (name: string, namespace: string, ...rules: PolicyRule[]): Role => ({ name, namespace, rules });
const binding = (name: string, namespace: string, roleRef: Binding["roleRef"], ...subjects: Subject[]): Binding => ({
  name,
  namespace,
  subjects,
  roleRef,
});
const toRole = (name: string): Binding["roleRef"] => ({ kind: "Role", name });
const toClusterRole = (name: string): Binding["roleRef"] => ({ kind: "ClusterRole", name });

function policyOf(roles: readonly Role[], bindings: readonly Binding[]): Policy {
  const policy = new Policy();
  for (const each of roles) policy.setRole(`r${each.namespace}/${each.name}`, each);
  for (const each of bindings) policy.setBinding(`b${each.namespace}/${each.name}`, each);
  return policy;
}

const robot: Partial<UserInfo> = { name: "system:serviceaccount:m:robot", groups: [] };
const roles = [role("reader", "", core), role("reader", "n", core), role("other", "m", core)];
const decisions: [what: string, binding: Binding, user: Partial<UserInfo>, decision: string, reason: string][] = [
  [
    "a user, in the cluster",
    binding("b", "", toClusterRole("reader"), subject("User", "bob"), subject("User", "ann")),
    {},
    "allow",
    'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to User "ann"',
  ],
  [
    "a group, of a ClusterRole in the namespace",
    binding("b", "n", toClusterRole("reader"), subject("Group", "dev")),
    {},
    "allow",
    'RBAC: allowed by RoleBinding "b/n" of ClusterRole "reader" to Group "dev"',
  ],
  [
    "a service account of another namespace, of a Role",
    binding("b", "n", toRole("reader"), subject("ServiceAccount", "robot", "m")),
    robot,
    "allow",
    'RBAC: allowed by RoleBinding "b/n" of Role "reader" to ServiceAccount "robot/m"',
  ],
  [
    "a service account of the binding's namespace",
    binding("b", "n", toRole("reader"), subject("ServiceAccount", "robot")),
    { name: "system:serviceaccount:n:robot" },
    "allow",
    'RBAC: allowed by RoleBinding "b/n" of Role "reader" to ServiceAccount "robot/n"',
  ],
  [
    "a service account without a namespace",
    binding("b", "", toClusterRole("reader"), subject("ServiceAccount", "robot")),
    robot,
    "noOpinion",
    "",
  ],
  [
    "a user with the name of the group",
    binding("b", "", toClusterRole("reader"), subject("User", "dev")),
    {},
    "noOpinion",
    "",
  ],
  [
    "a group with the name of the user",
    binding("b", "", toClusterRole("reader"), subject("Group", "ann")),
    {},
    "noOpinion",
    "",
  ],
  ["another namespace", binding("b", "m", toRole("other"), subject("User", "ann")), {}, "noOpinion", ""],
  [
    "a subject of an unknown kind",
    binding("b", "", toClusterRole("reader"), subject("Cat", "ann")),
    {},
    "noOpinion",
    "",
  ],
  [
    "a role of another namespace",
    binding("b", "n", toRole("other"), subject("User", "ann")),
    {},
    "noOpinion",
    'RBAC: role.rbac.authorization.k8s.io "other" not found',
  ],
  [
    "a missing role",
    binding("b", "", toClusterRole("gone"), subject("User", "ann")),
    {},
    "noOpinion",
    'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
  ],
  [
    "a role of an unknown kind",
    binding("b", "", { kind: "Cat", name: "reader" }, subject("User", "ann")),
    {},
    "noOpinion",
    'RBAC: unsupported role reference kind: "Cat"',
  ],
];

for (const [what, bound, user, decision, reason] of decisions) {
  test(`a binding to ${what}: ${decision}`, () => {
    const authorize = rbacAuthorizer(policyOf(roles, [bound]));
    assert.deepEqual(authorize({ ...base, user: { ...base.user, ...user } }), { decision, reason });
  });
}

test("removes a binding without subjects after the last binding with subjects", () => {
  const policy = policyOf(
    [],
    [binding("empty", "n", toRole("r")), binding("ann", "n", toRole("r"), subject("User", "ann"))],
  );
  policy.setBinding("bn/ann", undefined);
  policy.setBinding("bn/empty", undefined);
  assert.deepEqual([...policy.bindingKeys()], []);
});

test("reports each unresolved role once", () => {
  const bindings = ["x", "y", "x"].map((name, index) =>
    binding(`b${index}`, "", toClusterRole(name), subject("User", "ann")),
  );
  assert.deepEqual(rbacAuthorizer(policyOf([], bindings))(base), {
    decision: "noOpinion",
    reason:
      'RBAC: [clusterrole.rbac.authorization.k8s.io "x" not found, clusterrole.rbac.authorization.k8s.io "y" not found]',
  });
});

test("lists the rules of a binding once when several of its subjects match the user", () => {
  const policy = policyOf(roles, [
    binding("b", "", toClusterRole("reader"), subject("User", "ann"), subject("Group", "dev")),
    binding("c", "n", toRole("gone"), subject("User", "ann")),
  ]);
  const problems = ['role.rbac.authorization.k8s.io "gone" not found'];
  assert.deepEqual(rulesFor(policy, base.user, "n"), { rules: [core], problems });
  assert.deepEqual(listedRules(policy, base.user, "n"), { rules: [core], problems, incomplete: false });
});

test("lists the rules of a role for each binding, and finds them once", () => {
  const ann = subject("User", "ann");
  const names = ["a", "b", "c"];
  const policy = policyOf(
    [role("reader", "", core)],
    names.map((name) => binding(name, "n", toClusterRole("reader"), ann)),
  );
  assert.deepEqual(listedRules(policy, base.user, "n").rules, [core, core, core]);
  assert.deepEqual(rulesFor(policy, base.user, "n").rules, [core]);
});

test("lists the first rules of a user with thousands of bindings of a large role", () => {
  const ann = subject("User", "ann");
  const rules = Array.from({ length: 10_000 }, () => core);
  const bindings = Array.from({ length: 5000 }, (_, index) => binding(`b${index}`, "n", toClusterRole("large"), ann));
  const listed = listedRules(policyOf([role("large", "", ...rules)], bindings), base.user, "n");
  assert.deepEqual([listed.rules.length, listed.incomplete], [36_157, true]);
  assert.deepEqual(listed.problems, ["the rules of the user are too long, and only the first 36157 are listed"]);
});

test("evaluates a large role once for each request, however often bindings refer to it", () => {
  let read = 0;
  const counted: PolicyRule = {
    get verbs() {
      read++;
      return ["list"];
    },
    apiGroups: [""],
    resources: ["pods"],
  };
  const large: Role = { name: "large", namespace: "", rules: Array.from({ length: 100 }, () => counted) };
  const ann = subject("User", "ann");
  const bindings = Array.from({ length: 30 }, (_, index) =>
    binding(`b${index}`, "", toClusterRole("large"), ann, ann, ann),
  );
  assert.deepEqual(rbacAuthorizer(policyOf([large], bindings))(base), { decision: "noOpinion", reason: "" });
  assert.equal(read, 100);
});
