/**
 * Writes by @kubernetes/client-node: three types of patches, dry runs, field validation, conflicts,
 * preconditions.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as k8s from "@kubernetes/client-node";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const namespace = "default";
const container = { name: "main", image: "x:1", env: [{ name: "A", value: "1" }] };
const deployment: k8s.V1Deployment = {
  metadata: { name: "web", namespace },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [container] } },
  },
};

/** Checks that an error has this code and message. */
const hasError = (code: number, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof k8s.ApiException);
  assert.equal(error.code, code);
  assert.match(JSON.parse(error.body as string).message, message);
  return true;
};

describe("client-node writes", () => {
  let server: TestServer;
  let core: k8s.CoreV1Api;
  let apps: k8s.AppsV1Api;
  before(async () => {
    server = await startTestServer();
    const config = new k8s.KubeConfig();
    config.loadFromString(server.kubeconfig);
    core = config.makeApiClient(k8s.CoreV1Api);
    apps = config.makeApiClient(k8s.AppsV1Api);
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "map" }, data: { a: "1", b: "2" } } });
    await apps.createNamespacedDeployment({ namespace, body: deployment });
  });
  after(() => server.close());

  const as = (strategy: string) => k8s.setHeaderOptions("Content-Type", strategy);

  test("JSON, merge and strategic merge patches change objects", async () => {
    const json = [
      { op: "test", path: "/data/a", value: "1" },
      { op: "remove", path: "/data/b" },
    ];
    const map = { name: "map", namespace };
    assert.deepEqual(
      (await core.patchNamespacedConfigMap({ ...map, body: json }, as(k8s.PatchStrategy.JsonPatch))).data,
      { a: "1" },
    );
    await assert.rejects(
      core.patchNamespacedConfigMap({ ...map, body: json }, as(k8s.PatchStrategy.JsonPatch)),
      hasError(422, /^the server rejected our request/),
    );
    const merged = await core.patchNamespacedConfigMap(
      { ...map, body: { data: { a: null, c: "3" } } },
      as(k8s.PatchStrategy.MergePatch),
    );
    assert.deepEqual(merged.data, { c: "3" });
    const sidecar = {
      spec: {
        template: {
          spec: {
            containers: [
              { name: "side", image: "s:1" },
              { name: "main", env: [{ name: "B", value: "2" }] },
            ],
          },
        },
      },
    };
    const web = { name: "web", namespace };
    const { spec } = await apps.patchNamespacedDeployment(
      { ...web, body: sidecar },
      as(k8s.PatchStrategy.StrategicMergePatch),
    );
    const containers = spec?.template.spec?.containers.map(({ name, image, env }) => [
      name,
      image,
      env?.map((one) => one.name),
    ]);
    assert.deepEqual(containers, [
      ["side", "s:1", undefined],
      ["main", "x:1", ["B", "A"]],
    ]);
  });

  test("a dry run answers with the whole object and stores nothing", async () => {
    const body = { metadata: { generateName: "dry-" }, data: { k: "v" } };
    const { metadata } = await core.createNamespacedConfigMap({ namespace, body, dryRun: "All" });
    assert.match(metadata?.name ?? "", /^dry-.{5}$/);
    assert.ok(metadata?.uid !== undefined && metadata.resourceVersion === undefined);
    await core.deleteNamespacedConfigMap({ name: "map", namespace, dryRun: "All" });
    await apps.deleteNamespacedDeployment({
      name: "web",
      namespace,
      body: { dryRun: ["All"], propagationPolicy: "Foreground" },
    });
    assert.deepEqual(
      (await core.listNamespacedConfigMap({ namespace })).items.map((item) => item.metadata?.name),
      ["map"],
    );
    assert.equal(
      (await apps.readNamespacedDeployment({ name: "web", namespace })).metadata?.deletionTimestamp,
      undefined,
    );
  });

  test("field validation rejects or ignores an unknown field", async () => {
    const body = { spec: { replica: 2 } };
    const patch = { name: "web", namespace, body };
    const strategy = as(k8s.PatchStrategy.MergePatch);
    await assert.rejects(
      apps.patchNamespacedDeployment({ ...patch, fieldValidation: "Strict" }, strategy),
      hasError(422, /strict decoding error: unknown field "spec\.replica"$/),
    );
    await apps.patchNamespacedDeployment({ ...patch, fieldValidation: "Ignore" }, strategy);
    await apps.patchNamespacedDeployment(patch, strategy);
  });

  test("rejects stale resourceVersions and failed preconditions", async () => {
    const read = await core.readNamespacedConfigMap({ name: "map", namespace });
    await core.replaceNamespacedConfigMap({ name: "map", namespace, body: { ...read, data: { first: "1" } } });
    await assert.rejects(
      core.replaceNamespacedConfigMap({ name: "map", namespace, body: { ...read, data: { second: "2" } } }),
      hasError(409, /the object has been modified/),
    );
    const stale = { metadata: { resourceVersion: read.metadata?.resourceVersion } };
    await assert.rejects(
      core.patchNamespacedConfigMap({ name: "map", namespace, body: stale }, as(k8s.PatchStrategy.MergePatch)),
      hasError(409, /the object has been modified/),
    );
    await assert.rejects(
      core.deleteNamespacedConfigMap({ name: "map", namespace, body: { preconditions: { uid: "other" } } }),
      hasError(409, /does not match the UID in record/),
    );
    await core.deleteNamespacedConfigMap({
      name: "map",
      namespace,
      body: { preconditions: { uid: read.metadata?.uid as string } },
    });
  });
});
