/** The typed client of @kubernetes/client-node against a real server over TLS. */
import assert from "node:assert/strict";
import net from "node:net";
import { after, before, describe, test } from "node:test";
import * as k8s from "@kubernetes/client-node";
import { startTestServer, type TestServer } from "../testing/start-test-server.ts";

const namespace = "default";
const podSpec: k8s.V1PodSpec = { containers: [{ name: "main", image: "example.com/app:1" }] };
const template: k8s.V1PodTemplateSpec = { metadata: { labels: { app: "x" } }, spec: podSpec };
const selector: k8s.V1LabelSelector = { matchLabels: { app: "x" } };

/** Ten kinds of several groups: what is created, and the patch that changes it. */
const kinds: k8s.KubernetesObject[] = [
  { apiVersion: "v1", kind: "ConfigMap", data: { a: "b" } } as k8s.V1ConfigMap,
  { apiVersion: "v1", kind: "Secret", stringData: { a: "b" } } as k8s.V1Secret,
  { apiVersion: "v1", kind: "Pod", spec: podSpec } as k8s.V1Pod,
  { apiVersion: "v1", kind: "Service", spec: { selector: { app: "x" }, ports: [{ port: 80 }] } } as k8s.V1Service,
  { apiVersion: "v1", kind: "ServiceAccount" } as k8s.V1ServiceAccount,
  { apiVersion: "apps/v1", kind: "Deployment", spec: { selector, template } } as k8s.V1Deployment,
  { apiVersion: "apps/v1", kind: "StatefulSet", spec: { selector, template, serviceName: "x" } } as k8s.V1StatefulSet,
  { apiVersion: "batch/v1", kind: "Job", spec: { template: { ...template, spec: { ...podSpec, restartPolicy: "Never" } } } } as k8s.V1Job,
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    spec: { defaultBackend: { service: { name: "x", port: { number: 80 } } } },
  } as k8s.V1Ingress,
  { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] } as k8s.V1Role,
  { apiVersion: "coordination.k8s.io/v1", kind: "Lease", spec: { holderIdentity: "me", renewTime: new k8s.V1MicroTime() } } as k8s.V1Lease,
];

describe("client-node", () => {
  let server: TestServer;
  let config: k8s.KubeConfig;
  before(async () => {
    server = await startTestServer();
    config = new k8s.KubeConfig();
    config.loadFromString(server.kubeconfig);
  });

  after(() => server.close());

  for (const body of kinds) {
    test(`${body.kind}: create, read, list, patch, replace, delete`, async () => {
      const client = k8s.KubernetesObjectApi.makeApiClient(config);
      const name = `typed-${body.kind?.toLowerCase()}`;
      const header = { apiVersion: body.apiVersion as string, kind: body.kind as string, metadata: { name, namespace } };
      const created: k8s.KubernetesObject = await client.create<k8s.KubernetesObject>({ ...body, metadata: { name, namespace } });
      assert.ok(created.metadata?.uid);
      assert.equal((await client.read(header)).metadata?.resourceVersion, created.metadata?.resourceVersion);
      const listed = await client.list(header.apiVersion, header.kind, namespace);
      assert.ok(listed.items.some((item) => item.metadata?.name === name));
      const patched: k8s.KubernetesObject = await client.patch<k8s.KubernetesObject>(
        { ...header, metadata: { name, namespace, labels: { patched: "yes" } } },
        undefined,
        undefined,
        undefined,
        undefined,
        k8s.PatchStrategy.MergePatch,
      );
      assert.deepEqual(patched.metadata?.labels?.patched, "yes");
      const replaced = await client.replace({
        ...patched,
        metadata: { ...patched.metadata, annotations: { replaced: "yes" } },
      } as k8s.KubernetesObject);
      assert.equal(replaced.metadata?.annotations?.replaced, "yes");
      assert.notEqual(replaced.metadata?.resourceVersion, patched.metadata?.resourceVersion);
      await client.delete(header, undefined, undefined, 0);
      await assert.rejects(client.read(header), (error: { code?: number }) => error.code === 404);
    });
  }

  test("a watch shows what happens, in order", async () => {
    const core = config.makeApiClient(k8s.CoreV1Api);
    const seen: string[] = [];
    const deleted = Promise.withResolvers<void>();
    const watch = new k8s.Watch(config);
    const request = await watch.watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      { fieldSelector: "metadata.name=watched" },
      (type: string, object: k8s.V1ConfigMap) => {
        seen.push(`${type} ${object.data?.step}`);
        if (type === "DELETED") deleted.resolve();
      },
      () => {},
    );
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "watched" }, data: { step: "1" } } });
    await core.replaceNamespacedConfigMap({ namespace, name: "watched", body: { metadata: { name: "watched" }, data: { step: "2" } } });
    await core.deleteNamespacedConfigMap({ namespace, name: "watched" });
    await deleted.promise;
    request.abort();
    assert.deepEqual(seen, ["ADDED 1", "MODIFIED 2", "DELETED 2"]);
  });

  test("an informer survives a cut connection", async (context) => {
    // The informer talks through a relay whose connections the test can cut.
    const sockets = new Set<net.Socket>();
    const relay = net.createServer((incoming) => {
      const outgoing = net.connect(server.port, "127.0.0.1");
      for (const socket of [incoming, outgoing]) {
        sockets.add(socket);
        socket.on("error", () => socket.destroy());
        socket.on("close", () => {
          sockets.delete(socket);
          incoming.destroy();
          outgoing.destroy();
        });
      }
      incoming.pipe(outgoing);
      outgoing.pipe(incoming);
    });
    await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
    context.after(() => {
      relay.close();
      for (const socket of sockets) socket.destroy();
    });
    const { port } = relay.address() as net.AddressInfo;
    const relayed = new k8s.KubeConfig();
    relayed.loadFromString(server.kubeconfig.replace(`:${server.port}`, `:${port}`));
    const core = config.makeApiClient(k8s.CoreV1Api);
    const throughRelay = relayed.makeApiClient(k8s.CoreV1Api);
    const informer = k8s.makeInformer(relayed, `/api/v1/namespaces/${namespace}/secrets`, () => throughRelay.listNamespacedSecret({ namespace }));
    const waiting = new Map<string, () => void>();
    const added = (name: string): Promise<void> => new Promise((resolve) => waiting.set(name, resolve));
    informer.on("add", (object) => waiting.get(object.metadata?.name as string)?.());
    let stopped = false;
    informer.on("error", () => {
      if (!stopped) setTimeout(() => void informer.start(), 50);
    });
    const connected = new Promise<void>((resolve) => informer.on("connect", () => resolve()));
    await informer.start();
    await connected;
    const first = added("before");
    await core.createNamespacedSecret({ namespace, body: { metadata: { name: "before" } } });
    await first;
    for (const socket of sockets) socket.destroy();
    const second = added("after");
    await core.createNamespacedSecret({ namespace, body: { metadata: { name: "after" } } });
    await second;
    assert.ok(informer.get("before", namespace));
    stopped = true;
    await informer.stop();
  });
});
