/**
 * Webhooks as Kyverno configures them: rules follow the policies, selectors and match conditions
 * exclude its own objects and users, mutations lead to reinvocation, leases are touched through a
 * webhook, and a shutdown deletes the configurations. Source:
 * https://kyverno.io/docs/installation/customization
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { created, outcome, patchOf, type Reviewed, startPolicyEngine } from "../../support/policy-engine.ts";
import { startServerWithClient } from "../../support/server-with-client.ts";

const group = "/apis/admissionregistration.k8s.io/v1";
const mutatingPath = `${group}/mutatingwebhookconfigurations`;
const validatingPath = `${group}/validatingwebhookconfigurations`;
const leases = "/apis/coordination.k8s.io/v1/namespaces/kyverno/leases";

const { client } = await startServerWithClient();
const engine = await startPolicyEngine(client, { namespace: "kyverno", service: "kyverno-svc", decide });
after(() => engine.stop());

/** Sets labels. Kyverno's patch creates the parent when it is missing. */
function label({ object }: Reviewed, values: Readonly<Record<string, string>>): Record<string, unknown> {
  const { labels = {} } = object.metadata;
  const missing = Object.entries(values).filter(([key, value]) => labels[key] !== value);
  if (missing.length === 0) return {};
  const merged = { ...labels, ...Object.fromEntries(missing) };
  return patchOf([{ op: "add", path: "/metadata/labels", value: merged }]);
}

function decide(path: string, request: Reviewed): Record<string, unknown> | undefined {
  const { labels = {}, annotations = {} } = request.object?.metadata ?? {};
  switch (path) {
    case "/mutate/fail": // The copy of a label that the other webhook sets.
      return label(request, { tier: "web", ...(labels.team !== undefined && { "team-copy": labels.team }) });
    case "/mutate/ignore":
      return label(request, { team: "blue" });
    case "/validate/fail":
      if (labels["team-copy"] === "blue" || request.kind.kind === "Service") return undefined;
      return { allowed: false, status: { message: "\n\npolicy ConfigMap/x for resource violation" } };
    case "/verifymutate": {
      const value = { ...annotations, "kyverno.io/last-request-time": "now" };
      return patchOf([{ op: "add", path: "/metadata/annotations", value }]);
    }
  }
  throw new Error(path);
}

const managed = { "webhook.kyverno.io/managed-by": "kyverno" };
const webhook = (name: string, path: string, fields: object): object => ({
  name,
  admissionReviewVersions: ["v1"],
  clientConfig: engine.clientConfig(path),
  failurePolicy: path.endsWith("ignore") ? "Ignore" : "Fail",
  matchPolicy: "Equivalent",
  sideEffects: "NoneOnDryRun",
  timeoutSeconds: 10,
  ...fields,
});
const rulesFor = (...resources: string[]): object[] => [
  { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources, scope: "Namespaced" },
];
const selectors = {
  namespaceSelector: {
    matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kyverno"] }],
  },
  objectSelector: { matchExpressions: [{ key: "webhooks.kyverno.io/exclude", operator: "DoesNotExist" }] },
  matchConditions: [
    { name: "exclude-own-user", expression: "request.userInfo.username != 'system:serviceaccount:kyverno:kyverno'" },
    { name: "exclude-events", expression: "!(request.kind.kind == 'Event')" },
  ],
};
const mutating = (...resources: string[]): object[] => [
  webhook("mutate.kyverno.svc-fail", "/mutate/fail", {
    ...selectors,
    rules: rulesFor(...resources),
    reinvocationPolicy: "IfNeeded",
  }),
  webhook("mutate.kyverno.svc-ignore", "/mutate/ignore", { ...selectors, rules: rulesFor(...resources) }),
];
const validating = (...resources: string[]): object[] => [
  webhook("validate.kyverno.svc-fail", "/validate/fail", { ...selectors, rules: rulesFor(...resources) }),
];

const labelled = (name: string, labels: object = {}) => ({ metadata: { name, labels } });
const named = (kind: string): string => `kyverno-resource-${kind}-webhook-cfg`;
/** Kyverno's controller replaces the list when policies change. */
async function setWebhooks(path: string, kind: string, webhooks: readonly object[]): Promise<void> {
  const current = await client.send({ path: `${path}/${named(kind)}` });
  const body = { ...current.body, webhooks };
  const answer = await client.send({ method: "PUT", path: `${path}/${named(kind)}`, body });
  assert.equal(answer.status, 200, answer.text);
}
async function create(name: string, labels: object = {}, headers: Record<string, string> = {}): Promise<unknown[]> {
  const path = "/api/v1/namespaces/default/configmaps";
  const answer = await client.send({ method: "POST", path, headers, body: labelled(name, labels) });
  return [outcome(answer), answer.body.metadata?.labels, engine.reviewed()];
}

const patched = { tier: "web", team: "blue", "team-copy": "blue" };
const twice = ["/mutate/fail", "/mutate/ignore", "/mutate/fail"];
const reviewsOf = (name: string, ...paths: string[]): string[] =>
  paths.map((path) => `${path} CREATE configmaps default/${name}`);

test("without policies the configurations have no webhooks", async () => {
  for (const [path, kind] of [
    [mutatingPath, "mutating"],
    [validatingPath, "validating"],
  ] as const)
    await created(client, path, { ...labelled(named(kind), managed), webhooks: [] });
  assert.deepEqual(await create("none"), ["201", undefined, []]);
});

test("mutations lead to a second call of the first webhook, and the result is validated", async () => {
  await setWebhooks(mutatingPath, "mutating", mutating("configmaps", "services"));
  await setWebhooks(validatingPath, "validating", validating("configmaps", "services"));
  assert.deepEqual(await create("a"), ["201", patched, reviewsOf("a", ...twice, "/validate/fail")]);
  const path = "/api/v1/namespaces/default/services";
  const spec = { ports: [{ port: 80 }] };
  const service = await created(client, path, { ...labelled("a"), spec });
  assert.deepEqual([service.body.metadata.labels, service.body.spec.ports[0].targetPort], [patched, 80]);
  engine.reviewed();
});

test("selectors and conditions exclude objects, namespaces and its own user", async () => {
  const excluded = { "webhooks.kyverno.io/exclude": "" };
  assert.deepEqual(await create("b", excluded), ["201", excluded, []]);
  const user = { "impersonate-user": "system:serviceaccount:kyverno:kyverno", "impersonate-group": "system:masters" };
  assert.deepEqual(await create("c", {}, user), ["201", undefined, []]);
  await created(client, "/api/v1/namespaces/kyverno/configmaps", labelled("d"));
  await created(client, "/api/v1/namespaces/default/secrets", labelled("d"));
  assert.deepEqual(engine.reviewed(), []);
});

test("rules that are narrowed apply to the next request", async () => {
  const denied =
    '400 admission webhook "validate.kyverno.svc-fail" denied the request: \n\npolicy ConfigMap/x for resource violation';
  await setWebhooks(mutatingPath, "mutating", mutating("services"));
  assert.deepEqual(await create("e"), [denied, undefined, reviewsOf("e", "/validate/fail")]);
  await setWebhooks(validatingPath, "validating", validating("services"));
  assert.deepEqual(await create("e"), ["201", undefined, []]);
  await setWebhooks(mutatingPath, "mutating", mutating("configmaps"));
  assert.deepEqual(await create("f"), ["201", patched, reviewsOf("f", ...twice)]);
});

test("a webhook with failurePolicy Ignore is skipped when it is down, the other rejects", async () => {
  const [fail, ignore] = mutating("configmaps");
  await setWebhooks(mutatingPath, "mutating", [ignore as object]);
  await engine.stop();
  assert.deepEqual(await create("g"), ["201", undefined, []]);
  await setWebhooks(mutatingPath, "mutating", [fail as object]);
  const [message] = await create("h");
  assert.equal(
    message,
    `500 Internal error occurred: failed calling webhook "mutate.kyverno.svc-fail": failed to call webhook: ` +
      `Post "${engine.origin}/mutate/fail?timeout=10s": dial tcp 127.0.0.1:${engine.port}: connect: connection refused`,
  );
  await engine.start();
});

test("updates of its lease pass a webhook that proves that it is called", async () => {
  const health = { "app.kubernetes.io/name": "kyverno" };
  const rules = [
    { apiGroups: ["coordination.k8s.io"], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["leases"] },
  ];
  const fields = { objectSelector: { matchLabels: health }, rules, reinvocationPolicy: "IfNeeded" };
  await created(client, mutatingPath, {
    ...labelled("kyverno-verify-mutating-webhook-cfg", managed),
    webhooks: [webhook("monitor-webhooks.kyverno.svc", "/verifymutate", fields)],
  });
  await created(client, leases, labelled("kyverno-health", health));
  await created(client, leases, labelled("kyverno"));
  const touch = (name: string) =>
    client.send({
      method: "PATCH",
      path: `${leases}/${name}`,
      headers: { "content-type": "application/merge-patch+json" },
      body: { spec: { holderIdentity: "kyverno", leaseDurationSeconds: 10 } },
    });
  const [checked, leader] = [await touch("kyverno-health"), await touch("kyverno")];
  assert.deepEqual(checked.body.metadata.annotations, { "kyverno.io/last-request-time": "now" });
  assert.equal(leader.body.metadata.annotations, undefined);
  assert.deepEqual(engine.reviewed(), ["/verifymutate UPDATE leases kyverno/kyverno-health"]);
});

test("a shutdown deletes the configurations by their label, and no webhook is called after that", async () => {
  for (const path of [mutatingPath, validatingPath]) {
    const selector = "?labelSelector=webhook.kyverno.io/managed-by%3Dkyverno";
    assert.equal((await client.send({ method: "DELETE", path: `${path}${selector}` })).status, 200);
  }
  await engine.stop();
  assert.deepEqual(await create("i"), ["201", undefined, []]);
});
