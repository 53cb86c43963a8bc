/**
 * A server over a store that keeps objects as a store shared with kube-apiserver does. Guarantees:
 * clients see no difference, stored values have the encodings of upstream, foreign values are read
 * at every version, and encrypted ones are never replaced.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { decodeAnyCbor } from "../../src/lib/cbor/decode.ts";
import { hasMagic, readEnvelope } from "../../src/lib/protobuf/envelope.ts";
import { type Answer, type RawClient, rawClient } from "../support/raw-client.ts";
import { sharedEncodingsStorage } from "../support/shared-encodings-storage.ts";
import { openSharedStorage, startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

/** What the store keeps: no seals, and the encodings for shared stores. */
const kept = await openSharedStorage();
let server: TestServer;
let admin: RawClient;
before(async () => {
  server = await startTestServer({ securePort: 0 }, sharedEncodingsStorage(kept));
  admin = rawClient(server.kubeconfig);
});
after(async () => {
  admin.close();
  await server.close();
  await kept.close();
});

const core = "/api/v1/namespaces/default";
const named = (name: string): object => ({ metadata: { name } });
const post = (path: string, body: object) => admin.send({ method: "POST", path, body });
const put = (path: string, body: object) => admin.send({ method: "PUT", path, body });
const get = (path: string) => admin.send({ path });

/** Repeats a request until its answer is as expected. */
function answered(send: () => Promise<Answer>, isExpected: (answer: Answer) => boolean): Promise<Answer> {
  let answer: Answer | undefined;
  return eventually(
    () => `an expected answer, instead of ${answer?.text}`,
    async () => {
      answer = await send();
      return isExpected(answer) && answer;
    },
  );
}

const thingDefinition = {
  ...named("things.example.com"),
  spec: {
    group: "example.com",
    names: { plural: "things", kind: "Thing" },
    scope: "Namespaced",
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};

async function storedValue(key: string): Promise<Buffer> {
  const stored = await kept.get(key);
  assert.ok(stored !== undefined, key);
  return stored.value;
}

async function store(key: string, value: Buffer | string): Promise<void> {
  const revision = (await kept.get(key))?.revision ?? 0;
  const { ok } = await kept.commit([{ key, revision }], [{ key, value: Buffer.from(value) }]);
  assert.ok(ok);
}

test("stores the objects of a start as upstream does", async () => {
  const { entries } = await kept.range("/registry/");
  assert.ok(entries.length > 100);
  for (const { key, value, seal } of entries) {
    assert.equal(seal, undefined);
    const isJson = /^.registry.apiregistration/.test(key);
    assert.equal(hasMagic(value), !isJson, key);
    if (isJson) assert.equal(value[0], 0x7b, key);
  }
});

test("writes, reads and watches built-in objects", async () => {
  const path = `${core}/configmaps`;
  const created = await post(path, { ...named("a"), data: { b: "c" } });
  assert.equal(created.status, 201);
  const { apiVersion, kind, raw } = readEnvelope(await storedValue("/registry/configmaps/default/a"));
  assert.deepEqual([apiVersion, kind], ["v1", "ConfigMap"]);
  const { resourceVersion } = created.body.metadata;
  assert.ok(!raw.includes(`2${String.fromCharCode(resourceVersion.length)}${resourceVersion}`), "it is field 6");
  assert.deepEqual((await get(`${path}/a`)).body, created.body);
  const since = created.body.metadata.resourceVersion;
  const changed = await put(`${path}/a`, { ...created.body, data: { b: "d" } });
  assert.equal(changed.status, 200);
  const watched = await get(`${path}?watch=1&resourceVersion=${since}&timeoutSeconds=1`);
  const events = watched.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(events[0], { type: "MODIFIED", object: changed.body });
});

test("a write without changes is not stored", async () => {
  const { body } = await get(`${core}/configmaps/a`);
  const { body: again } = await put(`${core}/configmaps/a`, body);
  assert.equal(again.metadata.resourceVersion, body.metadata.resourceVersion);
});

test("a write without changes replaces another encoding", async () => {
  const key = "/registry/configmaps/default/json";
  await store(key, '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"json","namespace":"default","uid":"u"}}');
  const { body } = await answered(
    () => get(`${core}/configmaps/json`),
    ({ status }) => status === 200,
  );
  const { status } = await put(`${core}/configmaps/json`, body);
  assert.equal(status, 200);
  assert.ok(hasMagic(await storedValue(key)));
});

test("charges quotas", async () => {
  await post(`${core}/resourcequotas`, { ...named("q"), spec: { hard: { "count/secrets": "3" } } });
  const quota = `${core}/resourcequotas/q`;
  await answered(
    () => get(quota),
    ({ body }) => body.status?.used?.["count/secrets"] !== undefined,
  );
  const statuses = await Promise.all(
    ["s1", "s2", "s3", "s4"].map(async (name) => (await post(`${core}/secrets`, named(name))).status),
  );
  assert.deepEqual(statuses.toSorted(), [201, 201, 201, 403]);
  assert.equal((await get(quota)).body.status.used["count/secrets"], "3");
  assert.ok(hasMagic(await storedValue("/registry/resourcequotas/default/q")));
});

test("reads what an older kube-apiserver stored", async () => {
  const spec = { schedule: "* * * * *", jobTemplate: { spec: { template: { spec: { containers: [] } } } } };
  const old = { kind: "CronJob", apiVersion: "batch/v1beta1", metadata: { name: "old", namespace: "default" }, spec };
  await store("/registry/cronjobs/default/old", JSON.stringify(old));
  const { body } = await get("/apis/batch/v1/namespaces/default/cronjobs/old");
  assert.equal(body.apiVersion, "batch/v1");
  assert.equal(body.spec.concurrencyPolicy, "Allow");
});

test("stores definitions and custom resources as JSON", async () => {
  await post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", thingDefinition);
  const path = "/apis/example.com/v1/namespaces/default/things";
  const { body } = await answered(
    () => post(path, { apiVersion: "example.com/v1", kind: "Thing", ...named("t") }),
    ({ status }) => status === 201,
  );
  assert.equal(body.metadata.name, "t");
  const definition = await storedValue("/registry/apiextensions.k8s.io/customresourcedefinitions/things.example.com");
  const stored = JSON.parse(definition.toString());
  assert.equal(stored.apiVersion, "apiextensions.k8s.io/v1beta1");
  assert.equal(stored.spec.preserveUnknownFields, false);
  assert.deepEqual(stored.spec.validation, { openAPIV3Schema: { type: "object" } });
  assert.equal((await storedValue("/registry/example.com/things/default/t"))[0], 0x7b);
});

test("encrypted objects are reported and not replaced", async () => {
  const key = "/registry/limitranges/default/secret";
  const value = "k8s:enc:aescbc:v1:key1:\u0001\u0002";
  await store(key, value);
  const path = `${core}/limitranges`;
  const reason = "identity transformer tried to read encrypted data";
  for (const [method, target] of [
    ["GET", `${path}/secret`],
    ["PUT", `${path}/secret`],
    ["DELETE", `${path}/secret`],
  ] as const) {
    const { status, body } = await admin.send({
      method,
      path: target,
      ...(method === "PUT" && { body: named("secret") }),
    });
    assert.equal(status, 500, method);
    assert.equal(body.message, `Internal error occurred: ${reason}`);
  }
  const list = await get(path);
  assert.equal(list.body.reason, "InternalError");
  assert.equal(list.body.message, `Internal error occurred: unable to transform key "${key}": ${reason}`);
  assert.deepEqual((await storedValue(key)).toString(), value);
});

test("a start does not replace an encrypted object", async () => {
  const encrypted = await openSharedStorage();
  const value = Buffer.from("k8s:enc:secretbox:v1:k:xyz");
  await encrypted.commit([], [{ key: "/registry/namespaces/default", value }]);
  await assert.rejects(startTestServer({ securePort: 0 }, sharedEncodingsStorage(encrypted)), /encrypted data/);
  assert.deepEqual((await encrypted.get("/registry/namespaces/default"))?.value, value);
  await encrypted.close();
});

test("stores custom resources as CBOR with its gate", async () => {
  const cborStore = await openSharedStorage();
  const options = { securePort: 0, featureGates: "CBORServingAndStorage=true" };
  const other = await startTestServer(options, sharedEncodingsStorage(cborStore));
  const client = rawClient(other.kubeconfig);
  const send = (path: string, body: object) => client.send({ method: "POST", path, body });
  await send("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", thingDefinition);
  const path = "/apis/example.com/v1/namespaces/default/things";
  const { body } = await answered(
    () => send(path, { apiVersion: "example.com/v1", kind: "Thing", ...named("t") }),
    ({ status }) => status === 201,
  );
  const stored = await cborStore.get("/registry/example.com/things/default/t");
  const { metadata } = decodeAnyCbor(stored?.value as Buffer) as { metadata: Record<string, unknown> };
  const { resourceVersion: _, ...rest } = body.metadata;
  assert.deepEqual(metadata, rest);
  assert.deepEqual((await client.send({ path: `${path}/t` })).body, body);
  client.close();
  await other.close();
  await cborStore.close();
});
