/**
 * Users with few permissions against a real server: RBAC and access reviews. kubectl-auth.test.ts
 * covers kubectl.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createDefaultAccounts } from "../support/pod-namespaces.ts";
import { type RawRequest, rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const group = "/apis/rbac.authorization.k8s.io/v1";
const reviews = "/apis/authorization.k8s.io/v1";

const { server, client: admin } = await startServerWithClient();
await createDefaultAccounts(admin, "default");
const ann = rawClient((await server.as("ann", ["dev"])).kubeconfig);
after(() => ann.close());

async function grant(
  verbs: string[],
  resources: string[],
  { namespace = "default", resourceNames = [] as string[] } = {},
): Promise<void> {
  const name = `r${Math.random().toString(36).slice(2)}`;
  const rules = [
    { apiGroups: ["", "rbac.authorization.k8s.io", "authorization.k8s.io"], resources, verbs, resourceNames },
  ];
  assert.equal(
    (
      await admin.send({
        method: "POST",
        path: `${group}/namespaces/${namespace}/roles`,
        body: { metadata: { name }, rules },
      })
    ).status,
    201,
  );
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "dev" }];
  const body = { metadata: { name }, roleRef, subjects };
  assert.equal(
    (await admin.send({ method: "POST", path: `${group}/namespaces/${namespace}/rolebindings`, body })).status,
    201,
  );
}

test("a binding applies from the next request on, until it is deleted", async () => {
  const list: RawRequest = { path: "/api/v1/namespaces/default/configmaps" };
  assert.equal((await ann.send(list)).status, 403);
  await grant(["list"], ["configmaps"]);
  assert.equal((await ann.send(list)).status, 200);
  assert.equal((await ann.send({ path: "/api/v1/configmaps" })).status, 403);
  assert.equal((await admin.send({ method: "DELETE", path: `${group}/namespaces/default/rolebindings` })).status, 200);
  const rejected = await ann.send(list);
  assert.equal(
    rejected.body.message,
    'configmaps is forbidden: User "ann" cannot list resource "configmaps" in API group "" in the namespace "default"',
  );
});

test("a user cannot grant permissions that the user does not have", async () => {
  await grant(["create", "get"], ["roles", "rolebindings"]);
  const body = {
    metadata: { name: "more" },
    rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "list"] }],
  };
  const rejected = await ann.send({ method: "POST", path: `${group}/namespaces/default/roles`, body });
  assert.equal(rejected.status, 403);
  assert.equal(
    rejected.body.message,
    'roles.rbac.authorization.k8s.io "more" is forbidden: user "ann" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
  );
});

test("a rule with resourceNames allows list and watch by name, but not deletecollection", async () => {
  const secrets = "/api/v1/namespaces/default/secrets";
  await grant(["list", "watch", "deletecollection"], ["secrets"], { resourceNames: ["x"] });
  const byName = "fieldSelector=metadata.name%3Dx";
  assert.equal((await ann.send({ path: `${secrets}?${byName}` })).status, 200);
  assert.equal((await ann.send({ path: `${secrets}?watch=1&timeoutSeconds=1&${byName}` })).status, 200);
  for (const [method, path] of [
    ["DELETE", `${secrets}?${byName}`],
    ["GET", secrets],
    ["GET", `${secrets}?limit=x&${byName}`],
    ["GET", `/api/v1/watch/namespaces/default/secrets?${byName}`],
  ] as const) {
    const { status, body } = await ann.send({ method, path });
    assert.deepEqual([status, body.details], [403, { kind: "secrets" }], `${method} ${path}`);
  }
  assert.equal((await ann.send({ path: `${secrets}?fieldSelector=metadata.name%3Dy` })).status, 403);
});

test("no write is served below /watch/, and nothing below /proxy/", async () => {
  const writes = [
    ["POST", "configmaps", 405],
    ["DELETE", "configmaps/kube-root-ca.crt", 405],
    ["POST", "pods/a/eviction", 405],
    ["POST", "serviceaccounts/default/token", 405],
  ] as const;
  for (const [method, path, status] of writes) {
    assert.equal(
      (await admin.send({ method, path: `/api/v1/watch/namespaces/default/${path}`, body: {} })).status,
      status,
      path,
    );
  }
  assert.equal((await admin.send({ path: "/api/v1/proxy/nodes/n" })).status, 404);
  const rejected = await ann.send({ method: "POST", path: "/api/v1/watch/namespaces/default/configmaps", body: {} });
  assert.match(rejected.body.message, /cannot watch resource "configmaps"/);
});

const mine = { namespace: "default", verb: "get", group: "rbac.authorization.k8s.io", resource: "roles" };
const someone = { user: "bob", groups: ["system:masters"] };

/** Fields of the answer's status, or the message of the error. */
const rows: [what: string, who: "admin" | "ann", resource: string, spec: object, want: object | string][] = [
  [
    "an allowed verb",
    "ann",
    "selfsubjectaccessreviews",
    { resourceAttributes: mine },
    { allowed: true, reason: /^RBAC: allowed by RoleBinding "r\w+\/default" of Role "r\w+" to Group "dev"$/ },
  ],
  [
    "a verb that is not allowed",
    "ann",
    "selfsubjectaccessreviews",
    { resourceAttributes: { ...mine, verb: "delete" } },
    { allowed: false },
  ],
  [
    "a path",
    "ann",
    "selfsubjectaccessreviews",
    { nonResourceAttributes: { path: "/healthz", verb: "get" } },
    { allowed: true, reason: /ClusterRoleBinding/ },
  ],
  [
    "invalid selectors",
    "ann",
    "selfsubjectaccessreviews",
    {
      resourceAttributes: {
        ...mine,
        fieldSelector: { rawSelector: "a" },
        labelSelector: {
          requirements: [
            { key: "a", operator: "Like" },
            { key: "a", operator: "Exists" },
          ],
        },
      },
    },
    {
      evaluationError:
        "spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector partially ignored due to parse error",
    },
  ],
  [
    "nothing",
    "ann",
    "selfsubjectaccessreviews",
    {},
    '.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
  ],
  [
    "a resource and a path",
    "ann",
    "selfsubjectaccessreviews",
    { resourceAttributes: mine, nonResourceAttributes: { path: "/", verb: "get" } },
    '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: cannot be specified in combination with resourceAttributes',
  ],
  [
    "an empty selector",
    "ann",
    "selfsubjectaccessreviews",
    { resourceAttributes: { ...mine, fieldSelector: {} } },
    '.authorization.k8s.io "" is invalid: spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required',
  ],
  [
    "another user's permission",
    "admin",
    "subjectaccessreviews",
    { ...someone, resourceAttributes: mine },
    { allowed: true },
  ],
  [
    "no user",
    "admin",
    "subjectaccessreviews",
    { resourceAttributes: mine },
    '.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified',
  ],
  [
    "another user's permission",
    "ann",
    "subjectaccessreviews",
    { ...someone, resourceAttributes: mine },
    'subjectaccessreviews.authorization.k8s.io is forbidden: User "ann" cannot create resource "subjectaccessreviews" in API group "authorization.k8s.io" at the cluster scope',
  ],
  [
    "another user's permission in the review's namespace",
    "admin",
    "namespaces/default/localsubjectaccessreviews",
    { user: "ann", groups: ["dev"], resourceAttributes: mine },
    { allowed: true },
  ],
  [
    "another user's permission in another namespace",
    "admin",
    "namespaces/default/localsubjectaccessreviews",
    { user: "ann", resourceAttributes: { ...mine, namespace: "kube-system" } },
    '.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "kube-system": must match metadata.namespace',
  ],
];

for (const [what, who, resource, spec, want] of rows) {
  test(`${typeof want === "string" ? "rejects" : "answers"} a review of ${what} by ${who}: ${resource}`, async () => {
    const { body, text } = await (who === "ann" ? ann : admin).send({
      method: "POST",
      path: `${reviews}/${resource}`,
      body: { spec },
    });
    if (typeof want === "string") return assert.equal(body.message, want);
    for (const [field, value] of Object.entries(want)) {
      if (value instanceof RegExp) assert.match(body.status[field], value);
      else assert.equal(body.status[field], value, text);
    }
  });
}

test("a rules review lists the user's rules in a namespace", async () => {
  const { status, body } = await ann.send({
    method: "POST",
    path: `${reviews}/selfsubjectrulesreviews`,
    body: { spec: { namespace: "default" } },
  });
  assert.equal(status, 201);
  assert.deepEqual(
    body.status.resourceRules.find(({ resources }: { resources: string[] }) => resources.includes("roles")),
    {
      verbs: ["create", "get"],
      apiGroups: ["", "rbac.authorization.k8s.io", "authorization.k8s.io"],
      resources: ["roles", "rolebindings"],
    },
  );
  assert.ok(
    body.status.nonResourceRules.some(({ nonResourceURLs }: { nonResourceURLs: string[] }) =>
      nonResourceURLs.includes("/healthz"),
    ),
  );
  assert.equal(body.status.incomplete, false);
  const without = await ann.send({ method: "POST", path: `${reviews}/selfsubjectrulesreviews`, body: {} });
  assert.deepEqual([without.status, without.body.message], [400, "no namespace on request"]);
});

const users = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

async function grantCluster(name: string, rules: object[]): Promise<void> {
  assert.equal((await admin.send({ method: "POST", path: users, body: { metadata: { name }, rules } })).status, 201);
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" }];
  assert.equal(
    (
      await admin.send({
        method: "POST",
        path: `${group}/clusterrolebindings`,
        body: { metadata: { name }, roleRef, subjects },
      })
    ).status,
    201,
  );
}

const whoAmI = (headers: Record<string, string | string[]>): RawRequest => ({
  method: "POST",
  path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
  headers,
  body: Buffer.from("{}"), // With a string as body, Node writes headers in UTF-8.
});
const authentication = "authentication.k8s.io";
const onReview = (mode: string): object => ({
  apiGroups: [authentication],
  resources: ["selfsubjectreviews"],
  verbs: [`impersonate-on:${mode}:create`],
});

/** Ann's rules, her headers, and the impersonated user or the message of the error. */
const impersonations: [
  what: string,
  rules: object[],
  headers: Record<string, string | string[]>,
  want: object | string,
][] = [
  [
    "no permission",
    [],
    { "impersonate-user": "bob" },
    'selfsubjectreviews.authentication.k8s.io is forbidden: User "ann" cannot impersonate-on:user-info:create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope',
  ],
  [
    "permission to impersonate users, with the verb impersonate",
    [{ apiGroups: [""], resources: ["users"], verbs: ["impersonate"], resourceNames: ["bob", "system:anonymous"] }],
    { "impersonate-user": "bob" },
    { username: "bob", groups: ["system:authenticated"] },
  ],
  [
    "permission to impersonate the anonymous user, who cannot create the review",
    [],
    { "impersonate-user": "system:anonymous" },
    'selfsubjectreviews.authentication.k8s.io is forbidden: User "system:anonymous" cannot create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope',
  ],
  [
    "permission to impersonate groups",
    [{ apiGroups: [""], resources: ["groups"], verbs: ["impersonate"], resourceNames: ["a", "b, c"] }],
    { "impersonate-user": "bob", "impersonate-group": ["a", "b, c"] },
    { username: "bob", groups: ["a", "b, c", "system:authenticated"] },
  ],
  [
    "permission to impersonate extras and a uid",
    [{ apiGroups: [authentication], resources: ["userextras/example.com/scope", "uids"], verbs: ["impersonate"] }],
    { "impersonate-user": "bob", "impersonate-uid": "7", "Impersonate-Extra-example.com%2Fscope": ["x", "y"] },
    { username: "bob", uid: "7", groups: ["system:authenticated"], extra: { "example.com/scope": ["x", "y"] } },
  ],
  [
    "permission to impersonate a service account",
    [
      onReview("serviceaccount"),
      { apiGroups: [authentication], resources: ["serviceaccounts"], verbs: ["impersonate:serviceaccount"] },
    ],
    { "impersonate-user": "system:serviceaccount:n:robot" },
    {
      username: "system:serviceaccount:n:robot",
      groups: ["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"],
    },
  ],
  [
    "permission to impersonate a node",
    [
      onReview("arbitrary-node"),
      { apiGroups: [authentication], resources: ["nodes"], verbs: ["impersonate:arbitrary-node"] },
    ],
    { "impersonate-user": "system:node:n1" },
    { username: "system:node:n1", groups: ["system:nodes", "system:authenticated"] },
  ],
  [
    "permission for constrained impersonation",
    [
      onReview("user-info"),
      { apiGroups: [authentication], resources: ["users", "groups"], verbs: ["impersonate:user-info"] },
    ],
    { "impersonate-user": "eve", "impersonate-group": ["g"] },
    { username: "eve", groups: ["g", "system:authenticated"] },
  ],
  [
    "permission for constrained impersonation of any name",
    [],
    { "impersonate-user": Buffer.from("zoë").toString("latin1") },
    { username: "zoë", groups: ["system:authenticated"] },
  ],
  [
    "permission for constrained impersonation, which excludes system:masters",
    [],
    { "impersonate-user": "eve", "impersonate-group": ["system:masters"] },
    'groups.authentication.k8s.io "system:masters" is forbidden: User "ann" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed',
  ],
];

for (const [index, [what, rules, headers, want]] of impersonations.entries()) {
  test(`${typeof want === "string" ? "rejects" : "allows"} impersonation with ${what}`, async () => {
    if (rules.length > 0) await grantCluster(`impersonation-${index}`, rules);
    const { body } = await ann.send(whoAmI(headers));
    if (typeof want === "string") return assert.equal(body.message, want);
    assert.deepEqual(
      { ...want },
      Object.fromEntries(Object.entries(body.status.userInfo).filter(([key]) => key in (want as object))),
    );
  });
}

test("a node can read a secret while a pod on the node uses it", async () => {
  const { kubeconfig } = await server.as("system:node:n1", ["system:nodes"]);
  const node = rawClient(kubeconfig);
  const secret = "/api/v1/namespaces/default/secrets/needed";
  assert.equal(
    (
      await admin.send({
        method: "POST",
        path: "/api/v1/namespaces/default/secrets",
        body: { metadata: { name: "needed" } },
      })
    ).status,
    201,
  );
  const rejected = await node.send({ path: secret });
  assert.equal(
    rejected.body.message,
    'secrets "needed" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace "default": no relationship found between node \'n1\' and this object',
  );
  const spec = {
    nodeName: "n1",
    containers: [{ name: "c", image: "i" }],
    volumes: [{ name: "v", secret: { secretName: "needed" } }],
  };
  assert.equal(
    (
      await admin.send({
        method: "POST",
        path: "/api/v1/namespaces/default/pods",
        body: { metadata: { name: "p" }, spec },
      })
    ).status,
    201,
  );
  assert.equal((await node.send({ path: secret })).status, 200);
  assert.equal((await node.send({ path: "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1" })).body.items.length, 1);
  assert.equal((await node.send({ path: "/api/v1/pods" })).status, 403);
  assert.equal(
    (await admin.send({ method: "DELETE", path: "/api/v1/namespaces/default/pods/p?gracePeriodSeconds=0" })).status,
    200,
  );
  assert.equal((await node.send({ path: secret })).status, 403);
  node.close();
});
