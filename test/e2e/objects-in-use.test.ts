/** Claims and volumes in use, as kubectl and clients see their deletion. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type ServerOptions, startServer } from "../../src/index.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { claim, volume } from "../support/protection-situations.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { podControllers, startTestServer, type TestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const namespace = "/api/v1/namespaces/default";
const claims = `${namespace}/persistentvolumeclaims`;
const pods = `${namespace}/pods`;
const finalizer = "kubernetes.io/pvc-protection";
const podOf = (name: string, claimName: string): object => ({
  metadata: { name },
  spec: {
    nodeName: "node",
    containers: [{ name: "main", image: "example.com/image" }],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
  },
});

let server: TestServer;
let client: RawClient;
before(async () => {
  server = await startTestServer({ controllers: podControllers });
  client = rawClient(server.kubeconfig);
});
after(async () => {
  client.close();
  await server.close();
});

async function create(path: string, body: object, on = client): Promise<void> {
  const answer = await on.send({ method: "POST", path, body });
  assert.equal(answer.status, 201, answer.text);
}

async function untilGone(path: string, on = client): Promise<void> {
  await until(async () => (await on.send({ path })).status === 404);
}

for (const kubectl of kubectls()) {
  test(`${kubectl}: a claim in use is Terminating until its pod is deleted`, async () => {
    const run = (...args: string[]) =>
      runKubectl(kubectl, args, { directory: server.directory, kubeconfigPath: server.kubeconfigPath });
    await create(claims, claim("shown"));
    await create(pods, podOf("user", "shown"));
    assert.equal((await run("delete", "pvc", "shown", "--wait=false")).code, 0);
    assert.match((await run("get", "pvc", "shown", "--no-headers")).output, /^shown +Terminating /);
    assert.equal((await run("delete", "pod", "user", "--force", "--grace-period=0")).code, 0);
    await untilGone(`${claims}/shown`);
  });
}

test("a namespace with a claim in use is deleted after its pod", async () => {
  const path = "/api/v1/namespaces/used";
  await create("/api/v1/namespaces", { metadata: { name: "used" } });
  await until(async () => (await client.send({ path: `${path}/serviceaccounts/default` })).status === 200);
  await create(`${path}/persistentvolumeclaims`, claim("c"));
  await create(`${path}/pods`, podOf("user", "c"));
  await client.send({ method: "DELETE", path });
  await until(
    async () => (await client.send({ path: `${path}/pods/user` })).body.metadata.deletionTimestamp !== undefined,
  );
  const { body } = await client.send({ path: `${path}/persistentvolumeclaims/c` });
  assert.equal(body.metadata.deletionTimestamp, undefined);
  await client.send({ method: "DELETE", path: `${path}/pods/user?gracePeriodSeconds=0` });
  await untilGone(path);
});

test("the queues of the controllers are counted", async () => {
  const { text } = await client.send({ path: "/metrics" });
  for (const name of ["pvcprotection", "pvprotection", "vacprotection"])
    assert.match(text, new RegExp(`^workqueue_adds_total\\{[^}]*name="${name}"`, "m"));
});

test("without its controller, a deleted claim stays", async () => {
  const other = await startTestServer({ controllers: ["*", "-pvc-protection"] });
  const its = rawClient(other.kubeconfig);
  await create(claims, claim("stays"), its);
  await create("/api/v1/persistentvolumes", volume("goes"), its);
  await its.send({ method: "DELETE", path: `${claims}/stays` });
  await its.send({ method: "DELETE", path: "/api/v1/persistentvolumes/goes" });
  await untilGone("/api/v1/persistentvolumes/goes", its);
  const { body } = await its.send({ path: `${claims}/stays` });
  assert.deepEqual([typeof body.metadata.deletionTimestamp, body.metadata.finalizers], ["string", [finalizer]]);
  its.close();
  await other.close();
});

test("claims from before the plugin was enabled are protected after a restart", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "coxswain-claims-"));
  const withServer = async (options: Partial<ServerOptions>, use: (its: RawClient) => Promise<void>): Promise<void> => {
    const running = await startServer({ storage: "lmdb", dataDir, ...options });
    const its = rawClient(running.kubeconfig);
    await use(its);
    its.close();
    await running.close();
  };
  await withServer(
    { controllers: [], admission: { enable: [], disable: ["StorageObjectInUseProtection"] } },
    async (its) => {
      await create(claims, claim("old"), its);
      assert.equal((await its.send({ path: `${claims}/old` })).body.metadata.finalizers, undefined);
    },
  );
  await withServer({ controllers: ["*"] }, async (its) => {
    const finalizers = async (): Promise<unknown> =>
      (await its.send({ path: `${claims}/old` })).body.metadata.finalizers;
    await until(async () => (await finalizers()) !== undefined);
    assert.deepEqual(await finalizers(), [finalizer]);
  });
  rmSync(dataDir, { recursive: true });
});
