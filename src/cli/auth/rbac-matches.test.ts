import assert from "node:assert/strict";
import { test } from "node:test";
import type { PolicyRule } from "../../authorization/contract.ts";
import type { Binding, Role } from "../../authorization/rbac/policy.ts";
import { mismatchOf } from "./mismatch.ts";
import { pathQuestion, type Question, resourceQuestion, splitResource, type Target, userNamed } from "./question.ts";
import { type NearMiss, rbacMatches } from "./rbac-matches.ts";

const target: Target = { verb: "", resource: "", name: "", namespace: "n", fieldSelector: "", labelSelector: "" };

/** `verb group/resource/subresource name`, or `verb /path`, by ann of the group dev. */
function question(text: string, { user = "ann", groups = ["dev"], namespace = "n" } = {}): Question {
  const [verb = "", what = "", name = ""] = text.split(" ");
  const subject = userNamed(user, groups);
  if (what.startsWith("/")) return pathQuestion(subject, { ...target, verb }, what);
  const [group = "", resource = "", subresource = ""] = what.split("|");
  return resourceQuestion(
    subject,
    { ...target, verb, name, namespace },
    { group, version: "v1", resource, namespaced: true, exists: true },
    subresource,
  );
}

const pods: PolicyRule = { verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "*/status"] };

const mismatchRows: [what: string, rule: PolicyRule, asked: string, want: string | undefined][] = [
  ["a matching request", pods, "get |pods", undefined],
  ["another verb", pods, "delete |pods", "other verb"],
  ["another verb of another group", pods, "delete apps|pods", undefined],
  ["another resource", pods, "get |nodes", undefined],
  ["another group", pods, "get apps|pods", "other API group"],
  ["a subresource", pods, "get |pods|log", "other subresource"],
  ["a wildcard subresource of another name", { ...pods, resources: ["*/log"] }, "get |pods|exec", undefined],
  ["a rule for a subresource only", { ...pods, resources: ["pods/log"] }, "get |pods", "other subresource"],
  ["another name", { ...pods, resourceNames: ["a"] }, "get |pods b", "other name"],
  ["no name", { ...pods, resourceNames: ["a"] }, "list |pods", "other name"],
  ["another verb and name", { ...pods, resourceNames: ["a"] }, "delete |pods b", "other verb"],
  [
    "a rule of everything in a group",
    { verbs: ["get"], apiGroups: ["apps"], resources: ["*"] },
    "get |pods",
    undefined,
  ],
  ["a rule without verbs", { apiGroups: [""], resources: ["pods"] }, "get |pods", undefined],
  ["a path", { verbs: ["get"], nonResourceURLs: ["/healthz"] }, "get /healthz", undefined],
  ["another method", { verbs: ["get"], nonResourceURLs: ["/healthz/*"] }, "post /healthz/x", "other verb"],
  ["a path below", { verbs: ["get"], nonResourceURLs: ["/healthz"] }, "get /healthz/etcd", "other path"],
  ["a path above", { verbs: ["get"], nonResourceURLs: ["/healthz/*"] }, "get /healthz", "other path"],
  ["a path elsewhere", { verbs: ["get"], nonResourceURLs: ["/livez"] }, "get /metrics", undefined],
  ["the path of all", { verbs: ["get"], nonResourceURLs: ["/livez"] }, "get /", undefined],
  ["a path, of a rule for resources", pods, "get /healthz", undefined],
];

for (const [what, rule, request, want] of mismatchRows) {
  test(`${what}: ${request}: ${want ?? "no single mismatch"}`, () =>
    assert.equal(mismatchOf(rule, question(request)), want));
}

const role = (name: string, namespace = "", ...rules: PolicyRule[]): Role => ({ name, namespace, rules });
const bind = (name: string, namespace: string, roleRef: string, ...subjects: string[]): Binding => {
  const [kind = "", roleName = ""] = roleRef.split(" ");
  const subjectOf = (text: string): Binding["subjects"][number] => {
    const [subjectKind = "", who = ""] = text.split(" ");
    const [home, account] = who.split("/");
    return account === undefined
      ? { kind: subjectKind, name: who, namespace: "" }
      : { kind: subjectKind, name: account, namespace: home as string };
  };
  return { name, namespace, roleRef: { kind, name: roleName }, subjects: subjects.map(subjectOf) };
};
const reads = role("reads", "n", { verbs: ["get"], apiGroups: [""], resources: ["secrets"] }, pods);
const all = role("all", "", { verbs: ["*"], apiGroups: ["*"], resources: ["*"] });

const nearOf = (near: NearMiss): string =>
  near.why === "not bound"
    ? `not bound: ${near.role.name}`
    : `${near.why}: ${near.binding.namespace}/${near.binding.name} ${near.subject.kind} ${near.subject.name}`;

/** The bindings that allow the request; or the near misses. */
const rows: [what: string, objects: { roles: Role[]; bindings: Binding[] }, asked: Question, want: string[]][] = [
  ["no roles", { roles: [], bindings: [] }, question("get |pods"), []],
  [
    "a binding",
    { roles: [reads], bindings: [bind("b", "n", "Role reads", "User ann")] },
    question("get |pods"),
    ["b 2"],
  ],
  [
    "several bindings, cluster-wide ones first",
    {
      roles: [reads, all],
      bindings: [bind("b", "n", "Role reads", "Group dev"), bind("c", "", "ClusterRole all", "User ann", "Group dev")],
    },
    question("get |pods"),
    ["c 1", "c 1", "b 2"],
  ],
  [
    "a service account of the namespace of the binding",
    { roles: [reads], bindings: [bind("b", "n", "Role reads", "ServiceAccount robot")] },
    question("get |pods", { user: "system:serviceaccount:n:robot", groups: [] }),
    ["b 2"],
  ],
  [
    "a missing role",
    { roles: [], bindings: [bind("b", "n", "Role gone", "User ann")] },
    question("get |pods"),
    ["missing role: n/b User ann"],
  ],
  [
    "another verb",
    { roles: [reads], bindings: [bind("b", "n", "Role reads", "User ann")] },
    question("delete |pods"),
    ["other verb: n/b User ann"],
  ],
  [
    "a binding in another namespace",
    { roles: [all], bindings: [bind("b", "m", "ClusterRole all", "User ann", "Group dev", "User bob")] },
    question("delete |pods"),
    ["other namespace: m/b User ann", "other namespace: m/b Group dev"],
  ],
  [
    "bindings in some namespaces, and a request for all",
    { roles: [all], bindings: [bind("b", "m", "ClusterRole all", "User ann")] },
    question("delete |pods", { namespace: "" }),
    ["other namespace: m/b User ann"],
  ],
  [
    "groups that the user is not in, and users with a similar name",
    {
      roles: [all],
      bindings: [
        bind(
          "b",
          "n",
          "ClusterRole all",
          "Group ops",
          "Group system:masters",
          "User bob",
          "User oidc:Ann@x.y",
          "Group ann",
          "ServiceAccount n/ann",
        ),
      ],
    },
    question("delete |pods"),
    [
      "other subject: n/b Group ops",
      "other subject: n/b User oidc:Ann@x.y",
      "other subject: n/b Group ann",
      "other subject: n/b ServiceAccount ann",
    ],
  ],
  [
    "roles without a binding, the smallest first",
    {
      roles: [all, reads, role("far", "m", ...all.rules), role("small", "", pods), role("system:x", "", pods)],
      bindings: [],
    },
    question("get |pods"),
    ["not bound: all", "not bound: small", "not bound: reads"],
  ],
  [
    "a path, which only the cluster grants",
    { roles: [all], bindings: [bind("b", "n", "ClusterRole all", "User ann")] },
    question("get /x"),
    [],
  ],
];

for (const [what, objects, request, want] of rows) {
  test(`${what}: ${want.join(", ") || "nothing"}`, () => {
    const { allowing, near } = rbacMatches(objects, request);
    assert.deepEqual(
      allowing.length > 0
        ? allowing.map(({ binding, ruleNumber }) => `${binding.name} ${ruleNumber}`)
        : near.map(nearOf),
      want,
    );
  });
}

test("limits the near misses of one reason, and counts the rest", () => {
  const bindings = Array.from({ length: 30 }, (_, at) => bind(`b${at}`, `m${at}`, "ClusterRole all", "User ann"));
  const { near, more } = rbacMatches({ roles: [all], bindings }, question("get |pods"));
  assert.deepEqual([near.length, more], [5, 25]);
});

const authenticated = "system:authenticated";
const users: [name: string, groups: string[], want: string[]][] = [
  ["ann", [], [authenticated]],
  ["ann", ["dev"], ["dev", authenticated]],
  ["ann", [authenticated, "dev"], [authenticated, "dev"]],
  ["system:anonymous", [], ["system:unauthenticated"]],
  ["system:serviceaccount:n:robot", [], ["system:serviceaccounts", "system:serviceaccounts:n", authenticated]],
  ["system:serviceaccount:n:robot", ["dev"], ["dev", authenticated]],
];

for (const [name, groups, want] of users) {
  test(`${name} with ${groups.join() || "no groups"} is in ${want}`, () =>
    assert.deepEqual(userNamed(name, groups).groups, want));
}

test("splits a resource from its subresource, or returns a path", () => {
  assert.deepEqual(splitResource("pods"), { resource: "pods", subresource: "" });
  assert.deepEqual(splitResource("deployments.apps/scale"), { resource: "deployments.apps", subresource: "scale" });
  assert.deepEqual(splitResource("/healthz/x"), { path: "/healthz/x" });
});
