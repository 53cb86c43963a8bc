/** A server that emulates an earlier release: its documents, resources, gates, stored objects and expressions. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { ServerOptions } from "../../src/index.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { openSharedStorage, startTestServer, type TestServer } from "../support/start-test-server.ts";

interface Started {
  readonly server: TestServer;
  readonly client: RawClient;
}

async function start(
  options: Partial<ServerOptions>,
  ...shared: Parameters<typeof startTestServer>[1][]
): Promise<Started> {
  const server = await startTestServer(options, ...shared);
  return { server, client: rawClient(server.kubeconfig) };
}

async function stop({ server, client }: Started): Promise<void> {
  client.close();
  await server.close();
}

const templates = "/api/v1/namespaces/default/podtemplates";
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const classes = (version: string): string => `/apis/storage.k8s.io/${version}/volumeattributesclasses`;
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

describe("a server that emulates 1.33", () => {
  let started: Started;
  before(async () => {
    started = await start({ emulatedVersion: "1.33", runtimeConfig: "storage.k8s.io/v1beta1=true" });
  });
  after(() => stop(started));
  const get = async (path: string) => (await started.client.send({ path })).body;
  const post = async (path: string, body: object) => started.client.send({ method: "POST", path, body });

  test("/version, OpenAPI and metrics name both releases", async () => {
    const { major, minor, emulationMajor, emulationMinor, minCompatibilityMajor, minCompatibilityMinor } =
      await get("/version");
    assert.deepEqual([major, minor, emulationMajor, emulationMinor], ["1", "36", "1", "33"]);
    assert.deepEqual([minCompatibilityMajor, minCompatibilityMinor], ["1", "33"]);
    assert.equal((await get("/openapi/v3/apis/apps/v1")).info.version, "1.33");
    const { text } = await started.client.send({ path: "/metrics" });
    assert.match(text, /^version_info\{binary="1\.36\.0",component="kube",emulation="1\.33",min_compat="1\.33"\} 1$/m);
    assert.match(text, /^kubernetes_feature_enabled\{name="WatchList",stage="BETA"\} 0$/m);
    assert.doesNotMatch(text, /name="NodeDeclaredFeatures"/);
  });

  test("pages of gates that are off are not served", async () => {
    for (const path of ["/statusz", "/flagz"]) assert.equal((await started.client.send({ path })).status, 404);
  });

  test("discovery and the paths have only the resources of the release", async () => {
    const groups: string[] = (await get("/apis")).groups.map(({ name }: { name: string }) => name);
    assert.ok(groups.includes("storage.k8s.io") && !groups.includes("resource.k8s.io"), groups.join());
    const { resources } = await get("/apis/storage.k8s.io/v1");
    assert.ok(!resources.some(({ name }: { name: string }) => name === "volumeattributesclasses"));
    assert.equal((await started.client.send({ path: classes("v1") })).status, 404);
    assert.equal((await started.client.send({ path: classes("v1beta1") })).status, 200);
  });

  test("a removed version is served again when it is enabled", async () => {
    const path = "/apis/admissionregistration.k8s.io/v1beta1/validatingadmissionpolicies";
    assert.equal((await started.client.send({ path })).status, 404);
    const older = await start({
      emulatedVersion: "1.33",
      runtimeConfig: "admissionregistration.k8s.io/v1beta1=true",
    });
    const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
    const spec = { validations: [{ expression: "true" }], matchConstraints: { resourceRules: [rule] } };
    const body = { metadata: { name: "p" }, spec };
    const { status, body: created } = await older.client.send({ method: "POST", path, body });
    await stop(older);
    assert.deepEqual([status, created.apiVersion], [201, "admissionregistration.k8s.io/v1beta1"]);
  });

  test("fields of later gates are dropped", async () => {
    const container = { name: "c", image: "i", restartPolicy: "Never", volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const spec = {
      containers: [container],
      volumes: [{ name: "v", image: { reference: "i" } }],
      resourceClaims: [{ name: "r", resourceClaimName: "r" }],
      hostnameOverride: "h",
    };
    const { status, body } = await post(templates, { metadata: { name: "p" }, template: { spec } });
    assert.equal(status, 201);
    const { resourceClaims, hostnameOverride, volumes, containers } = body.template.spec;
    assert.deepEqual([resourceClaims, hostnameOverride, volumes], Array(3).fill(undefined));
    assert.deepEqual([containers[0].restartPolicy, containers[0].volumeMounts], Array(2).fill(undefined));
  });

  test("status fields of later gates are dropped", async () => {
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    const deployment = { metadata: { name: "d" }, spec: { selector: { matchLabels: { a: "b" } }, template } };
    await post(deployments, deployment);
    const { body } = await started.client.send({
      method: "PATCH",
      path: `${deployments}/d/status`,
      headers: { "content-type": "application/merge-patch+json" },
      body: { status: { replicas: 1, terminatingReplicas: 1 } },
    });
    assert.deepEqual([body.status.replicas, body.status.terminatingReplicas], [1, undefined]);
  });

  test("new expressions have the functions that the oldest server has", async () => {
    const version = (rule: string) => ({
      name: "v1",
      served: true,
      storage: true,
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            list: { type: "array", maxItems: 9, items: { type: "integer" }, "x-kubernetes-validations": [{ rule }] },
          },
        },
      },
    });
    const define = (rule: string) =>
      post(definitions, {
        metadata: { name: "things.example.com" },
        spec: {
          group: "example.com",
          names: { plural: "things", kind: "Thing" },
          scope: "Cluster",
          versions: [version(rule)],
        },
      });
    const { status, body } = await define("self.distinct().size() == self.size()");
    assert.equal(status, 422);
    assert.match(body.message, /undeclared reference to 'distinct'/);
    assert.equal((await define("self.size() < 9")).status, 201);
  });
});

test("gates and options that the release does not have are errors of the start", async () => {
  await assert.rejects(start({ emulatedVersion: "1.32" }), {
    message:
      "[emulation version 1.32 is not between [1.33, 1.36.0], minCompatibilityVersion version 1.33 is not between [1.33, 1.32]]",
  });
  await assert.rejects(start({ emulatedVersion: "1.34", featureGates: "NodeDeclaredFeatures=true" }), {
    message:
      "cannot set feature gate NodeDeclaredFeatures to true, feature is PreAlpha at emulated version 1.34, min compatibility version 1.33",
  });
  await assert.rejects(start({ emulatedVersion: "1.33", serviceClusterIpRange: "10.0.0.0/8" }), {
    message: "specified --service-cluster-ip-range is too large; for 32-bit addresses, the mask must be >= 12",
  });
});

test("servers with different minimum compatibility versions store at different versions, and read both", async () => {
  const shared = await openSharedStorage();
  const replica = (name: string, minCompatibilityVersion: string) =>
    start({ hostname: name, endpointReconciler: "none", emulatedVersion: "1.34", minCompatibilityVersion }, shared);
  const old = await replica("old", "1.33");
  const next = await replica("next", "1.34");
  try {
    for (const [{ client }, name] of [
      [old, "of-old"],
      [next, "of-next"],
    ] as const) {
      const body = { metadata: { name }, driverName: "d.example.com", parameters: { a: "b" } };
      assert.equal((await client.send({ method: "POST", path: classes("v1"), body })).status, 201);
    }
    const storedAt = async (name: string): Promise<string> => {
      const { value } = (await shared.get(`/registry/volumeattributesclasses/${name}`)) ?? assert.fail(name);
      return JSON.parse(value.toString()).apiVersion;
    };
    assert.equal(await storedAt("of-old"), "storage.k8s.io/v1beta1");
    assert.equal(await storedAt("of-next"), "storage.k8s.io/v1");
    for (const { client } of [old, next])
      for (const name of ["of-old", "of-next"]) {
        const { body } = await client.send({ path: `${classes("v1")}/${name}` });
        assert.deepEqual([body.apiVersion, body.driverName], ["storage.k8s.io/v1", "d.example.com"]);
      }
    const hash = async ({ client }: Started): Promise<string> => {
      const { body } = await client.send({ path: "/apis/storage.k8s.io/v1" });
      return body.resources.find(({ name }: { name: string }) => name === "volumeattributesclasses").storageVersionHash;
    };
    assert.deepEqual([await hash(old), await hash(next)], ["Bl3MtjZ/n/s=", "tIjydgKBC5w="]);
  } finally {
    await Promise.all([stop(old), stop(next)]);
    await shared.close();
  }
});
