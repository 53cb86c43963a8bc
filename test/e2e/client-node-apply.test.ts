/**
 * Server-side apply by @kubernetes/client-node: managers, conflicts and their causes, force,
 * subresources, and cleared managed fields.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import * as k8s from "@kubernetes/client-node";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const namespace = "default";
const map = { name: "map", namespace };
const web = { name: "web", namespace };

const mapBody = (data: Record<string, string>, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "map", ...metadata },
  data,
});

const webBody = (spec: object) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: { selector: { matchLabels: { app: "web" } }, ...spec },
});

const template = (image: string) => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "main", image, ports: [{ containerPort: 80 }] }] },
});

const as = (strategy: string) => k8s.setHeaderOptions("Content-Type", strategy);
const applying = as(k8s.PatchStrategy.ServerSideApply);
const merging = as(k8s.PatchStrategy.MergePatch);

/** Checks that an error has this code and Status. */
const hasError = (code: number, expected: object) => (error: unknown) => {
  assert.ok(error instanceof k8s.ApiException);
  assert.equal(error.code, code);
  assert.partialDeepStrictEqual(JSON.parse(error.body as string), expected);
  return true;
};

/** The managed fields without their times. */
const owned = ({ metadata }: k8s.KubernetesObject) =>
  (metadata?.managedFields ?? []).map(({ manager, operation, subresource, fieldsV1 }) =>
    [manager, operation, ...(subresource === undefined ? [] : [subresource]), JSON.stringify(fieldsV1)].join(" "),
  );

describe("client-node applies", () => {
  let server: TestServer;
  let core: k8s.CoreV1Api;
  let apps: k8s.AppsV1Api;
  let objects: k8s.KubernetesObjectApi;
  before(async () => {
    server = await startTestServer();
    const config = new k8s.KubeConfig();
    config.loadFromString(server.kubeconfig);
    core = config.makeApiClient(k8s.CoreV1Api);
    apps = config.makeApiClient(k8s.AppsV1Api);
    objects = k8s.KubernetesObjectApi.makeApiClient(config);
  });
  beforeEach(async () => {
    await core.deleteCollectionNamespacedConfigMap({ namespace });
    await apps.deleteCollectionNamespacedDeployment({ namespace });
  });
  after(() => server.close());

  const apply = (
    fieldManager: string,
    data: Record<string, string>,
    options: { force?: boolean; dryRun?: string } = {},
  ) => core.patchNamespacedConfigMap({ ...map, body: mapBody(data), fieldManager, ...options }, applying);

  test("an apply creates an object, shares fields, and takes them by force", async () => {
    assert.deepEqual(owned(await apply("one", { a: "1", b: "2" })), ['one Apply {"f:data":{"f:a":{},"f:b":{}}}']);
    await assert.rejects(
      apply("two", { a: "9", b: "8", c: "3" }),
      hasError(409, {
        status: "Failure",
        reason: "Conflict",
        message: 'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n- .data.b',
        details: {
          causes: [
            { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.a" },
            { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.b" },
          ],
        },
      }),
    );
    const forced = await apply("two", { a: "9", b: "2" }, { force: true });
    assert.deepEqual(forced.data, { a: "9", b: "2" });
    assert.deepEqual(owned(forced).sort(), [
      'one Apply {"f:data":{"f:b":{}}}',
      'two Apply {"f:data":{"f:a":{},"f:b":{}}}',
    ]);
    const left = await apply("two", { b: "2" });
    assert.deepEqual(left.data, { b: "2" });
    const again = await apply("two", { b: "2" });
    assert.deepEqual(again, left);
  });

  test("a dry run stores nothing", async () => {
    assert.deepEqual(owned(await apply("one", { a: "1" }, { dryRun: "All" })), ['one Apply {"f:data":{"f:a":{}}}']);
    await assert.rejects(core.readNamespacedConfigMap(map), hasError(404, { reason: "NotFound" }));
  });

  test("an apply without a field manager is rejected", async () => {
    const message = 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch';
    await assert.rejects(
      core.patchNamespacedConfigMap({ ...map, body: mapBody({}) }, applying),
      hasError(422, { reason: "Invalid", message }),
    );
    await assert.rejects(
      core.patchNamespacedConfigMap(
        { ...map, body: mapBody({}, { managedFields: [{}] }), fieldManager: "one" },
        applying,
      ),
      hasError(400, { message: "metadata.managedFields must be nil" }),
    );
    const forced = 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch';
    await apply("one", {});
    await assert.rejects(
      core.patchNamespacedConfigMap({ ...map, body: {}, force: true }, merging),
      hasError(422, { message: forced }),
    );
  });

  test("a merge patch with an empty list or an empty entry clears the managed fields", async () => {
    for (const managedFields of [[], [{}]]) {
      await apply("one", { a: "1" });
      const cleared = await core.patchNamespacedConfigMap({ ...map, body: { metadata: { managedFields } } }, merging);
      assert.deepEqual(owned(cleared), []);
    }
    const applied = await apply("two", { a: "1" });
    assert.deepEqual(owned(applied).sort(), [
      'before-first-apply Update {"f:data":{".":{},"f:a":{}}}',
      'two Apply {"f:data":{"f:a":{}}}',
    ]);
  });

  test("the user agent is the manager of a write without a field manager", async () => {
    const named = k8s.setHeaderOptions("User-Agent", "controller/v1.2.3 (linux/amd64)");
    const created = await core.createNamespacedConfigMap(
      { namespace, body: { metadata: { name: "map" }, data: { a: "1" } } },
      named,
    );
    assert.deepEqual(owned(created), ['controller Update {"f:data":{".":{},"f:a":{}}}']);
    await assert.rejects(
      apply("one", { a: "2" }),
      hasError(409, { message: 'Apply failed with 1 conflict: conflict with "controller" using v1: .data.a' }),
    );
    const replaced = await core.replaceNamespacedConfigMap({
      ...map,
      body: { ...created, data: { b: "1" } },
      fieldManager: "replacer",
    });
    assert.deepEqual(owned(replaced).sort(), [
      'controller Update {"f:data":{}}',
      'replacer Update {"f:data":{"f:b":{}}}',
    ]);
  });

  test("applies to a Deployment, its status and its scale own fields separately", async () => {
    const first = { ...web, body: webBody({ replicas: 2, template: template("x:1") }), fieldManager: "one" };
    assert.deepEqual(owned(await apps.patchNamespacedDeployment(first, applying)), [
      'one Apply {"f:spec":{"f:replicas":{},"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"main\\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{"k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:containerPort":{}}}}}}}}}',
    ]);
    const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "web" }, spec: { replicas: 5 } };
    const causes = [{ reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".spec.replicas" }];
    await assert.rejects(
      apps.patchNamespacedDeploymentScale({ ...web, body: scale, fieldManager: "scaler" }, applying),
      hasError(409, { details: { causes } }),
    );
    const scaled = await apps.patchNamespacedDeploymentScale(
      { ...web, body: scale, fieldManager: "scaler", force: true },
      applying,
    );
    assert.equal(scaled.spec?.replicas, 5);
    const message = 'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale": .spec.replicas';
    await assert.rejects(apps.patchNamespacedDeployment(first, applying), hasError(409, { message }));
    const relinquished = { ...first, body: webBody({ template: template("x:2") }) };
    assert.equal((await apps.patchNamespacedDeployment(relinquished, applying)).spec?.replicas, 5);
    const status = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, status: { replicas: 5 } };
    const reported = await apps.patchNamespacedDeploymentStatus(
      { ...web, body: status, fieldManager: "teller" },
      applying,
    );
    assert.deepEqual(
      owned(reported)
        .filter((entry) => !entry.startsWith("one "))
        .sort(),
      ['scaler Apply scale {"f:spec":{"f:replicas":{}}}', 'teller Apply status {"f:status":{"f:replicas":{}}}'],
    );
  });

  test("KubernetesObjectApi applies an object of any kind", async () => {
    const applied = await objects.patch(
      { ...mapBody({ a: "1" }), metadata: { name: "map", namespace } },
      undefined,
      undefined,
      "any",
      true,
      k8s.PatchStrategy.ServerSideApply,
    );
    assert.deepEqual(owned(applied), ['any Apply {"f:data":{"f:a":{}}}']);
  });
});
