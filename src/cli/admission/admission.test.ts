/** `coxswain admission explain` against a server that explains admission, and one that does not. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { rawClient } from "../../../test/support/raw-client.ts";
import { startTestServer, type TestServer } from "../../../test/support/start-test-server.ts";
import { startWebhookServer } from "../../../test/support/webhook-server.ts";
import { defaultAdmissionOptions } from "../../admission/options.ts";
import { admissionCommand } from "./command.ts";

let server: TestServer;
let other: TestServer;
before(async () => {
  server = await startTestServer({ admission: { ...defaultAdmissionOptions, explain: true } });
  other = await startTestServer();
});
after(async () => {
  await server.close();
  await other.close();
});

/** Lists all steps. */
function run(object: object, argv: readonly string[] = [], on = server): Promise<{ code: number; text: string }> {
  return explain(object, ["--all", ...argv], on);
}

async function explain(
  object: object,
  argv: readonly string[] = [],
  on = server,
): Promise<{ code: number; text: string }> {
  const file = join(server.directory, "object.json");
  writeFileSync(file, JSON.stringify(object));
  let text = "";
  const write = (piece: string): void => {
    text += piece;
  };
  const args = ["explain", "-f", file, "--kubeconfig", on.kubeconfigPath, ...argv];
  const code = await admissionCommand.run(args, { out: write, err: write }, {});
  return { code, text: text.replace(/[\d.]+ ms/g, "N ms") };
}

const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
const inNamespace = (namespace: string) => ({ ...configMap, metadata: { name: "a", namespace } });

test("lists the plugins that saw a create, and stores nothing", async () => {
  const { code, text } = await run(configMap);
  assert.equal(code, 0);
  assert.match(text, /^Allowed: the server would answer 201\.\n\nNamespaceLifecycle \(mutating\): unchanged, N ms\n/);
  const client = rawClient(server.kubeconfig);
  const { status } = await client.send({ method: "GET", path: "/api/v1/namespaces/default/configmaps/a" });
  client.close();
  assert.equal(status, 404);
});

test("shows the change of a plugin as a patch", async () => {
  const spec = { ports: [{ port: 80 }] };
  const { text } = await run({ apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec });
  assert.match(text, /ServiceAddresses \(mutating\): changed, N ms\n {4}\{"op":"(add|replace)","path":"\/spec/);
});

test("without --all, lists what changed something, and counts the rest", async () => {
  const spec = { ports: [{ port: 80 }] };
  const { code, text } = await explain({ apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec });
  assert.equal(code, 0);
  const lines = text.trimEnd().split("\n");
  assert.equal(lines[0], "Allowed: the server would answer 201.");
  assert.match(lines.at(-1) ?? "", /^The other plugins changed nothing \(--all lists them\)$/);
  const plugins = lines.filter((line) => / \((?:mutating|validating)\): /.test(line));
  assert.ok(plugins.length > 0 && plugins.length < 4, text);
  for (const line of plugins) assert.match(line, /: changed, N ms$/);
  assert.equal(
    (await explain(configMap)).text,
    "Allowed: the server would answer 201.\n\nNo plugin changed anything (--all lists them)\n",
  );
  const { text: rejected } = await explain(inNamespace("missing"));
  assert.match(rejected, /^NamespaceLifecycle \(mutating\): rejected, N ms\n {4}namespaces "missing" not found$/m);
});

const rejected: [what: string, object: object, argv: string[], expected: RegExp][] = [
  [
    "a rejection names the plugin and its message",
    inNamespace("missing"),
    [],
    /^Rejected with 404: namespaces "missing" not found\n\nNamespaceLifecycle \(mutating\): rejected, N ms\n {4}namespaces "missing" not found\n$/,
  ],
  [
    "a user without permission for the request sees nothing",
    configMap,
    ["--as", "ann"],
    /^Error: configmaps is forbidden: User "ann" cannot create resource "configmaps" in API group "" in the namespace "default"\n$/,
  ],
  [
    "an update of a missing object",
    configMap,
    ["--operation", "delete"],
    /^Rejected with 404: configmaps "a" not found/,
  ],
  ["an object without a kind", { metadata: {} }, [], /^Error: the object has no apiVersion and kind\n$/],
  ["an unknown kind", { ...configMap, kind: "X" }, [], /^Error: the server has no kind "X" in v1\n$/],
];
for (const [what, object, argv, expected] of rejected)
  test(what, async () => {
    const { code, text } = await run(object, argv);
    assert.match(text, expected);
    assert.equal(code, text.startsWith("Error") ? 2 : 1);
  });

const group = "/apis/admissionregistration.k8s.io/v1";

/** Creates a policy about ConfigMaps, with a binding. */
async function createPolicy(name: string, spec: object, binding: object = {}): Promise<void> {
  const client = rawClient(server.kubeconfig);
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
  const send = async (path: string, body: object): Promise<void> =>
    assert.equal((await client.send({ method: "POST", path, body })).status, 201);
  await send(`${group}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [rule] }, ...spec },
  });
  await send(`${group}/validatingadmissionpolicybindings`, {
    metadata: { name: `bind-${name}` },
    spec: { policyName: name, validationActions: ["Deny"], ...binding },
  });
  client.close();
}

test("lists each policy with its verdict, or why it does not match", async () => {
  const isBlue = { expression: "object.metadata.name != 'blue'", message: "blue is taken" };
  await createPolicy("names", { validations: [isBlue] });
  await createPolicy("warns", { validations: [isBlue] }, { validationActions: ["Warn"] });
  const never = { name: "never", expression: "false" };
  await createPolicy("conditional", { validations: [isBlue], matchConditions: [never] });
  const matchResources = { objectSelector: { matchLabels: { a: "b" } } };
  await createPolicy("labeled", { validations: [isBlue] }, { matchResources });
  await createPolicy(
    "params",
    {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      validations: [{ expression: "params.data.name != object.metadata.name" }],
    },
    { paramRef: { name: "taken", parameterNotFoundAction: "Deny" } },
  );
  const { code, text } = await run({ ...configMap, metadata: { name: "blue" } });
  assert.equal(code, 1);
  assert.match(text, /^Rejected with 422: configmaps "blue" is forbidden: /);
  const policies = `validatingadmissionpolicies.admissionregistration.k8s.io`;
  const bindings = `validatingadmissionpolicybindings.admissionregistration.k8s.io`;
  for (const [name, verdict, more] of [
    ["names", "rejected", "blue is taken"],
    ["warns", "allowed", "Warn: blue is taken"],
    ["conditional", "skipped", "the match condition never is false"],
    ["labeled", "skipped", "the request does not match the matchResources of the binding"],
    ["params", "failed", "no params found for policy binding with `Deny` parameterNotFoundAction"],
  ])
    assert.ok(
      text.includes(
        `  ${name} (validating): ${verdict}, N ms\n    from ${policies} ${name}\n    from ${bindings} bind-${name}\n    ${more}\n`,
      ),
      `${name}: ${text}`,
    );
  const { text: short } = await explain({ ...configMap, metadata: { name: "blue" } });
  assert.match(short, /^ {2}names \(validating\): rejected, N ms$/m);
  assert.match(short, / {2}warns \(validating\): allowed, N ms\n(?: {4}from .*\n)+ {4}Warn: blue is taken$/m);
  assert.match(short, /^The other plugins changed nothing; skipped: conditional, labeled \(--all lists them\)$/m);
  assert.doesNotMatch(short, /conditional \(validating\)/);
  const { text: ofService } = await run({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "s" },
    spec: { ports: [{ port: 80 }] },
  });
  assert.match(
    ofService,
    /names \(validating\): skipped, N ms\n.*\n {4}the request does not match the matchConstraints of the policy/,
  );
});

test("shows what a mutating policy changes", async () => {
  const client = rawClient(server.kubeconfig);
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] };
  const mutations = [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{type: 'x/y'}" } }];
  const spec = { matchConstraints: { resourceRules: [rule] }, reinvocationPolicy: "Never", mutations };
  for (const [path, body] of [
    ["mutatingadmissionpolicies", { metadata: { name: "typed" }, spec }],
    ["mutatingadmissionpolicybindings", { metadata: { name: "typed" }, spec: { policyName: "typed" } }],
  ] as const)
    assert.equal((await client.send({ method: "POST", path: `${group}/${path}`, body })).status, 201);
  client.close();
  const { text } = await run({ apiVersion: "v1", kind: "Secret", metadata: { name: "a" } });
  assert.match(text, /^MutatingAdmissionPolicy \(mutating\): changed, N ms\n(?: {4}.*\n)+ {2}typed \(mutating\)/m);
  assert.match(
    text,
    / {2}typed \(mutating\): changed, N ms\n.*\n.*\n {4}\{"op":"(add|replace)","path":"\/type","value":"x\/y"\}/,
  );
  assert.match(
    (await run(configMap)).text,
    / {2}typed \(mutating\): skipped, N ms\n.*\n {4}the request does not match/,
  );
});

test("lists each webhook with its verdict and patch", async () => {
  const hooks = await startWebhookServer(({ path, body }) => {
    const denies = path.startsWith("/deny");
    const patch = Buffer.from('[{"op":"add","path":"/data","value":{"a":"b"}}]').toString("base64");
    const response = path.startsWith("/patch")
      ? { allowed: true, patch, patchType: "JSONPatch" }
      : { allowed: !denies };
    return {
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      response: { uid: body.request.uid, ...response },
    };
  });
  const client = rawClient(server.kubeconfig);
  const create = async (kind: "mutating" | "validating", name: string, fields: object = {}): Promise<void> => {
    const webhook = {
      name: `${name}.example.com`,
      clientConfig: { url: `${hooks.url}/${name}`, caBundle: Buffer.from(hooks.ca).toString("base64") },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["endpoints"], operations: ["*"] }],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      ...fields,
    };
    const path = `${group}/${kind}webhookconfigurations`;
    assert.equal(
      (await client.send({ method: "POST", path, body: { metadata: { name }, webhooks: [webhook] } })).status,
      201,
    );
  };
  await create("mutating", "patch", {
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["podtemplates"], operations: ["*"] }],
  });
  await create("validating", "allow");
  await create("validating", "deny");
  await create("validating", "down", { clientConfig: { url: "https://127.0.0.1:1/" }, failurePolicy: "Ignore" });
  await create("validating", "conditional", { matchConditions: [{ name: "never", expression: "false" }] });
  client.close();
  const { code, text } = await run({ apiVersion: "v1", kind: "Endpoints", metadata: { name: "a" } });
  await hooks.close();
  assert.equal(code, 1);
  for (const [kind, name, verdict, more] of [
    ["mutating", "patch", "skipped", "the request does not match the rules or selectors of the webhook"],
    ["validating", "allow", "allowed", ""],
    ["validating", "deny", "rejected", 'admission webhook "deny.example.com" denied the request without explanation'],
    ["validating", "down", "failed", "the call failed, and failurePolicy is Ignore"],
    ["validating", "conditional", "skipped", "the request does not match the matchConditions of the webhook"],
  ]) {
    const from = `from ${kind}webhookconfigurations.admissionregistration.k8s.io ${name}`;
    const step = `  ${name}.example.com (${kind}): ${verdict}, N ms\n    ${from}\n${more === "" ? "" : `    ${more}\n`}`;
    assert.ok(text.includes(step), `${name}: ${text}`);
  }
});

test("counts the steps of policies and parameters that the user cannot get", async () => {
  const admin = rawClient(server.kubeconfig);
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }];
  await admin.send({ method: "POST", path: `${rbac}/clusterroles`, body: { metadata: { name: "creator" }, rules } });
  const subjects = [{ kind: "User", name: "joe", apiGroup: "rbac.authorization.k8s.io" }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "creator" };
  const body = { metadata: { name: "joe" }, subjects, roleRef };
  await admin.send({ method: "POST", path: `${rbac}/clusterrolebindings`, body });
  admin.close();
  const { text } = await run({ ...configMap, metadata: { name: "green" } }, ["--as", "joe"]);
  assert.match(text, /NamespaceLifecycle/);
  assert.doesNotMatch(text, /names|warns|labeled/);
  assert.match(text, /\n7 steps are hidden: you may not get their configurations or parameters\.\n$/);
});

test("names violated checks of pods with fields and allowed values", async () => {
  const client = rawClient(server.kubeconfig);
  const labels = {
    "pod-security.kubernetes.io/enforce": "baseline",
    "pod-security.kubernetes.io/audit": "restricted",
    "pod-security.kubernetes.io/warn": "restricted",
  };
  await client.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: "secured", labels } } });
  const account = { metadata: { name: "default" } };
  await client.send({ method: "POST", path: "/api/v1/namespaces/secured/serviceaccounts", body: account });
  client.close();
  const metadata = { name: "a", namespace: "secured" };
  const spec = {
    hostPID: true,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    containers: [{ name: "a", image: "a", securityContext: { capabilities: { drop: ["ALL"] } } }],
  };
  const step = (id: string, outcome: string, message: string): string =>
    `  ${id} (validating): ${outcome}, N ms\n    from namespaces secured\n    ${message}\n`;
  const ofPod = "hostNamespaces";
  const pod = await run({ apiVersion: "v1", kind: "Pod", metadata, spec }, [
    "--as",
    "secured-admin",
    "--as-group",
    "system:masters",
  ]);
  assert.equal(pod.code, 1);
  const hostPid = "host namespaces: spec.hostPID is true, allowed: false, or unset";
  assert.ok(pod.text.includes(step(ofPod, "rejected", `enforce baseline:latest: ${hostPid}`)), pod.text);
  assert.ok(pod.text.includes(step(ofPod, "allowed", `audit restricted:latest: ${hostPid}`)), pod.text);
  const template = { metadata: { labels: { a: "b" } }, spec };
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: { selector: { matchLabels: { a: "b" } }, template },
  };
  const { code, text } = await run(deployment);
  assert.equal(code, 0);
  const escalation =
    "audit, warn restricted:latest: allowPrivilegeEscalation != false: spec.template.spec.containers[0].securityContext.allowPrivilegeEscalation is not set, allowed: false";
  assert.ok(text.includes(step("allowPrivilegeEscalation", "allowed", escalation)), text);
});

test("names what a quota would have allowed", async () => {
  const client = rawClient(server.kubeconfig);
  const send = async (method: string, path: string, body: object): Promise<void> =>
    assert.ok((await client.send({ method, path: `/api/v1/namespaces${path}`, body })).status < 300);
  await send("POST", "", { metadata: { name: "limited" } });
  const hard = { secrets: "0" };
  await send("POST", "/limited/resourcequotas", { metadata: { name: "q" }, spec: { hard } });
  await send("PUT", "/limited/resourcequotas/q/status", { metadata: { name: "q" }, status: { hard, used: hard } });
  client.close();
  const { code, text } = await run({ ...inNamespace("limited"), kind: "Secret" });
  assert.equal(code, 1);
  const message = "secrets: 1 requested, 0 of 0 used, allowed: at most 0";
  assert.match(text, /^Rejected with 403: secrets "a" is forbidden: exceeded quota: q, requested: secrets=1, /);
  assert.ok(
    text.includes(`  q (validating): rejected, N ms\n    from resourcequotas limited/q\n    ${message}\n`),
    text,
  );
});

test("a server without the flag does not explain", async () => {
  const { code, text } = await run(configMap, [], other);
  assert.deepEqual(
    [code, text],
    [2, "Error: the server does not explain admission; Coxswain does with --enable-admission-explain\n"],
  );
});

test("requests that are not dry runs of one write are rejected", async () => {
  const client = rawClient(server.kubeconfig);
  const headers = { "coxswain-explain": "admission" };
  const path = "/api/v1/namespaces/default/configmaps";
  for (const [method, target] of [
    ["POST", path],
    ["GET", `${path}?dryRun=All`],
    ["DELETE", `${path}?dryRun=All`],
  ]) {
    const answer = await client.send({ method: method as string, path: target as string, headers, body: configMap });
    assert.equal(answer.status, 400, `${method} ${target}`);
    assert.match(
      answer.text,
      /admission can only be explained for creates, updates, patches and deletes with dryRun=All/,
    );
  }
  client.close();
});
