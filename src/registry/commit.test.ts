/**
 * Guarantees: a write that the store rejected is not visible; all concurrent writers of one object
 * succeed; a generated name that exists is generated again.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { send } from "../../test/support/api-client.ts";
import { type MemoryRegistry, openMemoryRegistry, requestOf } from "../../test/support/memory-registry.ts";
import type { ApiError } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { SharedStoreError, type Storage, StorageUnavailable, ValueTooLarge } from "../storage/contract.ts";
import type { RegistryContext } from "./contract.ts";
import { create } from "./create.ts";
import { update } from "./update.ts";

const maps = "/api/v1/namespaces/n/configmaps";
const place = ["/configmaps", "n"] as const;

async function withNamespace(): Promise<MemoryRegistry> {
  const cluster = await openMemoryRegistry();
  await cluster.create(["/namespaces", ""], { metadata: { name: "n" } });
  return cluster;
}

test("commits the writes of three hundred concurrent writers of one object", async () => {
  const { registry, create, find, close } = await withNamespace();
  await create(place, { metadata: { name: "a" } });
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, index) => send(registry, `MERGE ${maps}/a`, { data: { [`k${index}`]: "v" } })),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(Object.keys((await find(place, "a"))?.data).length, 300);
  await close();
});

test("a large write pauses between its steps, and loses no write meanwhile", async () => {
  const { registry, create: createMap, find, close } = await withNamespace();
  await createMap(place, { metadata: { name: "a" } });
  let pauses = 0;
  const pause = async (): Promise<void> => {
    await send(registry, `MERGE ${maps}/a`, { data: { [`k${pauses++ % 3}`]: "v" } });
  };
  const request = { ...requestOf(registry, place, { name: "a" }), pause };
  const next = (current: (() => KubeObject) | undefined): KubeObject => {
    const object = (current as () => KubeObject)();
    object.data = { ...object.data, own: "v" };
    return object;
  };
  await update(registry, { ...request, next });
  assert.deepEqual((await find(place, "a"))?.data, { k0: "v", k1: "v", k2: "v", own: "v" });
  assert.ok(pauses > 5, `${pauses} pauses`);
  pauses = 0;
  const decode = (): KubeObject => ({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "b" } });
  await create(registry, { ...request, name: "", decode });
  assert.ok(pauses > 3, `${pauses} pauses`);
  await close();
});

test("creates one of twenty objects with the same name", async () => {
  const { registry, close } = await withNamespace();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => send(registry, `POST ${maps}`, { metadata: { name: "a" } })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 19 }, () => 409)]);
  await close();
});

test("writes nothing for an update without changes", async () => {
  const { registry, create, close } = await withNamespace();
  const { metadata } = await create(place, { metadata: { name: "a" }, data: { k: "ü" } });
  const answer = await send(registry, `PUT ${maps}/a`, { metadata: { name: "a" }, data: { k: "ü" } });
  assert.equal(answer.body.metadata.resourceVersion, metadata.resourceVersion);
  assert.equal(String(await registry.storage.current()), metadata.resourceVersion);
  await close();
});

test("generates a name that exists again, eight times", async () => {
  const { registry, close } = await withNamespace();
  let draws = 0;
  const stuck: RegistryContext = {
    ...registry,
    random: (bytes) => (bytes === 20 ? Buffer.alloc(bytes, ++draws > 9 ? 1 : 0) : registry.random(bytes)),
  };
  const body = { metadata: { generateName: `${"g".repeat(60)}` } };
  assert.equal((await send(stuck, `POST ${maps}`, body)).body.metadata.name, `${"g".repeat(58)}bbbbb`);
  const rejected = await send(stuck, `POST ${maps}`, body);
  assert.equal(rejected.status, 409);
  assert.equal(
    rejected.body.message,
    `configmaps "${"g".repeat(58)}bbbbb" already exists, the server was not able to generate a unique name for the object`,
  );
  assert.equal(draws, 9);
  assert.equal((await send(stuck, `POST ${maps}`, body)).status, 201);
  await close();
});

const faults: [what: string, error: Error, status: number, message: string][] = [
  ["a full disk", new StorageUnavailable("no space left on device"), 503, "no space left on device"],
  [
    "an error of a shared store",
    new SharedStoreError("etcdserver: no leader", { isTimeout: false }),
    500,
    "etcdserver: no leader",
  ],
  [
    "a shared store that does not answer",
    new SharedStoreError("context deadline exceeded", { isTimeout: true }),
    504,
    "Timeout: request did not complete within requested timeout - context deadline exceeded",
  ],
  ["an object over the store's limit", new ValueTooLarge(2, 1), 500, "etcdserver: request is too large"],
  [
    "an object over the limit of etcd's clients",
    new ValueTooLarge(2_097_153, 1),
    500,
    "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097153 vs. 2097152)",
  ],
];

for (const [what, error, status, message] of faults) {
  test(`answers 5xx, and nothing is visible, for ${what}`, async () => {
    const { registry, create, find, close } = await withNamespace();
    await create(place, { metadata: { name: "a" } });
    const broken: RegistryContext = { ...registry, storage: failing(registry.storage, error) };
    for (const [line, body] of [
      [`POST ${maps}`, { metadata: { name: "b" } }],
      [`PUT ${maps}/a`, { metadata: { name: "a" }, data: { k: "v" } }],
      [`DELETE ${maps}/a`, undefined],
    ] as const) {
      const answer = await send(broken, line, body);
      assert.equal(answer.status, status, line);
      assert.equal(answer.body.message, message, line);
    }
    assert.equal(await find(place, "b"), undefined);
    assert.equal((await find(place, "a"))?.data, undefined);
    await close();
  });
}

test("stores an object that is too large with managed fields without them, except for an apply", async () => {
  const { registry, create, close } = await withNamespace();
  // 0.75 MiB, and the same again in managed fields.
  const keys = Object.fromEntries(Array.from({ length: 7500 }, (_, index) => [`${"k".repeat(100)}${index}`, ""]));
  for (const [line, body, status] of [
    [`POST ${maps}`, { metadata: { name: "a" }, data: keys }, 201],
    [`PUT ${maps}/a`, { metadata: { name: "a" }, data: { ...keys, more: "" } }, 200],
    [`MERGE ${maps}/a`, { data: { still: "more" } }, 200],
    [
      `APPLY ${maps}/b?fieldManager=m`,
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" }, data: keys },
      500,
    ],
  ] as const) {
    const answer = await send(registry, line, body);
    assert.equal(answer.status, status, line);
    if (status === 500) assert.equal(answer.body.message, "etcdserver: request is too large");
    else
      assert.deepEqual(
        [answer.body.metadata.managedFields, Object.keys(answer.body.data).length >= 7500],
        [undefined, true],
        line,
      );
  }
  await create(place, { metadata: { name: "c" } });
  const grown = await send(registry, `PUT ${maps}/c`, { metadata: { name: "c" }, data: keys });
  assert.deepEqual([grown.status, grown.body.metadata.managedFields], [200, undefined]);
  await close();
});

/** A store whose commits fail. */
function failing(storage: Storage, error: Error): Storage {
  return new Proxy(storage, {
    get(target, name) {
      if (name === "commit") return () => Promise.reject(error);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

test("does not retry a patch that sets a resourceVersion", async () => {
  const { registry, create, change, close } = await withNamespace();
  const { metadata } = await create(place, { metadata: { name: "a" } });
  await change(place, "a", (object) => {
    object.data = { k: "v" };
  });
  const answer = await send(registry, `MERGE ${maps}/a`, { metadata: { resourceVersion: metadata.resourceVersion } });
  assert.equal(answer.status, 409);
  await close();
});

test("waits for asynchronous validating admission before the write", async () => {
  const { registry, close } = await withNamespace();
  const rejection = new Error("rejected later") as ApiError;
  const waiting = {
    async mutate() {},
    async authorize() {},
    validate: () => new Promise<void>((_, reject) => setImmediate(() => reject(rejection))),
    async removed() {},
  };
  await assert.rejects(
    send({ ...registry, admission: waiting }, `POST ${maps}`, { metadata: { name: "a" } }),
    rejection,
  );
  await close();
});
