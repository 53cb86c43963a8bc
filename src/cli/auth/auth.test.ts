/** `coxswain auth explain` against a real server, and against a fake one with other answers. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { rawClient } from "../../../test/support/raw-client.ts";
import { startTestServer, type TestServer } from "../../../test/support/start-test-server.ts";
import type { Sender } from "../client/ask.ts";
import { authCommand } from "./command.ts";
import { explain } from "./explain.ts";
import { decidedBy, isAllowed } from "./explanation.ts";
import { formatJson, formatText } from "./format.ts";
import { userNamed } from "./question.ts";

const group = "rbac.authorization.k8s.io";
let server: TestServer;

before(async () => {
  server = await startTestServer();
  const admin = rawClient(server.kubeconfig);
  const post = async (path: string, body: object): Promise<void> => {
    assert.equal((await admin.send({ method: "POST", path: `/apis/${group}/v1/${path}`, body })).status, 201);
  };
  const to = (kind: string, name: string): object => ({ apiGroup: group, kind, name });
  const read = { verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] };
  await post("namespaces/default/roles", { metadata: { name: "reader" }, rules: [read] });
  await post("namespaces/default/rolebindings", {
    metadata: { name: "ann" },
    roleRef: to("Role", "reader"),
    subjects: [to("User", "ann")],
  });
  await post("namespaces/default/rolebindings", {
    metadata: { name: "broken" },
    roleRef: to("Role", "gone"),
    subjects: [to("Group", "dev")],
  });
  await post("namespaces/kube-system/rolebindings", {
    metadata: { name: "dev" },
    roleRef: to("ClusterRole", "edit"),
    subjects: [to("Group", "dev")],
  });
  admin.close();
});
after(() => server.close());

async function run(
  line: string,
  kubeconfigPath = server.kubeconfigPath,
): Promise<{ code: number; out: string; err: string }> {
  const texts = { out: "", err: "" };
  const output = {
    out: (text: string) => {
      texts.out += text;
    },
    err: (text: string) => {
      texts.err += text;
    },
  };
  const code = await authCommand.run(["explain", ...line.split(" ").filter((word) => word !== "")], output, {
    KUBECONFIG: kubeconfigPath,
  });
  return { code, ...texts };
}

/** The whole output. */
const rows: [line: string, code: number, out: string][] = [
  [
    "--as ann get po",
    0,
    `User "ann" (groups "system:authenticated") may get pods in the namespace "default".
Decided by: RBAC (a role that is bound to the user)
Reason: RBAC: allowed by RoleBinding "ann/default" of Role "reader" to User "ann"

RBAC allows it:
  RoleBinding "default/ann" to User "ann"
    Role "default/reader", rule 1: verbs get, list; resources pods; API groups ""
`,
  ],
  [
    "--as ann --as-group dev delete pod x",
    1,
    `User "ann" (groups "dev", "system:authenticated") may not delete pods "x" in the namespace "default".
Decided by: none (no authorizer allowed it)
Reason: RBAC: role.rbac.authorization.k8s.io "gone" not found

RBAC does not allow it. What comes closest:
  missing role: RoleBinding "default/broken" to Group "dev"
    role.rbac.authorization.k8s.io "gone" not found
  other verb: RoleBinding "default/ann" to User "ann"
    Role "default/reader", rule 1: verbs get, list; resources pods; API groups ""
  other namespace: RoleBinding "kube-system/dev" to Group "dev"
    ClusterRole "edit", rule 3: verbs delete, create, deletecollection, patch, update; resources pods, pods/attach, pods/exec, pods/portforward, pods/proxy; API groups ""
  not bound: ClusterRole "admin", rule 3: verbs delete, create, deletecollection, patch, update; resources pods, pods/attach, pods/exec, pods/portforward, pods/proxy; API groups ""
`,
  ],
  [
    "--as ann get /metrics",
    1,
    `User "ann" (groups "system:authenticated") may not get the path "/metrics".
Decided by: none (no authorizer allowed it)

RBAC does not allow it. What comes closest:
  other subject: ClusterRoleBinding "system:monitoring" to Group "system:monitoring"
    ClusterRole "system:monitoring", rule 1: verbs get; paths /metrics, /flagz, /healthz, /healthz/*, /livez, /livez/* … (4 more)
`,
  ],
  [
    "--as system:node:n1 --as-group system:nodes list pods -A --field-selector spec.nodeName=n1",
    0,
    `User "system:node:n1" (groups "system:nodes", "system:authenticated") may list pods with the field selector "spec.nodeName=n1" in the whole cluster.
Decided by: Node (named "node", by the metrics of the server)

RBAC alone would not allow it.
`,
  ],
  [
    "delete nodes n1",
    0,
    `User "kubernetes-admin" (groups "system:masters", "system:authenticated") may delete nodes "n1" in the whole cluster.
Decided by: system:masters (members of this group are allowed everything, before any authorizer runs)

RBAC allows it:
  ClusterRoleBinding "cluster-admin" to Group "system:masters"
    ClusterRole "cluster-admin", rule 1: verbs *; resources *; API groups *
`,
  ],
  [
    "--as zoe get widgets.example.com/status -n kube-system",
    1,
    `Note: the server doesn't have a resource type "widgets.example.com"
User "zoe" (groups "system:authenticated") may not get widgets.example.com/status in the namespace "kube-system".
Decided by: none (no authorizer allowed it)

RBAC does not allow it, and no rule comes close.
`,
  ],
];

for (const [line, code, out] of rows) {
  test(`explain ${line}`, async () => {
    const ran = await run(line);
    assert.equal(ran.out, out);
    assert.deepEqual([ran.code, ran.err], [code, ""]);
  });
}

test("prints JSON with -o json", async () => {
  const { code, out } = await run("--as ann get deployments.apps x -o json");
  const { user, request, allowed, decidedBy: decided, review, rbac } = JSON.parse(out);
  assert.equal(code, 1);
  assert.deepEqual(
    [user, allowed, decided.authorizer],
    [{ name: "ann", groups: ["system:authenticated"] }, false, "none"],
  );
  const expected = {
    verb: "get",
    isResourceRequest: true,
    group: "apps",
    version: "v1",
    resource: "deployments",
    namespace: "default",
    name: "x",
  };
  assert.deepEqual(request, expected);
  assert.deepEqual(review, { allowed: false, denied: false, reason: "", evaluationError: "" });
  assert.deepEqual(rbac.allowing, []);
  assert.deepEqual(
    rbac.closest.map(({ why, role }: { why: string; role: object }) => [why, role]),
    [
      ["not bound", { kind: "ClusterRole", name: "view" }],
      ["not bound", { kind: "ClusterRole", name: "admin" }],
    ],
  );
});

test("shows the server's error to a user that is not allowed to list roles", async () => {
  const { kubeconfigPath } = await server.as("ann");
  const own = await run("get pods", kubeconfigPath);
  assert.equal(own.code, 0);
  assert.match(own.out, /^Decided by: RBAC /m);
  assert.match(
    own.out,
    /^Roles and bindings cannot be read: clusterroles\.rbac\.authorization\.k8s\.io is forbidden: User "ann" cannot list/m,
  );
  const others = await run("--as bob get pods", kubeconfigPath);
  assert.deepEqual([others.code, others.out], [2, ""]);
  assert.match(
    others.err,
    /^Error: the server answers neither the review nor the list of its roles: subjectaccessreviews\.authorization\.k8s\.io is forbidden: /,
  );
});

test("evaluates roles for a user that is not allowed to create reviews", async () => {
  const admin = rawClient(server.kubeconfig);
  const roleRef = { apiGroup: group, kind: "ClusterRole", name: "looks" };
  const rules = [{ verbs: ["list"], apiGroups: [group], resources: ["*"] }];
  const subjects = [{ apiGroup: group, kind: "User", name: "looker" }];
  await admin.send({
    method: "POST",
    path: `/apis/${group}/v1/clusterroles`,
    body: { metadata: { name: "looks" }, rules },
  });
  await admin.send({
    method: "POST",
    path: `/apis/${group}/v1/clusterrolebindings`,
    body: { metadata: { name: "looks" }, roleRef, subjects },
  });
  admin.close();
  const { kubeconfigPath } = await server.as("looker");
  const allowed = await run("--as ann get pods", kubeconfigPath);
  assert.equal(allowed.code, 0);
  assert.match(
    allowed.out,
    /^Decided by: unknown \(the server rejected the review; the rest is derived from its roles and bindings\)$/m,
  );
  assert.match(allowed.out, /^The server answered: subjectaccessreviews\.authorization\.k8s\.io is forbidden: /m);
  assert.equal((await run("--as bob get pods", kubeconfigPath)).code, 1);
});

const usage: [line: string, err: RegExp][] = [
  ["get", /missing required argument 'resource'/],
  ["get pods a b", /too many arguments/],
  ["--as-group x get pods", /^Error: --as-group needs --as$/m],
  ["-o yaml get pods", /Allowed choices are text, json/],
  ["--nonsense get pods", /unknown option/],
  ["--kubeconfig /nonexistent get pods", /^Error: \/nonexistent cannot be read: no such file or directory$/m],
  ["--context other get pods", /^Error: context "other" does not exist$/m],
];

for (const [line, err] of usage) {
  test(`explain ${line}: ${err.source}`, async () => {
    const ran = await run(line);
    assert.deepEqual([ran.code, ran.out], [2, ""]);
    assert.match(ran.err, err);
  });
}

test("--help lists the options", async () => {
  const { code, out } = await run("--help");
  assert.equal(code, 0);
  for (const option of [
    "--as <user>",
    "--as-group <group>",
    "--namespace",
    "--field-selector",
    "--kubeconfig",
    "--output",
  ])
    assert.ok(out.includes(option), option);
});

/**
 * A server without roles that answers every review with `status` and reports the decision counts of
 * `counts`.
 */
function fakeServer(status: object, counts: (asked: number) => string = () => ""): Sender {
  let reviews = 0;
  const answer = (path: string): string => {
    if (path === "/metrics") return counts(reviews);
    if (!path.includes("accessreviews"))
      return JSON.stringify(path.includes("rbac") ? { items: [] } : { kind: "APIGroupDiscoveryList" });
    reviews++;
    return JSON.stringify({ status });
  };
  return {
    send: async ({ path }) => ({
      status: path === "/metrics" && counts(0) === "" ? 403 : 200,
      body: Buffer.from(answer(path)),
    }),
  };
}

const count = (decision: string, name: string, type: string, value: number): string =>
  `apiserver_authorization_decisions_total{decision="${decision}",name="${name}",type="${type}"} ${value}\n`;
const byAbac = (reviews: number): string =>
  count("allowed", "abac", "ABAC", 7 + reviews) +
  count("allowed", "rbac", "RBAC", 90 + reviews) +
  count("allowed", "node", "Node", 4);

const verdicts: [
  what: string,
  status: object,
  counts: ((asked: number) => string) | undefined,
  decided: string,
  allowed: boolean,
][] = [
  [
    "a webhook that denies",
    { allowed: false, denied: true, reason: "no" },
    undefined,
    "Webhook (an authorizer denied it; only webhooks deny)",
    false,
  ],
  [
    "a counted webhook",
    { denied: true },
    (asked) => count("denied", "w", "Webhook", asked),
    'Webhook (named "w", by the metrics of the server)',
    false,
  ],
  [
    "a webhook that allows",
    { allowed: true, reason: "since it is Monday" },
    undefined,
    "other (an authorizer with its own reasons, such as a webhook)",
    true,
  ],
  [
    "an authorizer without a reason",
    { allowed: true },
    undefined,
    "other (AlwaysAllow, ABAC or a webhook, which gave no reason)",
    true,
  ],
  ["counted ABAC", { allowed: true }, byAbac, 'ABAC (named "abac", by the metrics of the server)', true],
  [
    "one of two counted authorizers",
    { allowed: true },
    (asked) => byAbac(asked) + count("allowed", "w", "Webhook", asked),
    'other (one of ABAC "abac", Webhook "w")',
    true,
  ],
  [
    "no counted authorizer",
    { allowed: true },
    () => count("allowed", "abac", "ABAC", 7),
    "other (AlwaysAllow, ABAC or a webhook, which gave no reason)",
    true,
  ],
  ["no authorizer", { allowed: false }, byAbac, "none (no authorizer allowed it)", false],
  ["an empty status", {}, undefined, "none (no authorizer allowed it)", false],
];

const asked = { verb: "get", resource: "pods", name: "", namespace: "", fieldSelector: "", labelSelector: "" };

for (const [what, status, counts, decided, allowed] of verdicts) {
  test(`names the authorizer of a verdict: ${what}`, async () => {
    const explanation = await explain(fakeServer(status, counts), asked, userNamed("ann", []));
    const { authorizer, how } = decidedBy(explanation);
    assert.deepEqual([`${authorizer} (${how})`, isAllowed(explanation)], [decided, allowed]);
    assert.equal(JSON.parse(formatJson(explanation)).decidedBy.authorizer, authorizer);
  });
}

test("names ABAC on a server with ABAC", async () => {
  const directory = server.directory;
  const file = join(directory, "abac.jsonl");
  const policy = {
    apiVersion: "abac.authorization.kubernetes.io/v1beta1",
    kind: "Policy",
    spec: { user: "ann", namespace: "*", resource: "pods", apiGroup: "*" },
  };
  writeFileSync(file, JSON.stringify(policy));
  const other = await startTestServer({ authorizationModes: ["ABAC", "RBAC"], authorizationPolicyFile: file });
  try {
    const { code, out } = await run("--as ann delete pods", other.kubeconfigPath);
    assert.equal(code, 0);
    assert.match(out, /^Decided by: ABAC \(named "abac", by the metrics of the server\)$/m);
  } finally {
    await other.close();
  }
});

test("escapes control characters in texts of the server", async () => {
  const explanation = await explain(
    fakeServer({ allowed: false, reason: "a\u001b[2J\nb", evaluationError: "\u0007" }),
    asked,
    userNamed("\u001b[31m", ["\u001b"]),
  );
  const text = formatText(explanation);
  assert.doesNotMatch(text.replaceAll("\n", ""), /\p{Cc}/u);
  assert.match(text, /^Reason: a\\x1b\[2J\n {2}b$/m);
});

test("reports a server without aggregated discovery", async () => {
  const plain: Sender = { send: async () => ({ status: 200, body: Buffer.from('{"kind":"APIVersions"}') }) };
  await assert.rejects(explain(plain, asked, userNamed("ann", [])), {
    message: "the server has no aggregated discovery",
  });
  const broken: Sender = { send: async () => ({ status: 502, body: Buffer.from("<html>") }) };
  await assert.rejects(explain(broken, asked, userNamed("ann", [])), { message: "GET /api: the server answered 502" });
});
