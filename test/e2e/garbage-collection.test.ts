/** Deletions and what follows from them, as clients see it: kubectl's cascades, a typed client, a restart in the middle, a namespace that goes. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import * as k8s from "@kubernetes/client-node";
import { startServer } from "../../src/index.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const namespace = "default";
const hasKubectl = (process.env.PATH ?? "")
  .split(delimiter)
  .some((directory) => existsSync(join(directory, "kubectl")));
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

/** What the tests do, by kind and name in one namespace. */
function clientOf(kubeconfig: string, where = namespace) {
  const config = new k8s.KubeConfig();
  config.loadFromString(kubeconfig);
  const api = k8s.KubernetesObjectApi.makeApiClient(config);
  const header = (kind: Kind, name: string) => ({
    apiVersion: bodies[kind].apiVersion as string,
    kind,
    metadata: { name, namespace: where },
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
      const created = await api.create({ ...bodies[kind], metadata: { name, namespace: where, ...metadata } });
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
        { ...header(kind, name), metadata: { name, namespace: where, finalizers: [] } },
        undefined,
        undefined,
        undefined,
        undefined,
        "application/merge-patch+json",
      );
    },
    gone: (kind: Kind, name: string) =>
      eventually(`${kind} ${name} goes`, async () => (await find(kind, name)) === undefined),
  };
}

type Client = ReturnType<typeof clientOf>;

async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** What a Deployment's controller would make. */
async function createTree(client: Client, name: string): Promise<void> {
  const deployment = await client.create("Deployment", name);
  const replicaSet = await client.create("ReplicaSet", name, { ownerReferences: [deployment] });
  await client.create("Pod", name, { labels: { app: "web" }, ownerReferences: [replicaSet] });
  await client.create("ConfigMap", name, { ownerReferences: [{ ...deployment, controller: false }] });
}

describe("a server that collects garbage", () => {
  let server: TestServer;
  let client: Client;
  before(async () => {
    server = await startTestServer();
    client = clientOf(server.kubeconfig);
  });
  after(() => server.close());

  const kubectl = async (...words: string[]): Promise<string> =>
    (await promisify(execFile)("kubectl", [...words, "--kubeconfig", server.kubeconfigPath], { timeout: 30_000 }))
      .stdout;

  for (const cascade of ["background", "foreground"]) {
    test(`kubectl delete --cascade=${cascade}`, { skip: !hasKubectl && "there is no kubectl" }, async () => {
      const name = `tree-${cascade}`;
      await createTree(client, name);
      assert.match(
        await kubectl("delete", "deployment", name, `--cascade=${cascade}`),
        /^deployment.apps "[\w-]+" deleted/,
      );
      assert.equal(await client.find("Deployment", name), undefined);
      // kubectl waits for the owner alone, which in the foreground goes last.
      if (cascade === "foreground") assert.equal(await client.find("ReplicaSet", name), undefined);
      for (const kind of ["ReplicaSet", "Pod", "ConfigMap"] as const) await client.gone(kind, name);
    });
  }

  test("kubectl delete --cascade=orphan", { skip: !hasKubectl && "there is no kubectl" }, async () => {
    await createTree(client, "tree-orphan");
    await kubectl("delete", "deployment", "tree-orphan", "--cascade=orphan");
    for (const kind of ["ReplicaSet", "ConfigMap"] as const) {
      assert.equal((await client.find(kind, "tree-orphan"))?.metadata?.ownerReferences, undefined, kind);
    }
    assert.equal((await client.find("Pod", "tree-orphan"))?.metadata?.ownerReferences?.[0]?.kind, "ReplicaSet");
    await client.delete("ReplicaSet", "tree-orphan", "Background");
    await client.gone("Pod", "tree-orphan");
  });

  test("a namespace with owners, dependents and finalizers of its own goes once these are taken away", async () => {
    const core = new k8s.KubeConfig();
    core.loadFromString(server.kubeconfig);
    const namespaces = core.makeApiClient(k8s.CoreV1Api);
    await namespaces.createNamespace({ body: { metadata: { name: "going" } } });
    const inside = clientOf(server.kubeconfig, "going");
    await createTree(inside, "tree");
    const held = await inside.create("ConfigMap", "held", { finalizers: ["example.com/hold"] });
    await inside.create("ConfigMap", "dependent", { ownerReferences: [held] });
    await inside.delete("ConfigMap", "held", "Foreground");
    await inside.gone("ConfigMap", "dependent");
    await namespaces.deleteNamespace({ name: "going" });
    await inside.gone("Pod", "tree");
    assert.equal((await namespaces.readNamespace({ name: "going" })).status?.phase, "Terminating");
    await inside.release("ConfigMap", "held");
    await eventually("the namespace goes", async () => {
      const { items } = await namespaces.listNamespace();
      return items.every(({ metadata }) => metadata?.name !== "going");
    });
  });
});

test("a deletion in the foreground goes on where a restart has stopped it", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "coxswain-test-"));
  const start = () => startServer({ storage: "lmdb", dataDir, durability: "relaxed" });
  try {
    const first = await start();
    const before = clientOf(first.kubeconfig);
    const owner = await before.create("ConfigMap", "owner");
    await before.create("ConfigMap", "held", { finalizers: ["example.com/hold"], ownerReferences: [owner] });
    await before.create("ConfigMap", "other", { ownerReferences: [owner] });
    await before.delete("ConfigMap", "owner", "Foreground");
    await before.gone("ConfigMap", "other");
    assert.deepEqual((await before.find("ConfigMap", "owner"))?.metadata?.finalizers, ["foregroundDeletion"]);
    await first.close();

    const second = await start();
    const after = clientOf(second.kubeconfig);
    assert.deepEqual((await after.find("ConfigMap", "owner"))?.metadata?.finalizers, ["foregroundDeletion"]);
    await after.release("ConfigMap", "held");
    await after.gone("ConfigMap", "owner");
    await second.close();
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
