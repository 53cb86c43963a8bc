/** The typed client of @kubernetes/client-node against a real server over TLS. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as k8s from "@kubernetes/client-node";
import { openRelay, type Relay } from "../support/relay.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { podControllers, startTestServer, type TestServer } from "../support/start-test-server.ts";

const namespace = "default";
const podSpec: k8s.V1PodSpec = { containers: [{ name: "main", image: "example.com/app:1" }] };
const template: k8s.V1PodTemplateSpec = { metadata: { labels: { app: "x" } }, spec: podSpec };
const selector: k8s.V1LabelSelector = { matchLabels: { app: "x" } };

/** Ten kinds of several groups: the object to create, and the patch that changes it. */
const kinds: k8s.KubernetesObject[] = [
  { apiVersion: "v1", kind: "ConfigMap", data: { a: "b" } } as k8s.V1ConfigMap,
  { apiVersion: "v1", kind: "Secret", stringData: { a: "b" } } as k8s.V1Secret,
  { apiVersion: "v1", kind: "Pod", spec: podSpec } as k8s.V1Pod,
  { apiVersion: "v1", kind: "Service", spec: { selector: { app: "x" }, ports: [{ port: 80 }] } } as k8s.V1Service,
  { apiVersion: "v1", kind: "ServiceAccount" } as k8s.V1ServiceAccount,
  { apiVersion: "apps/v1", kind: "Deployment", spec: { selector, template } } as k8s.V1Deployment,
  { apiVersion: "apps/v1", kind: "StatefulSet", spec: { selector, template, serviceName: "x" } } as k8s.V1StatefulSet,
  {
    apiVersion: "batch/v1",
    kind: "Job",
    spec: { template: { ...template, spec: { ...podSpec, restartPolicy: "Never" } } },
  } as k8s.V1Job,
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    spec: { defaultBackend: { service: { name: "x", port: { number: 80 } } } },
  } as k8s.V1Ingress,
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
  } as k8s.V1Role,
  {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    spec: { holderIdentity: "me", renewTime: new k8s.V1MicroTime() },
  } as k8s.V1Lease,
];

describe("client-node", () => {
  let server: TestServer;
  let config: k8s.KubeConfig;
  before(async () => {
    server = await startTestServer({ controllers: podControllers });
    config = new k8s.KubeConfig();
    config.loadFromString(server.kubeconfig);
  });

  after(() => server.close());

  for (const body of kinds) {
    test(`${body.kind}: create, read, list, patch, replace, delete`, async () => {
      const client = k8s.KubernetesObjectApi.makeApiClient(config);
      const name = `typed-${body.kind?.toLowerCase()}`;
      const header = {
        apiVersion: body.apiVersion as string,
        kind: body.kind as string,
        metadata: { name, namespace },
      };
      const created: k8s.KubernetesObject = await client.create<k8s.KubernetesObject>({
        ...body,
        metadata: { name, namespace },
      });
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

  test("a watch shows events in order", async () => {
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
    await core.replaceNamespacedConfigMap({
      namespace,
      name: "watched",
      body: { metadata: { name: "watched" }, data: { step: "2" } },
    });
    await core.deleteNamespacedConfigMap({ namespace, name: "watched" });
    await deleted.promise;
    request.abort();
    assert.deepEqual(seen, ["ADDED 1", "MODIFIED 2", "DELETED 2"]);
  });

  describe("an informer has all selected objects after its connections are cut", () => {
    let relay: Relay;
    let relayed: k8s.KubeConfig;
    before(async () => {
      relay = await openRelay(server.port);
      relayed = new k8s.KubeConfig();
      relayed.loadFromString(server.kubeconfig.replace(`:${server.port}`, `:${relay.port}`));
    });
    after(() => relay.close());

    const rows: [what: string, labelSelector: string | undefined, selects: (secret: k8s.V1Secret) => boolean][] = [
      ["without a selector", undefined, () => true],
      ["with a label", "x=1", ({ metadata }) => metadata?.labels?.x === "1"],
      ["without a label", "!x", ({ metadata }) => metadata?.labels?.x === undefined],
    ];
    for (const [what, labelSelector, selects] of rows) {
      test(what, async () => {
        const core = config.makeApiClient(k8s.CoreV1Api);
        const throughRelay = relayed.makeApiClient(k8s.CoreV1Api);
        const own = what.replaceAll(/\W/g, "");
        await core.createNamespace({ body: { metadata: { name: own } } });
        const list = () =>
          throughRelay.listNamespacedSecret({ namespace: own, ...(labelSelector !== undefined && { labelSelector }) });
        const informer = k8s.makeInformer(relayed, `/api/v1/namespaces/${own}/secrets`, list, labelSelector);
        let stopped = false;
        informer.on("error", () => {
          if (!stopped) setImmediate(() => void informer.start());
        });
        await informer.start();
        const random = seededRandom(7);
        let last = Promise.withResolvers<void>();
        for (const event of ["add", "update"] as const)
          informer.on(event, ({ metadata }) => metadata?.name === "last" && last.resolve());
        informer.on("delete", ({ metadata }) => metadata?.name === "last" && last.resolve());
        for (let round = 0; round < 5; round++) {
          for (let count = 0; count < 20; count++) await changeOne(core, own, random);
          relay.cut();
          for (let count = 0; count < 20; count++) await changeOne(core, own, random);
          last = Promise.withResolvers();
          // Every row selects it, and it is new in each round.
          const labels: Record<string, string> = labelSelector === "x=1" ? { x: "1" } : {};
          await core.createNamespacedSecret({ namespace: own, body: { metadata: { name: "last", labels } } });
          await last.promise;
          const kept = new Map(informer.list(own).map(({ metadata }) => [metadata?.name, metadata?.resourceVersion]));
          const { items } = await core.listNamespacedSecret({ namespace: own });
          const want = items.filter(selects).map(({ metadata }) => [metadata?.name, metadata?.resourceVersion]);
          assert.deepEqual([...kept].sort(), want.sort());
          last = Promise.withResolvers();
          await core.deleteNamespacedSecret({ namespace: own, name: "last" });
          await last.promise;
        }
        stopped = true;
        await informer.stop();
      });
    }
  });
});

/** Creates, replaces or deletes one of ten secrets at random. */
async function changeOne(core: k8s.CoreV1Api, own: string, random: (below: number) => number): Promise<void> {
  const name = `s${random(10)}`;
  const body = {
    metadata: { name, ...(random(2) === 0 && { labels: { x: String(random(2)) } }) },
    stringData: { n: String(random(1000)) },
  };
  const change = [
    () => core.createNamespacedSecret({ namespace: own, body }),
    () => core.replaceNamespacedSecret({ namespace: own, name, body }),
    () => core.deleteNamespacedSecret({ namespace: own, name }),
  ][random(3)] as () => Promise<unknown>;
  await change().catch((error: { code?: number }) => {
    if (error.code !== 404 && error.code !== 409) throw error;
  });
}
