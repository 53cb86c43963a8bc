/**
 * StorageVersionMigrations, and the StorageVersions that servers report. Guarantees:
 * - a migration rewrites what would be stored otherwise now, and nothing else;
 * - one migration of a resource runs at a time, and those that were interrupted go on after a restart;
 * - objects that are changed or deleted meanwhile keep what their writers stored.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { ServerOptions } from "../../src/index.ts";
import type { Storage } from "../../src/storage/contract.ts";
import { type KubeApiserver, startKubeApiserver } from "../support/kube-apiserver.ts";
import { manualClock } from "../support/manual-clock.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { openSharedStorage, quietControllers, startTestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";
import { skipWithoutUpstream } from "../support/upstream-programs.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-migration-"));
after(() => rmSync(directory, { recursive: true, force: true }));
const secrets = "/api/v1/namespaces/default/secrets";
const migrations = "/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations";
const served = { featureGates: "StorageVersionMigrator=true", runtimeConfig: "storagemigration.k8s.io/v1beta1=true" };

interface Running {
  readonly client: RawClient;
  readonly storage: Storage;
  stop(): Promise<void>;
}

async function start(options: Partial<ServerOptions>, existing?: Storage): Promise<Running> {
  const storage = existing ?? (await openSharedStorage());
  const server = await startTestServer({ ...served, ...options }, storage);
  const client = rawClient(server.kubeconfig);
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= Promise.resolve(client.close()).then(() => server.close());
    return stopped;
  };
  after(stop);
  return { client, storage, stop };
}

async function send({ client }: Running, method: string, path: string, body?: object) {
  const answer = await client.send({ method, path, ...(body && { body }) });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  return answer.body;
}

const migrate = (server: Running, name: string, group: string, resource: string) =>
  send(server, "POST", migrations, { metadata: { name }, spec: { resource: { group, resource } } });

/** `Running=False/MigrationCompleted Succeeded=True/StorageVersionMigrationSucceeded` */
const conditionsOf = ({ status }: { status?: { conditions?: { type: string; status: string; reason: string }[] } }) =>
  (status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status}/${reason}`).join(" ");
const succeeded = "Running=False/MigrationCompleted Succeeded=True/StorageVersionMigrationSucceeded";

async function ended(server: Running, name: string) {
  let migration: Awaited<ReturnType<typeof send>>;
  await until(async () => {
    migration = await send(server, "GET", `${migrations}/${name}`);
    assert.match(conditionsOf(migration), /Running=False/);
  });
  return migration;
}

const file = join(directory, "encryption.yaml");
const keys = { one: randomBytes(32), two: randomBytes(32) };
function encryptWith(...names: (keyof typeof keys)[]): string {
  const list = names.map((name) => ({ name, secret: keys[name].toString("base64") }));
  const resources = [{ resources: ["secrets"], providers: [{ aesgcm: { keys: list } }, { identity: {} }] }];
  const kind = { apiVersion: "apiserver.config.k8s.io/v1", kind: "EncryptionConfiguration" };
  writeFileSync(file, JSON.stringify({ ...kind, resources }), { mode: 0o600 });
  return file;
}

async function keyOf({ storage }: Running, name: string): Promise<string | undefined> {
  const stored = await storage.get(`/registry/secrets/default/${name}`);
  return stored?.value.toString("latin1").split(":")[4];
}

const versionsIn = ({ items }: { items: { metadata: { name: string; resourceVersion: string } }[] }) =>
  Object.fromEntries(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));

test("a migration stores objects with the newest key, and a second one changes nothing", async () => {
  encryptWith("one");
  const server = await start({ encryptionConfigFile: file, reloadsEncryptionConfig: true });
  const names = Array.from({ length: 30 }, (_, at) => `s${at}`);
  for (const name of names)
    await send(server, "POST", secrets, { metadata: { name, labels: { a: "b" } }, stringData: { t: "x" } });
  const before = await send(server, "GET", secrets);
  encryptWith("two", "one");
  await until(async () => {
    await send(server, "POST", secrets, { metadata: { generateName: "new-" } });
    const { items } = await send(server, "GET", secrets);
    assert.equal(await keyOf(server, items[0].metadata.name), "two");
  });
  await migrate(server, "first", "", "secrets");
  const first = await ended(server, "first");
  assert.equal(conditionsOf(first), succeeded);
  assert.match(first.status.resourceVersion, /^[1-9]\d*$/);
  const migrated = await send(server, "GET", secrets);
  for (const name of names) assert.equal(await keyOf(server, name), "two", name);
  const [old, now] = [versionsIn(before), versionsIn(migrated)];
  assert.ok(names.every((name) => now[name] !== old[name]));
  const [object] = migrated.items.filter(({ metadata }: { metadata: { name: string } }) => metadata.name === "s1");
  assert.deepEqual([object.metadata.labels, object.data], [{ a: "b" }, { t: "eA==" }]);

  for (const name of ["second", "third", "fourth"]) await migrate(server, name, "", "secrets");
  for (const name of ["second", "third", "fourth"]) assert.equal(conditionsOf(await ended(server, name)), succeeded);
  assert.deepEqual(versionsIn(await send(server, "GET", secrets)), now);
  await server.stop();
});

test("resources that cannot be migrated are reported, one that does not exist after a minute", async () => {
  const clock = manualClock(Date.now());
  const server = await start({ clock });
  await migrate(server, "reviews", "authorization.k8s.io", "subjectaccessreviews");
  await migrate(server, "nothing", "example.com", "things");
  const failed = async (name: string): Promise<string> => {
    const { status } = await ended(server, name);
    assert.equal(
      conditionsOf({ status }),
      "Running=False/MigrationCompleted Failed=True/StorageVersionMigrationFailed",
    );
    return status.conditions[1].message;
  };
  assert.equal(
    await failed("reviews"),
    'resource "authorization.k8s.io/v1, Resource=subjectaccessreviews" does not support discovery operations: [update patch list]',
  );
  await until(async () => {
    clock.advance(1_000);
    assert.match(conditionsOf(await send(server, "GET", `${migrations}/nothing`)), /Failed/);
  });
  assert.equal(await failed("nothing"), "resource does not exist in discovery");
  await server.stop();
});

const version = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: "object", properties: { size: { type: "integer" } } } },
});
const definition = (storage: string) => ({
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    names: { plural: "things", kind: "Thing" },
    scope: "Namespaced",
    versions: ["v1", "v2"].map((name) => version(name, name === storage)),
  },
});
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const things = "/apis/example.com/v1/namespaces/default/things";

async function storedVersion({ storage }: Running, name: string): Promise<string> {
  const stored = await storage.get(`/registry/example.com/things/default/${name}`);
  return JSON.parse(String(stored?.value)).apiVersion;
}

test("custom resources are stored at the storage version, which becomes the only stored one", async () => {
  const server = await start({});
  await send(server, "POST", definitions, definition("v1"));
  await until(() =>
    send(server, "POST", things, { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, size: 1 }),
  );
  const before = await send(server, "GET", `${things}/a`);
  const found = await send(server, "GET", `${definitions}/things.example.com`);
  await send(server, "PUT", `${definitions}/things.example.com`, {
    ...definition("v2"),
    metadata: { name: "things.example.com", resourceVersion: found.metadata.resourceVersion },
  });
  await until(async () => {
    const { status } = await send(server, "GET", `${definitions}/things.example.com`);
    assert.deepEqual(status.storedVersions, ["v1", "v2"]);
  });
  assert.equal(await storedVersion(server, "a"), "example.com/v1");
  await migrate(server, "things", "example.com", "things");
  assert.equal(conditionsOf(await ended(server, "things")), succeeded);
  assert.equal(await storedVersion(server, "a"), "example.com/v2");
  const migrated = await send(server, "GET", `${things}/a`);
  assert.deepEqual([migrated.size, migrated.metadata.generation], [1, before.metadata.generation]);
  assert.notEqual(migrated.metadata.resourceVersion, before.metadata.resourceVersion);
  const { status } = await send(server, "GET", `${definitions}/things.example.com`);
  assert.deepEqual(status.storedVersions, ["v2"]);
  const migrating = status.conditions.find(({ type }: { type: string }) => type === "StorageMigrating");
  assert.deepEqual(
    [migrating.status, migrating.reason, migrating.message],
    ["False", "MigrationSucceeded", "The migration has succeeded and the stored versions have been updated"],
  );
  await server.stop();
});

test("a migration that a restart interrupts goes on while clients write", async () => {
  encryptWith("one");
  const storage = await openSharedStorage();
  const without = [...quietControllers, "-svm"];
  const server = await start({ encryptionConfigFile: file, controllers: without }, storage);
  const names = Array.from({ length: 100 }, (_, at) => `s${at}`);
  for (const name of names) await send(server, "POST", secrets, { metadata: { name }, stringData: { t: "old" } });
  await migrate(server, "all", "", "secrets");
  await server.stop();
  encryptWith("two", "one");
  const again = await start({ encryptionConfigFile: file }, storage);
  const writing = names.slice(0, 20).map(async (name, at) => {
    if (at % 2 === 0) return send(again, "PUT", `${secrets}/${name}`, { metadata: { name }, stringData: { t: "new" } });
    return send(again, "DELETE", `${secrets}/${name}`);
  });
  await Promise.all(writing);
  assert.equal(conditionsOf(await ended(again, "all")), succeeded);
  for (const [at, name] of names.entries()) {
    const want = at < 20 && at % 2 === 1 ? undefined : "two";
    assert.equal(await keyOf(again, name), want, name);
  }
  const { data } = await send(again, "GET", `${secrets}/s0`);
  assert.equal(Buffer.from(data.t, "base64").toString(), "new");
  await again.stop();
});

const reporting = "StorageVersionAPI=true,APIServerIdentity=true";
const versions = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions";
const reports = { featureGates: reporting, runtimeConfig: "internal.apiserver.k8s.io/v1alpha1=true" };
const hook = "/readyz/poststarthook/built-in-resources-storage-version-updater";

/** Without what differs between servers and runs. */
const comparable = ({ items }: { items: Awaited<ReturnType<typeof send>>[] }) =>
  items.map(({ metadata: { name }, spec, status: { storageVersions, commonEncodingVersion, conditions } }) => ({
    name,
    spec,
    commonEncodingVersion,
    conditions: conditions.map(({ lastTransitionTime: _, ...condition }: Record<string, unknown>) => condition),
    storageVersions: storageVersions.map(({ apiServerID, ...one }: Record<string, unknown>) => ({
      ...one,
      isServer: /^apiserver-[a-z2-7]{26}$/.test(String(apiServerID)),
    })),
  }));

async function reported(client: RawClient) {
  await until(async () => assert.equal((await client.send({ path: hook })).text, "ok"));
  return comparable((await client.send({ path: versions })).body);
}

test("a server reports its storage versions, and those of servers that are gone are removed", async () => {
  const server = await start({ ...reports, hostname: "one" });
  const found = await reported(server.client);
  const events = found.find(({ name }) => name === "core.events");
  assert.deepEqual(events?.storageVersions, [
    { encodingVersion: "v1", decodableVersions: ["v1", "events.k8s.io/v1"], servedVersions: ["v1"], isServer: true },
  ]);
  assert.ok(found.some(({ name }) => name === "apps.deployments"));
  const path = `${versions}/core.pods`;
  const gone = { apiServerID: "gone", encodingVersion: "v2", decodableVersions: ["v2"] };
  const pods = await send(server, "GET", path);
  const both = [...pods.status.storageVersions, gone];
  const { commonEncodingVersion: _, ...status } = pods.status;
  await send(server, "PUT", `${path}/status`, { ...pods, status: { ...status, storageVersions: both } });
  await until(async () => {
    const { status } = await send(server, "GET", path);
    assert.deepEqual([status.storageVersions.length, status.commonEncodingVersion], [1, "v1"]);
  });
  const created = await send(server, "POST", versions, { metadata: { name: "core.strangers" } });
  await send(server, "PUT", `${versions}/core.strangers/status`, {
    ...created,
    status: { storageVersions: [gone], commonEncodingVersion: "v2" },
  });
  await until(async () => {
    assert.equal((await server.client.send({ path: `${versions}/core.strangers` })).status, 404);
  });
  await server.stop();
});

test("the reports are those of kube-apiserver", { skip: skipWithoutUpstream("kube-apiserver") }, async () => {
  const upstream: KubeApiserver = await startKubeApiserver({
    flags: [`--feature-gates=${reporting}`, `--runtime-config=${reports.runtimeConfig}`],
  });
  const client = rawClient(upstream.kubeconfig);
  try {
    const server = await start(reports);
    const byName = (all: Awaited<ReturnType<typeof reported>>) => new Map(all.map((one) => [one.name, one]));
    const [want, found] = [byName(await reported(client)), byName(await reported(server.client))];
    assert.deepEqual([...found.keys()], [...want.keys()]);
    for (const [name, one] of want) assert.deepEqual(found.get(name), one);
    await server.stop();
  } finally {
    client.close();
    await upstream.close();
  }
});
