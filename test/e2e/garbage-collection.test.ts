/**
 * Cascading deletion as clients see it: with kubectl, with client-node, over a restart, and in a
 * namespace that is deleted.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import * as k8s from "@kubernetes/client-node";
import { startServer } from "../../src/index.ts";
import { skipWithout } from "../support/needs.ts";
import { podControllers, startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const namespace = "default";
const podSpec: k8s.V1PodSpec = { containers: [{ name: "main", image: "example.com/app:1" }] };
const template: k8s.V1PodTemplateSpec = { metadata: { labels: { app: "web" } }, spec: podSpec };
const spec = { selector: { matchLabels: { app: "web" } }, template };

type Kind = "Deployment" | "ReplicaSet" | "Pod" | "ConfigMap";

const bodies: Record<Kind, k8s.KubernetesObject> = {
  Deployment: { apiVersion: "apps/v1", kind: "Deployment", spec } as k8s.V1Deployment,
  ReplicaSet: { apiVersion: "apps/v1", kind: "ReplicaSet", spec } as k8s.V1ReplicaSet,
  Pod: { apiVersion: "v1", kind: "Pod", spec: podSpec } as k8s.V1Pod,
  ConfigMap: { apiVersion: "v1", kind: "ConfigMap" },
};

/** The writes of the tests, by kind and name in one namespace. */
function clientOf(kubeconfig: string, inNamespace = namespace) {
  const config = new k8s.KubeConfig();
  config.loadFromString(kubeconfig);
  const api = k8s.KubernetesObjectApi.makeApiClient(config);
  const header = (kind: Kind, name: string) => ({
    apiVersion: bodies[kind].apiVersion as string,
    kind,
    metadata: { name, namespace: inNamespace },
  });
  const find = async (kind: Kind, name: string): Promise<k8s.KubernetesObject | undefined> => {
    try {
      return await api.read(header(kind, name));
    } catch (error) {
      if (error instanceof k8s.ApiException && error.code === 404) return undefined;
      throw error;
    }
  };
  return {
    api,
    find,
    async create(kind: Kind, name: string, metadata: k8s.V1ObjectMeta = {}): Promise<k8s.V1OwnerReference> {
      const created = await api.create({ ...bodies[kind], metadata: { name, namespace: inNamespace, ...metadata } });
      const uid = created.metadata?.uid as string;
      return {
        apiVersion: bodies[kind].apiVersion as string,
        kind,
        name,
        uid,
        controller: true,
        blockOwnerDeletion: true,
      };
    },
    delete: (kind: Kind, name: string, policy: string) =>
      api.delete(header(kind, name), undefined, undefined, undefined, undefined, policy),
    async release(kind: Kind, name: string): Promise<void> {
      await api.patch(
        { ...header(kind, name), metadata: { name, namespace: inNamespace, finalizers: [] } },
        undefined,
        undefined,
        undefined,
        undefined,
        "application/merge-patch+json",
      );
    },
    waitUntilGone: (kind: Kind, name: string) =>
      eventually(`${kind} ${name} is gone`, async () => (await find(kind, name)) === undefined),
  };
}

type Client = ReturnType<typeof clientOf>;

/** Creates the objects that the Deployment controller creates, and a ConfigMap. */
async function createTree(client: Client, name: string): Promise<void> {
  const deployment = await client.create("Deployment", name);
  const replicaSet = await client.create("ReplicaSet", name, { ownerReferences: [deployment] });
  await client.create("Pod", name, { labels: { app: "web" }, ownerReferences: [replicaSet] });
  await client.create("ConfigMap", name, { ownerReferences: [{ ...deployment, controller: false }] });
}

describe("garbage collection", () => {
  let server: TestServer;
  let client: Client;
  before(async () => {
    server = await startTestServer({ controllers: podControllers });
    client = clientOf(server.kubeconfig);
  });
  after(() => server.close());

  const kubectl = async (...words: string[]): Promise<string> =>
    (await promisify(execFile)("kubectl", [...words, "--kubeconfig", server.kubeconfigPath], { timeout: 30_000 }))
      .stdout;

  for (const cascade of ["background", "foreground"]) {
    test(`deletes the dependents after kubectl delete --cascade=${cascade}`, {
      skip: skipWithout("kubectl"),
    }, async () => {
      const name = `tree-${cascade}`;
      await createTree(client, name);
      assert.match(
        await kubectl("delete", "deployment", name, `--cascade=${cascade}`),
        /^deployment.apps "[\w-]+" deleted/,
      );
      assert.equal(await client.find("Deployment", name), undefined);
      // kubectl waits for the owner only, which is deleted last in the foreground.
      if (cascade === "foreground") assert.equal(await client.find("ReplicaSet", name), undefined);
      for (const kind of ["ReplicaSet", "Pod", "ConfigMap"] as const) await client.waitUntilGone(kind, name);
    });
  }

  test("removes the references of direct dependents after kubectl delete --cascade=orphan", {
    skip: skipWithout("kubectl"),
  }, async () => {
    await createTree(client, "tree-orphan");
    await kubectl("delete", "deployment", "tree-orphan", "--cascade=orphan");
    for (const kind of ["ReplicaSet", "ConfigMap"] as const) {
      assert.equal((await client.find(kind, "tree-orphan"))?.metadata?.ownerReferences, undefined, kind);
    }
    assert.equal((await client.find("Pod", "tree-orphan"))?.metadata?.ownerReferences?.[0]?.kind, "ReplicaSet");
    await client.delete("ReplicaSet", "tree-orphan", "Background");
    await client.waitUntilGone("Pod", "tree-orphan");
  });

  test("deletes a namespace with owners and dependents once the last finalizer is removed", async () => {
    const core = new k8s.KubeConfig();
    core.loadFromString(server.kubeconfig);
    const namespaces = core.makeApiClient(k8s.CoreV1Api);
    await namespaces.createNamespace({ body: { metadata: { name: "going" } } });
    const inside = clientOf(server.kubeconfig, "going");
    await createTree(inside, "tree");
    const held = await inside.create("ConfigMap", "held", { finalizers: ["example.com/hold"] });
    await inside.create("ConfigMap", "dependent", { ownerReferences: [held] });
    await inside.delete("ConfigMap", "held", "Foreground");
    await inside.waitUntilGone("ConfigMap", "dependent");
    await namespaces.deleteNamespace({ name: "going" });
    await inside.waitUntilGone("Pod", "tree");
    assert.equal((await namespaces.readNamespace({ name: "going" })).status?.phase, "Terminating");
    await inside.release("ConfigMap", "held");
    await eventually("the namespace is gone", async () => {
      const { items } = await namespaces.listNamespace();
      return items.every(({ metadata }) => metadata?.name !== "going");
    });
  });
});

test("a foreground deletion continues after a restart", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "coxswain-test-"));
  const start = () => startServer({ storage: "lmdb", dataDir, durability: "relaxed" });
  try {
    const first = await start();
    const before = clientOf(first.kubeconfig);
    const owner = await before.create("ConfigMap", "owner");
    await before.create("ConfigMap", "held", { finalizers: ["example.com/hold"], ownerReferences: [owner] });
    await before.create("ConfigMap", "other", { ownerReferences: [owner] });
    await before.delete("ConfigMap", "owner", "Foreground");
    await before.waitUntilGone("ConfigMap", "other");
    assert.deepEqual((await before.find("ConfigMap", "owner"))?.metadata?.finalizers, ["foregroundDeletion"]);
    await first.close();

    const second = await start();
    const after = clientOf(second.kubeconfig);
    assert.deepEqual((await after.find("ConfigMap", "owner"))?.metadata?.finalizers, ["foregroundDeletion"]);
    await after.release("ConfigMap", "held");
    await after.waitUntilGone("ConfigMap", "owner");
    await second.close();
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
