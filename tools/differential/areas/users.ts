/** Users with and without rights, impersonation, tokens, and reviews of access. */
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { query } from "./steps.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const review = "/apis/authorization.k8s.io/v1";
const core = "/api/v1/namespaces/$ns";

export const users: Area = {
  name: "users",
  make(random) {
    const steps: Step[] = [...rights(random), ...settled(random)];
    for (let times = 7 + random.below(8); times > 0; times--) steps.push(operation(random));
    return steps;
  },
};

const roles: readonly object[] = [
  { rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch", "create"] }] },
  {
    rules: [
      { apiGroups: [""], resources: ["configmaps"], resourceNames: ["a"], verbs: ["get", "update", "patch", "delete"] },
    ],
  },
  { rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] },
  { rules: [{ apiGroups: ["apps"], resources: ["*/scale"], verbs: ["get"] }] },
  {
    rules: [{ apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["create", "escalate", "bind"] }],
  },
  {
    rules: [{ apiGroups: [""], resources: ["pods", "pods/status", "serviceaccounts/token"], verbs: ["create", "get"] }],
  },
  { rules: [] },
];
const subjects: readonly object[] = [
  { kind: "User", name: "$ns-alice", apiGroup: "rbac.authorization.k8s.io" },
  { kind: "Group", name: "$ns-team", apiGroup: "rbac.authorization.k8s.io" },
  { kind: "ServiceAccount", name: "default", namespace: "$ns" },
];

function rights(random: Random): Step[] {
  const binding = {
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" },
    subjects: [random.pick(subjects), subjects[0]],
  };
  const isWide = random.chance(0.3);
  const clusterBinding = {
    metadata: { name: "$ns-b" },
    roleRef: {
      apiGroup: "rbac.authorization.k8s.io",
      kind: "ClusterRole",
      name: random.pick(["view", "edit", "admin", "$ns-r"]),
    },
    subjects: [random.pick(subjects)],
  };
  return [
    { method: "POST", path: `${core}/configmaps`, body: { metadata: { name: "a" } } },
    { method: "POST", path: `${rbac}/namespaces/$ns/roles`, body: { metadata: { name: "r" }, ...random.pick(roles) } },
    { method: "POST", path: `${rbac}/namespaces/$ns/rolebindings`, body: { metadata: { name: "b" }, ...binding } },
    ...(isWide ? [{ method: "POST", path: `${rbac}/clusterrolebindings`, body: clusterBinding }] : []),
  ];
}

/** Rights reach the authorizer through its caches: the last object that is created is the last to arrive. */
function settled(random: Random): Step[] {
  const probe = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "probe" };
  const ask = (name: string): Step => ({
    method: "GET",
    path: `${core}/configmaps/probe-${name}`,
    headers: { "impersonate-user": "$ns-probe" },
    until: 404,
    silent: true,
  });
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];
  return [
    {
      method: "POST",
      path: `${rbac}/namespaces/$ns/roles`,
      body: { metadata: { name: "probe" }, rules },
      silent: true,
    },
    {
      method: "POST",
      path: `${rbac}/namespaces/$ns/rolebindings`,
      body: { metadata: { name: "probe" }, roleRef: probe, subjects: [{ ...probe, kind: "User", name: "$ns-probe" }] },
      silent: true,
    },
    ask("a"),
    {
      id: "token",
      method: "POST",
      path: `${core}/serviceaccounts/default/token`,
      body: { spec: { audiences: random.chance(0.1) ? ["other"] : undefined } },
      silent: true,
    },
  ];
}

const identities: readonly Record<string, string>[] = [
  { "impersonate-user": "$ns-alice" },
  { "impersonate-user": "$ns-alice" },
  { "impersonate-user": "$ns-bob", "impersonate-group": "$ns-team" },
  { "impersonate-user": "system:serviceaccount:$ns:default" },
  { "impersonate-user": "$ns-bob", "impersonate-uid": "1", "impersonate-extra-scopes": "a" },
  { "impersonate-user": "$ns-bob", "impersonate-extra-Example.com%2fa": "b" },
  { "impersonate-user": "system:anonymous" },
  { "impersonate-group": "$ns-team" },
  { "impersonate-uid": "1" },
  { "impersonate-user": "$ns-bob", "impersonate-group": "system:masters" },
  { authorization: "Bearer {{token.status.token}}" },
  { authorization: "Bearer {{token.status.token}}" },
  { authorization: "Bearer {{token.status.token}}", "impersonate-user": "$ns-alice" },
  { "impersonate-user": "system:node:n", "impersonate-group": "system:nodes" },
];

const requests: readonly (readonly [method: string, path: string, body?: object])[] = [
  ["GET", `${core}/configmaps/a`],
  ["GET", `${core}/configmaps`],
  ["GET", `${core}/configmaps?fieldSelector=metadata.name%3Da`],
  ["GET", `${core}/configmaps?watch=true&timeoutSeconds=1&resourceVersion=a`],
  ["POST", `${core}/configmaps`, { metadata: { name: "b" } }],
  ["PUT", `${core}/configmaps/a`, { metadata: { name: "a" }, data: { a: "b" } }],
  ["PUT", `${core}/configmaps/new`, { metadata: { name: "new" } }],
  ["DELETE", `${core}/configmaps/a`],
  ["DELETE", `${core}/configmaps?dryRun=All`],
  ["GET", `${core}/secrets`],
  ["GET", "/api/v1/namespaces/kube-system/configmaps/missing"],
  ["GET", "/api/v1/nodes?fieldSelector=metadata.name%3Dnone"],
  ["GET", "/apis/apps/v1/namespaces/$ns/deployments/a/scale"],
  ["GET", `${core}/pods/a/log`],
  ["POST", `${core}/pods/a/exec`],
  ["POST", `${core}/pods`, { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } }],
  ["POST", `${core}/serviceaccounts/default/token`, { spec: {} }],
  [
    "POST",
    `${rbac}/namespaces/$ns/roles`,
    { metadata: { name: "x" }, rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }] },
  ],
  [
    "POST",
    `${rbac}/namespaces/$ns/roles`,
    {
      metadata: { name: "y" },
      rules: [
        { apiGroups: [""], resources: ["secrets", "pods"], verbs: ["*"] },
        { apiGroups: ["apps"], resources: ["deployments"], resourceNames: ["a"], verbs: ["get"] },
      ],
    },
  ],
  [
    "POST",
    `${rbac}/namespaces/$ns/rolebindings`,
    {
      metadata: { name: "x" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
      subjects: [{ kind: "User", name: "u", apiGroup: "rbac.authorization.k8s.io" }],
    },
  ],
  [
    "POST",
    "/apis/certificates.k8s.io/v1/certificatesigningrequests",
    { metadata: { name: "$ns-csr" }, spec: { request: "YQ==", signerName: "example.com/a", usages: ["client auth"] } },
  ],
  ["GET", "/healthz"],
  ["GET", "/apis/apps"],
  ["GET", "/logs"],
  ["GET", "/other"],
  ["GET", "/apis/example.com/v1/things"],
];

function operation(random: Random): Step {
  const headers = random.pick(identities);
  const roll = random.below(10);
  if (roll < 6) {
    const [method, path, body] = random.pick(requests);
    return { method, path, headers, ...(body && { body }) };
  }
  if (roll < 8) return accessReview(headers, random);
  if (roll < 9) return { method: "POST", path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", headers, body: {} };
  const spec = {
    token: random.pick(["{{token.status.token}}", "a", "", "a.b.c"]),
    audiences: random.pick<unknown>([undefined, ["a"], ["https://kubernetes.default.svc"]]),
  };
  return { method: "POST", path: "/apis/authentication.k8s.io/v1/tokenreviews", body: { spec } };
}

function accessReview(headers: Record<string, string>, random: Random): Step {
  const resourceAttributes = random.pick<object>([
    { namespace: "$ns", verb: "get", resource: "configmaps" },
    { namespace: "$ns", verb: "get", resource: "configmaps", name: "a" },
    { namespace: "$ns", verb: "delete", group: "*", resource: "*" },
    { verb: "list", resource: "nodes" },
    { namespace: "$ns", verb: "get", group: "apps", version: "v1", resource: "deployments", subresource: "scale" },
    {
      namespace: "$ns",
      verb: "list",
      resource: "configmaps",
      fieldSelector: { requirements: [{ key: "metadata.name", operator: "In", values: ["a"] }] },
    },
    { namespace: "$ns", verb: "list", resource: "configmaps", labelSelector: { rawSelector: "a in (b" } },
    { verb: "", resource: "" },
    {},
  ]);
  const nonResourceAttributes = random.pick<object>([
    { path: "/healthz", verb: "get" },
    { path: "/logs/a", verb: "get" },
    { path: "", verb: "" },
  ]);
  const attributes = random.pick<object>([
    { resourceAttributes },
    { resourceAttributes },
    { nonResourceAttributes },
    { resourceAttributes, nonResourceAttributes },
    {},
  ]);
  const who = random.pick<object>([
    { user: "$ns-alice" },
    { user: "$ns-bob", groups: ["$ns-team"] },
    { groups: ["system:masters"] },
    { user: "system:serviceaccount:$ns:default", extra: { a: ["b"] } },
    {},
  ]);
  const kind = random.pick([
    "subjectaccessreviews",
    "selfsubjectaccessreviews",
    "localsubjectaccessreviews",
    "selfsubjectrulesreviews",
  ]);
  if (kind === "selfsubjectrulesreviews")
    return {
      method: "POST",
      path: `${review}/${kind}`,
      headers,
      body: { spec: { namespace: random.pick(["$ns", "", "other"]) } },
    };
  const isLocal = kind === "localsubjectaccessreviews";
  const spec = kind === "selfsubjectaccessreviews" ? attributes : { ...attributes, ...who };
  const namespace = isLocal ? { metadata: { namespace: random.pick(["$ns", "other"]) } } : {};
  return {
    method: "POST",
    path: `${review}/${isLocal ? "namespaces/$ns/" : ""}${kind}${query(random.chance(0.1) && "dryRun=All")}`,
    headers,
    body: { ...namespace, spec },
  };
}
