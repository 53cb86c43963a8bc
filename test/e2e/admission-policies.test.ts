/**
 * ValidatingAdmissionPolicies through a server: what is written applies to the next request, and
 * expressions read parameters, namespaces and the decisions of an authorization webhook.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import type { Answer } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { until } from "../support/until.ts";
import { startWebhookServer } from "../support/webhook-server.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-policies-"));
after(() => rmSync(directory, { recursive: true, force: true }));
const base64 = (text: string): string => Buffer.from(text).toString("base64");

let reviews = 0;
/** Reviews of the verb "wait", which are answered when these functions are called. */
const waiting: (() => void)[] = [];
const webhook = await startWebhookServer(async ({ body }) => {
  reviews++;
  const { resourceAttributes } = body.spec;
  const verb = resourceAttributes?.verb;
  if (verb === "wait") await new Promise<void>((resolve) => waiting.push(resolve));
  const allowed = verb === "praise" || verb === "wait";
  return {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    status: { allowed, reason: `no ${resourceAttributes?.verb}` },
  };
});
after(() => webhook.close());
const configFile = join(directory, "webhook.yaml");
writeFileSync(
  configFile,
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "w", user: "u" } }],
    users: [{ name: "u", user: {} }],
    clusters: [
      { name: "w", cluster: { server: `${webhook.url}/a`, "certificate-authority-data": base64(webhook.ca) } },
    ],
  }),
);
const log = join(directory, "audit.log");
const policyFile = join(directory, "policy.yaml");
writeFileSync(
  policyFile,
  "{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [{level: Metadata}]}",
);
const { client } = await startServerWithClient({
  authorizationModes: ["Node", "RBAC", "Webhook"],
  authorization: {
    configFile: undefined,
    webhook: { configFile, version: "v1", authorizedTtlMs: 0, unauthorizedTtlMs: 0 },
  },
  audit: { ...defaultAuditOptions, policyFile, log: { ...defaultAuditOptions.log, path: log } },
});

const group = "/apis/admissionregistration.k8s.io/v1";

async function post(path: string, body: object, auditId = ""): Promise<Answer> {
  return client.send({ method: "POST", path, body, headers: auditId === "" ? {} : { "audit-id": auditId } });
}

async function created(path: string, body: object): Promise<void> {
  const answer = await post(path, body);
  assert.equal(answer.status, 201, answer.text);
}

/** Creates a policy and a binding for ConfigMaps of the namespace with the same name. */
async function bound(
  name: string,
  spec: Record<string, unknown>,
  binding: Record<string, unknown> = {},
): Promise<void> {
  await created("/api/v1/namespaces", { metadata: { name } });
  const rules = [
    { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE", "DELETE"], resources: ["configmaps"] },
  ];
  const matchConstraints = {
    resourceRules: rules,
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
  };
  await created(`${group}/validatingadmissionpolicies`, { metadata: { name }, spec: { matchConstraints, ...spec } });
  await created(`${group}/validatingadmissionpolicybindings`, {
    metadata: { name: `${name}-binding` },
    spec: { policyName: name, validationActions: ["Deny"], ...binding },
  });
}

/** Creates a ConfigMap in the namespace. @returns "" or the message without its constant part */
async function verdict(namespace: string, name = "a", data: Record<string, string> = {}): Promise<string> {
  const answer = await post(`/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, { metadata: { name }, data });
  if (answer.status === 201) return "";
  const text: string = answer.body.message;
  const prefix = `configmaps "${name}" is forbidden: ValidatingAdmissionPolicy '${namespace}' `;
  assert.ok(text.startsWith(prefix), text);
  return text.slice(prefix.length).replace(`with binding '${namespace}-binding' denied request: `, "");
}

test("a policy, its update and its deletion apply to the next request", async () => {
  await bound("changes", { validations: [{ expression: "object.metadata.name != 'bad'" }] });
  assert.equal(await verdict("changes", "bad"), "failed expression: object.metadata.name != 'bad'");
  const path = `${group}/validatingadmissionpolicies/changes`;
  const patch = [{ op: "replace", path: "/spec/validations/0/expression", value: "object.metadata.name != 'worse'" }];
  await client.send({ method: "PATCH", path, body: patch, headers: { "content-type": "application/json-patch+json" } });
  assert.equal(await verdict("changes", "bad"), "");
  assert.equal(await verdict("changes", "worse"), "failed expression: object.metadata.name != 'worse'");
  await client.send({ method: "DELETE", path });
  assert.equal(await verdict("changes", "worse"), "");
});

test("parameters of built-in and custom kinds apply to the next request", async () => {
  const custom = "limits.example.com";
  const schema = { type: "object", properties: { max: { type: "integer" } } };
  await created("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: custom },
    spec: {
      group: "example.com",
      scope: "Cluster",
      names: { plural: "limits", kind: "Limit" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
  const validations = [
    {
      expression: "size(object.data) <= params.max",
      messageExpression: "'at most ' + string(params.max) + params.apiVersion",
    },
  ];
  const paramRef = { name: "here", parameterNotFoundAction: "Deny" };
  await bound(
    "custom-params",
    { paramKind: { apiVersion: "example.com/v1", kind: "Limit" }, validations },
    { paramRef },
  );
  const none = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction";
  assert.equal(await verdict("custom-params"), none);
  await created("/apis/example.com/v1/limits", {
    apiVersion: "example.com/v1",
    kind: "Limit",
    metadata: { name: "here" },
    max: 1,
  });
  assert.equal(await verdict("custom-params", "a", { one: "1" }), "");
  assert.equal(await verdict("custom-params", "a", { one: "1", two: "2" }), "at most 1example.com/v1");

  const builtin = [{ expression: "params.data[object.metadata.name] == 'yes'", message: " no  " }];
  const selector = { matchLabels: { kind: "list" } };
  await bound(
    "builtin-params",
    { paramKind: { apiVersion: "v1", kind: "ConfigMap" }, validations: builtin },
    { paramRef: { selector, parameterNotFoundAction: "Allow" } },
  );
  assert.equal(await verdict("builtin-params"), "");
  const configMap = { metadata: { name: "list", labels: { kind: "list" } }, data: { a: "yes", b: "no" } };
  await created("/api/v1/namespaces/builtin-params/configmaps", configMap);
  assert.equal(await verdict("builtin-params"), "");
  assert.equal(await verdict("builtin-params", "b"), "no");
});

test("a paramKind that is not served is an error of the policy", async () => {
  const paramKind = { apiVersion: "none.example.com/v1", kind: "None" };
  await bound(
    "no-kind",
    { paramKind, validations: [{ expression: "true" }] },
    { paramRef: { name: "a", parameterNotFoundAction: "Deny" } },
  );
  assert.equal(
    await verdict("no-kind"),
    "denied request: failed to configure policy: failed to find resource referenced by paramKind: 'none.example.com/v1, Kind=None'",
  );
});

test("authorizer asks the authorization webhook, once per check", async () => {
  const check = (verb: string): string => `authorizer.group('poems').resource('verses').check('${verb}')`;
  await bound("authorized", {
    variables: [{ name: "praise", expression: `${check("praise")}.allowed()` }],
    matchConditions: [{ name: "c", expression: `${check("praise")}.allowed() || object == null` }],
    validations: [
      { expression: "variables.praise" },
      { expression: `${check("blame")}.reason() == 'no blame'` },
      { expression: `${check("blame")}.allowed()`, message: "blames" },
    ],
  });
  const before = reviews;
  const answer = await client.send({
    method: "POST",
    path: "/api/v1/namespaces/authorized/configmaps",
    body: { metadata: { name: "a" } },
    headers: { "impersonate-user": "jane" },
  });
  assert.equal(answer.status, 403, answer.text); // The webhook denies the creation itself.
  assert.equal(reviews, before + 1);
  await created("/apis/rbac.authorization.k8s.io/v1/namespaces/authorized/roles", {
    metadata: { name: "r" },
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }],
  });
  await created("/apis/rbac.authorization.k8s.io/v1/namespaces/authorized/rolebindings", {
    metadata: { name: "r" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
  });
  const asked = reviews;
  const denied = await client.send({
    method: "POST",
    path: "/api/v1/namespaces/authorized/configmaps",
    body: { metadata: { name: "a" } },
    headers: { "impersonate-user": "jane" },
  });
  assert.match(denied.body.message, /denied request: blames$/);
  assert.equal(reviews, asked + 2);
});

test("Audit and Warn admit the request and report the failure", async () => {
  const validations = [
    { expression: "true" },
    { expression: "object.data.a > '1'", messageExpression: "'<' + object.data.a" },
  ];
  const auditAnnotations = [{ key: "value", valueExpression: "'data: ' + object.data.a" }];
  await bound("audited", { validations, auditAnnotations }, { validationActions: ["Audit", "Warn"] });
  const answer = await post(
    "/api/v1/namespaces/audited/configmaps",
    { metadata: { name: "a" }, data: { a: "0" } },
    "audited",
  );
  assert.equal(answer.status, 201);
  const warning = "Validation failed for ValidatingAdmissionPolicy 'audited' with binding 'audited-binding': <0";
  assert.deepEqual(answer.headers.warning, `299 - "${warning}"`);
  const line = readFileSync(log, "utf8")
    .split("\n")
    .find((one) => one.includes('"audited"') && one.includes("value")) as string;
  const { annotations } = JSON.parse(line);
  assert.equal(annotations["audited/value"], "data: 0");
  assert.equal(
    annotations["validation.policy.admission.k8s.io/validation_failure"],
    '[{"message":"\\u003c0","policy":"audited","binding":"audited-binding","expressionIndex":1,"validationActions":["Audit","Warn"]}]',
  );
});

test("policies do not apply to policies, and not to reviews", async () => {
  const rule = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] };
  const spec = {
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: "false", message: "never" }],
  };
  const policy = { metadata: { name: "everything" }, spec };
  await created(`${group}/validatingadmissionpolicies`, policy);
  const binding = { metadata: { name: "everything" }, spec: { policyName: "everything", validationActions: ["Deny"] } };
  await created(`${group}/validatingadmissionpolicybindings`, binding);
  assert.equal((await post("/api/v1/namespaces", { metadata: { name: "x" } })).status, 422);
  assert.equal((await post(`${group}/validatingwebhookconfigurations`, { metadata: { name: "x" } })).status, 422);
  await created(`${group}/validatingadmissionpolicies`, { ...policy, metadata: { name: "other" } });
  const review = { spec: { resourceAttributes: { verb: "get", resource: "pods" } } };
  await created("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review);
  assert.equal(
    (await client.send({ method: "DELETE", path: `${group}/validatingadmissionpolicybindings/everything` })).status,
    200,
  );
});

test("metrics count denials by policy and binding", async () => {
  const { text } = await client.send({ path: "/metrics" });
  const labels = 'policy="audited",policy_binding="audited-binding",error_type="invalid_error"';
  assert.ok(
    text.includes(`apiserver_validating_admission_policy_check_total{${labels},enforcement_action="warn"} 1\n`),
  );
});

test("serves other requests while the match condition of a webhook waits for an authorization webhook", async () => {
  const namespace = "slow-condition";
  await created("/api/v1/namespaces", { metadata: { name: namespace } });
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }];
  await created(`${rbac}/roles`, { metadata: { name: "r" }, rules });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" };
  const subjects = [{ kind: "User", name: "jane", apiGroup: "rbac.authorization.k8s.io" }];
  await created(`${rbac}/rolebindings`, { metadata: { name: "r" }, roleRef, subjects });
  const webhookSpec = {
    name: "never-called.example.com",
    clientConfig: { url: "https://127.0.0.1:1/" },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
    matchConditions: [
      { name: "c", expression: "!authorizer.group('poems').resource('verses').check('wait').allowed()" },
    ],
    objectSelector: { matchLabels: { slow: "yes" } },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  await created(`${group}/validatingwebhookconfigurations`, { metadata: { name: namespace }, webhooks: [webhookSpec] });
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  let answered = false;
  const slow = client.send({
    method: "POST",
    path,
    body: { metadata: { name: "a", labels: { slow: "yes" } } },
    headers: { "impersonate-user": "jane" },
  });
  void slow.finally(() => {
    answered = true;
  });
  await until(() => waiting.length > 0);
  await created(path, { metadata: { name: "b" } });
  assert.equal(answered, false);
  for (const answer of waiting) answer();
  const answer = await slow;
  assert.equal(answer.status, 201, answer.text);
  assert.equal(waiting.length, 1);
});
