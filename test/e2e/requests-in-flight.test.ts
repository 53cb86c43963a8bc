/** Limits on requests in flight without priority levels, and the audit of what they reject. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import { rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { startSlowWebhook } from "../support/slow-webhook.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const directory = await mkdtemp(join(tmpdir(), "coxswain-in-flight-"));
after(() => rm(directory, { recursive: true }));
const policyFile = join(directory, "policy.yaml");
const auditLog = join(directory, "audit.log");
await writeFile(
  policyFile,
  "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata, users: [alice] }]\n",
);

const webhook = await startSlowWebhook();
const { waiting } = webhook;
after(() => webhook.close());

const { server, client: admin } = await startServerWithClient({
  enablePriorityAndFairness: false,
  maxRequestsInflight: 5,
  maxMutatingRequestsInflight: 1,
  audit: { ...defaultAuditOptions, policyFile, log: { ...defaultAuditOptions.log, path: auditLog } },
});
const alice = rawClient((await server.as("alice")).kubeconfig);
after(() => alice.close());

const configMaps = "/api/v1/namespaces/default/configmaps";
const create = (client: typeof alice, name: string) =>
  client.send({ method: "POST", path: configMaps, body: { metadata: { name } } });

test("a write beyond the limit gets 429 and is audited; reads and administrators are served", async () => {
  const binding = {
    metadata: { name: "alice" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }],
  };
  const rules = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }];
  const clientConfig = { url: webhook.url, caBundle: Buffer.from(webhook.ca).toString("base64") };
  const slow = {
    metadata: { name: "slow" },
    webhooks: [{ name: "slow.example.com", clientConfig, rules, sideEffects: "None", admissionReviewVersions: ["v1"] }],
  };
  for (const [path, body] of [
    ["/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding],
    ["/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", slow],
  ] as const)
    assert.equal((await admin.send({ method: "POST", path, body })).status, 201);
  const first = create(alice, "a");
  await until(() => waiting.length > 0);
  const rejected = await create(alice, "b");
  assert.equal(rejected.status, 429);
  assert.equal(rejected.text, "Too many requests, please try again later.\n");
  assert.equal(rejected.headers["retry-after"], "1");
  assert.equal(rejected.headers["x-kubernetes-pf-flowschema-uid"], undefined);
  assert.equal((await alice.send({ path: configMaps })).status, 200);
  assert.equal(
    (await admin.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: "n" } } })).status,
    201,
  );
  waiting.shift()?.();
  assert.equal((await first).status, 201);
  const codes = readFileSync(auditLog, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ stage, verb }) => stage === "ResponseComplete" && verb === "create")
    .map(({ responseStatus }) => responseStatus.code);
  assert.deepEqual(codes.sort(), [201, 429]);
});

test("has the health check of plain limits, and no tables", async () => {
  const { text } = await admin.send({ path: "/readyz?verbose" });
  assert.match(text, /^\[\+\]poststarthook\/max-in-flight-filter ok$/m);
  assert.match(text, /^\[\+\]poststarthook\/priority-and-fairness-config-producer ok$/m);
  assert.match(text, /^\[\+\]poststarthook\/apiservice-openapiv3-controller ok\n\[\+\]shutdown ok$/m);
  assert.doesNotMatch(text, /config-consumer|reload-proxy-client-cert|failed/);
  assert.equal((await admin.send({ path: "/debug/api_priority_and_fairness/dump_queues" })).status, 404);
});

const invalid: [options: Parameters<typeof startTestServer>[0], message: string][] = [
  [
    { maxRequestsInflight: 0, maxMutatingRequestsInflight: 0 },
    "invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive",
  ],
  [{ maxRequestsInflight: -1 }, "--max-requests-inflight can not be negative value"],
  [{ goawayChance: 0.03 }, "--goaway-chance can not be less than 0 or greater than 0.02"],
];
for (const [options, message] of invalid) {
  test(`rejects the start with ${JSON.stringify(options)}`, () =>
    assert.rejects(startTestServer(options), { message }));
}
