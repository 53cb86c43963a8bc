/** Two servers over one store with different feature gates and served versions, as during an upgrade. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { ServerOptions } from "../../src/index.ts";
import type { Storage } from "../../src/storage/contract.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { openSharedStorage, startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
const scalers = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;

interface Replica {
  readonly server: TestServer;
  readonly client: RawClient;
}

async function start(shared: Storage, hostname: string, more: Partial<ServerOptions> = {}): Promise<Replica> {
  const options = { hostname, endpointReconciler: "none", controllers: ["*"], ...more } as const;
  const server = await startTestServer(options, shared);
  return { server, client: rawClient(server.kubeconfig) };
}

async function stop({ server, client }: Replica): Promise<void> {
  client.close();
  await server.close();
}

describe("an old and a new server over one store", () => {
  let shared: Storage;
  let old: Replica;
  let next: Replica;
  const newOptions = {
    featureGates: "CrossNamespaceVolumeDataSource=true",
    runtimeConfig: "api/all=true,autoscaling/v2=false",
  };

  before(async () => {
    shared = await openSharedStorage();
    old = await start(shared, "old");
    next = await start(shared, "new", newOptions);
  });
  after(async () => {
    await Promise.all([stop(old), stop(next)]);
    await shared.close();
  });

  const claim = (name: string): object => ({
    metadata: { name },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
      dataSourceRef: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s", namespace: "other" },
    },
  });

  test("the old server keeps fields that it does not know, but does not add them", async () => {
    const created = await next.client.send({ method: "POST", path: claims, body: claim("of-new") });
    assert.equal(created.body.spec.dataSourceRef.namespace, "other", created.text);
    const { body: read } = await old.client.send({ path: `${claims}/of-new` });
    read.metadata.labels = { a: "b" };
    const updated = await old.client.send({ method: "PUT", path: `${claims}/of-new`, body: read });
    assert.equal(updated.status, 200, updated.text);
    await eventually("the new server has read the update", async () => {
      const { body } = await next.client.send({ path: `${claims}/of-new` });
      assert.equal(body.spec.dataSourceRef.namespace, "other");
      return body.metadata.labels?.a === "b";
    });
    const ofOld = await old.client.send({ method: "POST", path: claims, body: claim("of-old") });
    assert.equal(ofOld.status, 201, ofOld.text);
    assert.equal(ofOld.body.spec.dataSourceRef, undefined);
  });

  test("each server reads at its own versions what the other one has written", async () => {
    const spec = {
      minReplicas: 1,
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
    };
    const written = { method: "POST", path: scalers("v1"), body: { metadata: { name: "a" }, spec } };
    assert.equal((await next.client.send(written)).status, 201);
    assert.equal((await next.client.send({ path: scalers("v2") })).status, 404);
    await eventually("the old server has read it", async () => {
      const { status, body } = await old.client.send({ path: `${scalers("v2")}/a` });
      return status === 200 && body.spec.maxReplicas === 3;
    });
    const path = `${scalers("v2")}/a`;
    const headers = { "content-type": "application/merge-patch+json" };
    const behavior = { scaleDown: { stabilizationWindowSeconds: 7 } };
    const patched = await old.client.send({ method: "PATCH", path, headers, body: { spec: { behavior } } });
    assert.equal(patched.status, 200, patched.text);
    const changed = { method: "PATCH", path: `${scalers("v1")}/a`, headers, body: { spec: { maxReplicas: 4 } } };
    assert.equal((await next.client.send(changed)).status, 200);
    await eventually("no server has lost a field of the other one", async () => {
      const { body } = await old.client.send({ path });
      assert.equal(body.spec.behavior.scaleDown.stabilizationWindowSeconds, 7);
      return body.spec.maxReplicas === 4;
    });
  });

  test("a start of either writes no object of the other one again", async () => {
    const places = [
      "/apis/rbac.authorization.k8s.io/v1/clusterroles",
      "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
      "/apis/rbac.authorization.k8s.io/v1/roles",
      "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
      "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
      "/apis/scheduling.k8s.io/v1/priorityclasses",
      "/api/v1/namespaces/default/services",
    ];
    const versions = async (): Promise<string[]> => {
      const lists = await Promise.all(places.map((path) => old.client.send({ path })));
      return lists.flatMap(({ body }) =>
        body.items.map(({ metadata }: { metadata: { name: string; resourceVersion: string } }) =>
          [body.kind, metadata.name, metadata.resourceVersion].join(" "),
        ),
      );
    };
    const before = await versions();
    assert.ok(before.length > 100);
    for (const more of [{}, newOptions, {}]) await stop(await start(shared, "restarted", more));
    assert.deepEqual(await versions(), before);
  });

  test("the APIService of a version that one server lacks is not written in a loop", async () => {
    const path = "/apis/apiregistration.k8s.io/v1/apiservices/v2.autoscaling";
    const first = await old.client.send({ path });
    assert.equal(first.status, 200);
    const since = first.body.metadata.resourceVersion;
    const query = `watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dv2.autoscaling&resourceVersion=${since}`;
    const { text } = await old.client.send({ path: `/apis/apiregistration.k8s.io/v1/apiservices?${query}` });
    assert.equal(text, "");
  });
});

describe("keys of service account tokens", () => {
  test("a server warns when it and another one over its store reject each other's tokens", async () => {
    const shared = await openSharedStorage();
    const warnings: string[] = [];
    const logger = {
      info() {},
      error() {},
      warn: (message: string, values?: object) => void warnings.push(`${message} ${JSON.stringify(values ?? {})}`),
    };
    const first = await start(shared, "first", { logger });
    const about = () => warnings.filter((one) => one.includes("service account tokens"));
    assert.deepEqual(about(), []);
    const second = await start(shared, "second", { logger });
    assert.equal(about().length, 1, warnings.join());
    assert.match(about()[0] as string, /--service-account-signing-key-file.*apiserver-/);
    const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    const { body } = await second.client.send({ path });
    const published = body.items.flatMap(({ metadata }: { metadata: { annotations?: Record<string, string> } }) =>
      Object.entries(metadata.annotations ?? {}).filter(([name]) => name === "coxswain/service-account-keys"),
    );
    assert.equal(published.length, 2);
    // The issuer's key set has the same ids, so nothing secret is published.
    const { body: keySet } = await second.client.send({ path: "/openid/v1/jwks" });
    const ids = keySet.keys.map(({ kid }: { kid: string }) => kid);
    assert.ok(published.some(([, value]: [string, string]) => value === ids.join(",")));
    await Promise.all([stop(first), stop(second)]);
    await shared.close();
  });
});
