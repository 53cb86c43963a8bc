/**
 * Custom resources by @kubernetes/client-node: the typed API, objects of any kind, informers whose
 * connections are cut, and watches that resume.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as k8s from "@kubernetes/client-node";
import { openRelay } from "../support/relay.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const namespace = "default";
const widgets = { group: "example.com", version: "v1", namespace, plural: "widgets" };

interface Widget extends k8s.KubernetesObject {
  readonly spec: { readonly size?: number; readonly color?: string; readonly free?: unknown };
  readonly status?: { readonly size?: number };
}

const definition: k8s.V1CustomResourceDefinition = {
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } },
        selectableFields: [{ jsonPath: ".spec.color" }],
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  size: { type: "integer", minimum: 0, _default: 1 },
                  color: { type: "string" },
                  free: { x_kubernetes_preserve_unknown_fields: true },
                },
              },
              status: { type: "object", properties: { size: { type: "integer" } } },
            },
          },
        },
      },
    ],
  },
};

const widget = (name: string, spec: Widget["spec"], labels?: Record<string, string>): Widget => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name, namespace, labels },
  spec,
});

const as = (strategy: string) => k8s.setHeaderOptions("Content-Type", strategy);

/** Checks that an error has this code and message. */
const hasError = (code: number, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof k8s.ApiException);
  assert.equal(error.code, code);
  assert.match(typeof error.body === "string" ? error.body : JSON.stringify(error.body), message);
  return true;
};

describe("client-node's custom resources", () => {
  let server: TestServer;
  let config: k8s.KubeConfig;
  let custom: k8s.CustomObjectsApi;
  before(async () => {
    server = await startTestServer();
    config = new k8s.KubeConfig();
    config.loadFromString(server.kubeconfig);
    custom = config.makeApiClient(k8s.CustomObjectsApi);
    const established = Promise.withResolvers<void>();
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const seen = (_type: string, { status }: k8s.V1CustomResourceDefinition): void => {
      if (status?.conditions?.some((one) => one.type === "Established" && one.status === "True")) established.resolve();
    };
    const watch = await new k8s.Watch(config).watch(
      path,
      { fieldSelector: "metadata.name=widgets.example.com" },
      seen,
      () => {},
    );
    await config.makeApiClient(k8s.ApiextensionsV1Api).createCustomResourceDefinition({ body: definition });
    await established.promise;
    watch.abort();
  });
  after(() => server.close());

  test("CustomObjectsApi creates, patches, scales, lists and deletes custom resources", async () => {
    const made: Widget = await custom.createNamespacedCustomObject({
      ...widgets,
      body: widget("a", { color: "red", free: [1, { x: null }] }),
    });
    assert.deepEqual(made.spec, { color: "red", free: [1, { x: null }], size: 1 });
    const one = { ...widgets, name: "a" };
    const merged: Widget = await custom.patchNamespacedCustomObject(
      { ...one, body: { spec: { size: 2 } } },
      as(k8s.PatchStrategy.MergePatch),
    );
    assert.equal(merged.spec.size, 2);
    const operations = [{ op: "replace", path: "/spec/size", value: 3 }];
    const patched: Widget = await custom.patchNamespacedCustomObject(
      { ...one, body: operations },
      as(k8s.PatchStrategy.JsonPatch),
    );
    assert.equal(patched.spec.size, 3);
    await assert.rejects(
      custom.patchNamespacedCustomObject({ ...one, body: {} }, as(k8s.PatchStrategy.StrategicMergePatch)),
      hasError(
        415,
        /the body of the request was in an unknown format - accepted media types include: application\/json-patch\+json/,
      ),
    );
    await custom.patchNamespacedCustomObjectStatus(
      { ...one, body: { status: { size: 4 } } },
      as(k8s.PatchStrategy.MergePatch),
    );
    const scale: k8s.V1Scale = await custom.getNamespacedCustomObjectScale(one);
    assert.deepEqual([scale.kind, scale.spec, scale.status], ["Scale", { replicas: 3 }, { replicas: 4 }]);
    await custom.replaceNamespacedCustomObjectScale({ ...one, body: { ...scale, spec: { replicas: 5 } } });
    const scaled: Widget = await custom.getNamespacedCustomObject(one);
    assert.deepEqual([scaled.spec.size, scaled.status?.size], [5, 4]);
    await assert.rejects(
      custom.replaceNamespacedCustomObject({ ...one, body: { ...merged, spec: {} } }),
      hasError(409, /the object has been modified/),
    );
    await assert.rejects(
      custom.createNamespacedCustomObject({ ...widgets, body: widget("bad", { size: -1 }) }),
      hasError(422, /spec\.size in body should be greater than or equal to 0/),
    );
    await custom.createNamespacedCustomObject({ ...widgets, body: widget("b", { color: "blue" }, { x: "1" }) });
    const names = async (selector: object): Promise<unknown[]> =>
      ((await custom.listNamespacedCustomObject({ ...widgets, ...selector })).items as Widget[]).map(
        ({ metadata }) => metadata?.name,
      );
    assert.deepEqual(await names({ fieldSelector: "spec.color=red" }), ["a"]);
    assert.deepEqual(await names({ labelSelector: "x" }), ["b"]);
    await custom.deleteCollectionNamespacedCustomObject(widgets);
    assert.deepEqual(await names({}), []);
  });

  test("KubernetesObjectApi applies custom resources", async () => {
    const objects = k8s.KubernetesObjectApi.makeApiClient(config);
    const apply = (fieldManager: string, size: number, force?: boolean): Promise<Widget> =>
      objects.patch(
        widget("applied", { size }, { kept: "yes" }),
        undefined,
        undefined,
        fieldManager,
        force,
        k8s.PatchStrategy.ServerSideApply,
      );
    assert.equal((await apply("one", 2)).spec.size, 2);
    await assert.rejects(apply("two", 3), hasError(409, /conflict with \\*"one\\*": \.spec\.size/));
    assert.equal((await apply("two", 3, true)).metadata?.managedFields?.length, 2);
    const listed = await objects.list<Widget>("example.com/v1", "Widget", namespace);
    assert.deepEqual(
      listed.items.map(({ metadata }) => metadata?.name),
      ["applied"],
    );
    await objects.delete(widget("applied", {}));
    await assert.rejects(
      objects.read(widget("applied", {}) as { apiVersion: string; kind: string; metadata: { name: string } }),
      hasError(404, /NotFound/),
    );
  });

  test("a watch resumes at the resourceVersion at which another ended", async () => {
    const path = `/apis/example.com/v1/namespaces/${namespace}/widgets`;
    const watch = async (resourceVersion: string, last: string): Promise<{ seen: string[]; at: string }> => {
      const seen: string[] = [];
      let at = resourceVersion;
      const done = Promise.withResolvers<void>();
      const request = await new k8s.Watch(config).watch(
        path,
        { resourceVersion, allowWatchBookmarks: true },
        (type: string, { metadata, spec }: Widget) => {
          at = metadata?.resourceVersion as string;
          seen.push(`${type} ${metadata?.name} ${spec.size}`);
          if (seen.at(-1) === last) done.resolve();
        },
        () => {},
      );
      await done.promise;
      request.abort();
      return { seen, at };
    };
    const resize = (size: number) =>
      custom.patchNamespacedCustomObject(
        { ...widgets, name: "w", body: { spec: { size } } },
        as(k8s.PatchStrategy.MergePatch),
      );
    const { metadata } = (await custom.listNamespacedCustomObject(widgets)) as k8s.KubernetesListObject<Widget>;
    await custom.createNamespacedCustomObject({ ...widgets, body: widget("w", {}) });
    await resize(2);
    const first = await watch(metadata?.resourceVersion as string, "MODIFIED w 2");
    assert.deepEqual(first.seen, ["ADDED w 1", "MODIFIED w 2"]);
    await resize(3);
    await resize(4);
    await custom.deleteNamespacedCustomObject({ ...widgets, name: "w" });
    assert.deepEqual((await watch(first.at, "DELETED w 4")).seen, ["MODIFIED w 3", "MODIFIED w 4", "DELETED w 4"]);
  });

  test("an informer has all objects after its connections are cut", async (context) => {
    const relay = await openRelay(server.port);
    context.after(() => relay.close());
    const relayed = new k8s.KubeConfig();
    relayed.loadFromString(server.kubeconfig.replace(`:${server.port}`, `:${relay.port}`));
    const throughRelay = relayed.makeApiClient(k8s.CustomObjectsApi);
    const list = (): Promise<k8s.KubernetesListObject<Widget>> => throughRelay.listNamespacedCustomObject(widgets);
    const informer = k8s.makeInformer(relayed, `/apis/example.com/v1/namespaces/${namespace}/widgets`, list);
    let stopped = false;
    informer.on("error", () => {
      if (!stopped) setImmediate(() => void informer.start());
    });
    await informer.start();
    for (let round = 0; round < 3; round++) {
      const last = Promise.withResolvers<void>();
      const lastName = `last-${round}`;
      informer.on("add", ({ metadata }) => metadata?.name === lastName && last.resolve());
      await custom.createNamespacedCustomObject({ ...widgets, body: widget(`i-${round}`, { size: round }) });
      relay.cut();
      if (round > 0) await custom.deleteNamespacedCustomObject({ ...widgets, name: `i-${round - 1}` });
      await custom.createNamespacedCustomObject({ ...widgets, body: widget(lastName, {}) });
      await last.promise;
      const { items } = (await custom.listNamespacedCustomObject(widgets)) as k8s.KubernetesListObject<Widget>;
      const versions = (all: readonly Widget[]) =>
        all.map(({ metadata }) => `${metadata?.name} ${metadata?.resourceVersion}`).sort();
      assert.deepEqual(versions([...informer.list(namespace)]), versions(items));
    }
    stopped = true;
    await informer.stop();
  });
});
