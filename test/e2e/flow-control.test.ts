/**
 * Flow control through a real server. A webhook makes writes of config maps slow; the level `narrow`
 * has one seat, and room for one waiting request of the user alice.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Answer, RawClient } from "../support/raw-client.ts";
import { rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { startSlowWebhook } from "../support/slow-webhook.ts";
import { eventually, until } from "../support/until.ts";

const group = "/apis/flowcontrol.apiserver.k8s.io/v1";
const levels = `${group}/prioritylevelconfigurations`;
const schemas = `${group}/flowschemas`;
const configMaps = "/api/v1/namespaces/default/configmaps";
const tables = "/debug/api_priority_and_fairness";

const webhook = await startSlowWebhook();
const { waiting } = webhook;
after(() => webhook.close());

const { server, client: admin } = await startServerWithClient({
  maxRequestsInflight: 6,
  maxMutatingRequestsInflight: 4,
});
const alice = rawClient((await server.as("alice")).kubeconfig);
after(() => alice.close());

const everything = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true };
const narrow = {
  metadata: { name: "narrow" },
  spec: {
    type: "Limited",
    limited: {
      nominalConcurrencyShares: 1,
      lendablePercent: 0,
      borrowingLimitPercent: 0,
      limitResponse: { type: "Queue", queuing: { queues: 2, handSize: 1, queueLengthLimit: 1 } },
    },
  },
};
const ofAlice = {
  metadata: { name: "of-alice" },
  spec: {
    matchingPrecedence: 10,
    priorityLevelConfiguration: { name: "narrow" },
    distinguisherMethod: { type: "ByUser" },
    rules: [
      {
        subjects: [{ kind: "User", user: { name: "alice" } }],
        resourceRules: [everything],
        nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      },
    ],
  },
};
const slowWrites = {
  metadata: { name: "slow" },
  webhooks: [
    {
      name: "slow.example.com",
      clientConfig: { url: webhook.url, caBundle: Buffer.from(webhook.ca).toString("base64") },
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    },
  ],
};
const everyRight = {
  metadata: { name: "alice" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }],
};

async function create(path: string, body: object): Promise<void> {
  const { status, text } = await admin.send({ method: "POST", path, body });
  assert.equal(status, 201, text);
}
await create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", everyRight);
await create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", slowWrites);
await create(levels, narrow);
await create(schemas, ofAlice);

let names = 0;
const slowWrite = (client: RawClient, query = ""): Promise<Answer> =>
  client.send({ method: "POST", path: `${configMaps}${query}`, body: { metadata: { name: `c${names++}` } } });

async function table(name: string): Promise<string[][]> {
  const { text } = await admin.send({ path: `${tables}/${name}` });
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/,\s+/));
}

/** The row of `narrow`: waiting, executing, dispatched, rejected, cancelled. */
async function counts(): Promise<Record<string, string>> {
  const [header = [], ...rows] = await table("dump_priority_levels");
  const row = rows.find(([name]) => name === "narrow");
  return Object.fromEntries(header.map((column, index) => [column, row?.[index] ?? ""]));
}

async function untilCounts(expected: Readonly<Record<string, string>>): Promise<void> {
  await eventually(JSON.stringify(expected), async () => {
    const found = await counts();
    return Object.entries(expected).every(([column, value]) => found[column] === value);
  });
}

async function whenReviewed(): Promise<() => void> {
  await until(() => waiting.length > 0);
  return waiting.shift() as () => void;
}

const uidOf = async (path: string): Promise<string> => (await admin.send({ path })).body.metadata.uid;
const matched = ({ headers }: Answer): unknown[] => [
  headers["x-kubernetes-pf-flowschema-uid"],
  headers["x-kubernetes-pf-prioritylevel-uid"],
];

test("every answer names the flow schema and the level by their uids", async () => {
  const own = [await uidOf(`${schemas}/of-alice`), await uidOf(`${levels}/narrow`)];
  const exempt = [await uidOf(`${schemas}/exempt`), await uidOf(`${levels}/exempt`)];
  const probes = [await uidOf(`${schemas}/probes`), exempt[1]];
  for (const path of [
    "/api/v1/pods",
    "/nothing",
    "/api/v1/nothing",
    "/metrics",
    "/version",
    "/openapi/v3/x",
    configMaps,
  ]) {
    assert.deepEqual(matched(await alice.send({ path })), own, path);
    assert.deepEqual(matched(await admin.send({ path })), exempt, path);
  }
  assert.deepEqual(matched(await alice.send({ path: "/readyz" })), probes);
  assert.deepEqual(matched(await admin.send({ path: "/readyz", anonymous: true })), probes);
  const impersonated = { path: configMaps, headers: { "impersonate-user": "alice" } };
  assert.deepEqual(matched(await admin.send(impersonated)), own);
  const forbidden = await admin.send({ path: "/api/v1/pods", anonymous: true });
  assert.equal(forbidden.status, 403);
  assert.deepEqual(matched(forbidden), [
    await uidOf(`${schemas}/global-default`),
    await uidOf(`${levels}/global-default`),
  ]);
});

test("requests without seats wait in order, and are rejected when the queue is full", async () => {
  const [first, second] = [slowWrite(alice), slowWrite(alice)];
  await untilCounts({ ExecutingRequests: "1", WaitingRequests: "1", ActiveQueues: "1" });
  const rejected = await alice.send({ path: configMaps });
  assert.equal(rejected.status, 429);
  assert.equal(rejected.text, "Too many requests, please try again later.\n");
  assert.equal(rejected.headers["retry-after"], "1");
  assert.equal(rejected.headers["content-type"], "text/plain; charset=utf-8");
  assert.equal(rejected.headers["x-content-type-options"], "nosniff");
  assert.deepEqual(matched(rejected), [await uidOf(`${schemas}/of-alice`), await uidOf(`${levels}/narrow`)]);
  const requests = (await table("dump_requests?includeRequestDetails=1")).filter(([level]) => level === "narrow");
  assert.deepEqual(
    requests.map(([, schema, queue, index, flow]) => [schema, queue, index, flow]),
    [
      ["of-alice", "1", "0", "alice"],
      ["of-alice", "1", "-1", "alice"],
    ],
    "kube-apiserver chooses the same queue",
  );
  assert.deepEqual(requests[0]?.slice(9), [
    "0001-01-01T00:00:00Z",
    "alice",
    "create",
    configMaps,
    "default",
    "",
    "v1",
    "configmaps",
    "",
  ]);
  assert.equal((await admin.send({ path: configMaps })).status, 200, "exempt users are served");
  (await whenReviewed())();
  assert.equal((await first).status, 201);
  (await whenReviewed())();
  assert.equal((await second).status, 201);
  await untilCounts({ ExecutingRequests: "0", WaitingRequests: "0", IsIdle: "true" });
});

test("a client that disconnects leaves the queue at once", async () => {
  const disconnecting = rawClient((await server.as("alice")).kubeconfig);
  const { CancelledRequests: before } = await counts();
  const executing = slowWrite(alice);
  const release = await whenReviewed();
  const queued = slowWrite(disconnecting).catch(() => "disconnected");
  await untilCounts({ ExecutingRequests: "1", WaitingRequests: "1" });
  disconnecting.close();
  await untilCounts({ ExecutingRequests: "1", WaitingRequests: "0", CancelledRequests: String(Number(before) + 1) });
  assert.equal(await queued, "disconnected");
  release();
  assert.equal((await executing).status, 201);
  await untilCounts({ ExecutingRequests: "0" });
});

test("a request waits for a quarter of its time limit", async () => {
  const executing = slowWrite(alice);
  const release = await whenReviewed();
  const rejected = await alice.send({ path: `${configMaps}?timeout=400ms` });
  assert.equal(rejected.status, 429);
  release();
  assert.equal((await executing).status, 201);
  const { text } = await admin.send({ path: "/metrics" });
  const labels = 'priority_level="narrow",flow_schema="of-alice"';
  for (const reason of ["time-out", "queue-full"])
    assert.match(text, new RegExp(`apiserver_flowcontrol_rejected_requests_total{${labels},reason="${reason}"} \\d`));
  assert.match(text, /apiserver_request_terminations_total{verb="LIST",.*resource="configmaps",.*code="429"} 2/);
  assert.match(text, /apiserver_request_total{verb="LIST",.*resource="configmaps",.*code="429"} 2/);
});

test("an open watch occupies no seats after its first objects", async () => {
  const watching = alice.send({ path: `${configMaps}?watch=1&timeoutSeconds=60` }).catch(() => "disconnected");
  await untilCounts({ ExecutingRequests: "0" });
  assert.equal((await alice.send({ path: configMaps })).status, 200);
  assert.ok(watching instanceof Promise);
});

test("a deleted level serves its last requests, and flow schemas report that it is missing", async () => {
  const executing = slowWrite(alice);
  const release = await whenReviewed();
  await admin.send({ method: "DELETE", path: `${levels}/narrow` });
  const conditionIs = async (status: string): Promise<Record<string, string>> => {
    return until(async () => {
      const [condition] = (await admin.send({ path: `${schemas}/of-alice` })).body.status.conditions ?? [];
      return condition?.status === status && condition;
    });
  };
  const { lastTransitionTime: _, ...dangling } = await conditionIs("True");
  const subject = 'This FlowSchema references the PriorityLevelConfiguration object named "narrow"';
  assert.deepEqual(dangling, {
    type: "Dangling",
    status: "True",
    reason: "NotFound",
    message: `${subject} but there is no such object`,
  });
  await untilCounts({ IsQuiescing: "true", ExecutingRequests: "1" });
  assert.deepEqual(matched(await alice.send({ path: configMaps })), [
    await uidOf(`${schemas}/global-default`),
    await uidOf(`${levels}/global-default`),
  ]);
  release();
  assert.equal((await executing).status, 201);
  await untilCounts({ PriorityLevelName: "" });
  assert.doesNotMatch((await admin.send({ path: "/metrics" })).text, /apiserver_flowcontrol_\w+{.*"narrow"/);
  await create(levels, narrow);
  assert.equal((await conditionIs("False")).message, `${subject} and it exists`);
  assert.equal((await alice.send({ path: configMaps })).status, 200);
});
