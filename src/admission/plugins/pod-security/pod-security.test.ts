/** What the recorded requests (../golden.test.ts) do not show: metrics, and namespaces that are missing. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type RawClient, rawClient } from "../../../../test/support/raw-client.ts";
import { startTestServer, type TestServer } from "../../../../test/support/start-test-server.ts";

const label = (name: string): string => `pod-security.kubernetes.io/${name}`;

interface Opened {
  readonly server: TestServer;
  readonly client: RawClient;
}
let opened: Opened;
const configFile = join(import.meta.dirname, "testdata/exempt-namespace.yaml");

/** NamespaceLifecycle rejects writes into missing namespaces before PodSecurity does. */
before(async () => {
  const server = await startTestServer({
    admission: { enable: [], disable: ["NamespaceLifecycle", "ServiceAccount"], configFile },
  });
  opened = { server, client: rawClient(server.kubeconfig) };
});
after(async () => {
  opened.client.close();
  await opened.server.close();
});

const plainPod = (name: string): object => ({
  metadata: { name },
  spec: { containers: [{ name: "a", image: "a", securityContext: { privileged: true } }] },
});

const create = (path: string, body: object): ReturnType<RawClient["send"]> =>
  opened.client.send({ method: "POST", path, body });
const createPod = (namespace: string): ReturnType<RawClient["send"]> =>
  create(`/api/v1/namespaces/${namespace}/pods?dryRun=All`, plainPod("a"));
const createJob = (namespace: string): ReturnType<RawClient["send"]> => {
  const { spec } = plainPod("a") as { spec: object };
  const template = { spec: { ...spec, restartPolicy: "Never" } };
  const path = `/apis/batch/v1/namespaces/${namespace}/jobs?dryRun=All`;
  return create(path, { metadata: { name: "a" }, spec: { template } });
};

async function metrics(): Promise<string[]> {
  const { text } = await opened.client.send({ method: "GET", path: "/metrics" });
  return text.split("\n").filter((line) => line.startsWith("pod_security_"));
}

const request = (resource: string): string => `request_operation="create",resource="${resource}",subresource=""`;
const zeros = ["create", "update"].flatMap((operation) => [
  `pod_security_evaluations_total{decision="allow",policy_level="privileged",policy_version="latest",mode="enforce",request_operation="${operation}",resource="pod",subresource=""} 0`,
  ...["pod", "controller"].map(
    (resource) =>
      `pod_security_exemptions_total{request_operation="${operation}",resource="${resource}",subresource=""} 0`,
  ),
]);

test("counts evaluations, exemptions and errors", async () => {
  assert.deepEqual((await metrics()).sort(), zeros.toSorted());
  const labels = {
    [label("enforce")]: "baseline",
    [label("enforce-version")]: "v1.99",
    [label("audit")]: "restricted",
  };
  await create("/api/v1/namespaces", { metadata: { name: "labeled", labels } });
  await create("/api/v1/namespaces", { metadata: { name: "exempt" } });
  assert.equal((await createPod("labeled")).status, 403);
  assert.equal((await createJob("labeled")).status, 201);
  for (const run of [createPod, createJob]) assert.equal((await run("exempt")).status, 201);
  for (const run of [createPod, createJob]) await run("missing");
  const evaluation = (level: string, version: string, mode: string): string =>
    `pod_security_evaluations_total{decision="deny",policy_level="${level}",policy_version="${version}",mode="${mode}",`;
  assert.deepEqual(
    (await metrics()).filter((line) => !line.endsWith(" 0")).sort(),
    [
      `${evaluation("baseline", "future", "enforce")}${request("pod")}} 1`,
      `${evaluation("baseline", "future", "warn")}${request("controller")}} 1`,
      `${evaluation("restricted", "latest", "audit")}${request("pod")}} 1`,
      `${evaluation("restricted", "latest", "audit")}${request("controller")}} 1`,
      `pod_security_errors_total{fatal="true",${request("pod")}} 1`,
      `pod_security_errors_total{fatal="true",${request("controller")}} 1`,
      `pod_security_exemptions_total{${request("pod")}} 1`,
      `pod_security_exemptions_total{${request("controller")}} 1`,
    ].sort(),
  );
});

test("rejects a pod, and allows a controller, if the namespace is missing", async () => {
  const { status, text } = await createPod("missing");
  const message = 'Internal error occurred: failed to lookup namespace "missing"';
  assert.deepEqual([status, JSON.parse(text).message], [500, message]);
  assert.equal((await createJob("missing")).status, 201);
});

test("applies a changed label to the next pod", async () => {
  const path = "/api/v1/namespaces/changed";
  await create("/api/v1/namespaces", { metadata: { name: "changed" } });
  const relabel = (value: string | null): ReturnType<RawClient["send"]> =>
    opened.client.send({
      method: "PATCH",
      path,
      headers: { "content-type": "application/merge-patch+json" },
      body: { metadata: { labels: { [label("enforce")]: value } } },
    });
  for (const [value, status] of [
    [null, 201],
    ["baseline", 403],
    ["privileged", 201],
    ["restricted", 403],
    [null, 201],
  ] as const) {
    await relabel(value);
    assert.equal((await createPod("changed")).status, status, String(value));
  }
});

test("a server without the plugin has no metrics of it, and allows all pods", async () => {
  const server = await startTestServer({ admission: { enable: [], disable: ["PodSecurity", "ServiceAccount"] } });
  const client = rawClient(server.kubeconfig);
  const labels = { [label("enforce")]: "restricted" };
  await client.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: "a", labels } } });
  const { status } = await client.send({ method: "POST", path: "/api/v1/namespaces/a/pods", body: plainPod("a") });
  const { text } = await client.send({ method: "GET", path: "/metrics" });
  client.close();
  await server.close();
  assert.equal(status, 201);
  assert.doesNotMatch(text, /pod_security/);
});
