/**
 * A kube-apiserver and this server over one store, with every provider of the same EncryptionConfiguration. Guarantees:
 * - each serves what the other has encrypted;
 * - a copy of the store to a data directory and back, without keys, is served by both.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { storeCommand } from "../../src/cli/store/command.ts";
import type { ServerOptions } from "../../src/index.ts";
import { etcdDefaults } from "../../src/storage/etcd/options.ts";
import { type EtcdCluster, skipWithoutEtcd, startEtcd } from "../support/etcd.ts";
import { startKms } from "../support/key-management-service.ts";
import { startKubeApiserver } from "../support/kube-apiserver.ts";
import { rawClient } from "../support/raw-client.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { skipWithoutUpstream } from "../support/upstream-programs.ts";

const skip = skipWithoutUpstream("kube-apiserver") || skipWithoutEtcd;
const directory = mkdtempSync(join(tmpdir(), "coxswain-interchange-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const core = "/api/v1/namespaces/default";
const template = { spec: { containers: [{ name: "c", image: "i" }] } };
const key = () => ({ keys: [{ name: "key", secret: randomBytes(32).toString("base64") }] });
const endpoint = `unix://${join(directory, "kms.sock")}`;

/** A resource for each provider, and the start of its values. */
const rows: [resource: string, path: string, body: object, provider: object, start: string][] = [
  ["secrets", `${core}/secrets`, { stringData: { text: "secret text" } }, { aesgcm: key() }, "aesgcm:v1:key:"],
  ["configmaps", `${core}/configmaps`, { data: { text: "secret text" } }, { aescbc: key() }, "aescbc:v1:key:"],
  ["limitranges", `${core}/limitranges`, { spec: { limits: [] } }, { secretbox: key() }, "secretbox:v1:key:"],
  [
    "podtemplates",
    `${core}/podtemplates`,
    { template },
    { kms: { apiVersion: "v1", name: "first", endpoint } },
    "kms:v1:first:",
  ],
  [
    "controllerrevisions.apps",
    "/apis/apps/v1/namespaces/default/controllerrevisions",
    { revision: 1, data: { text: "secret text" } },
    { kms: { apiVersion: "v2", name: "second", endpoint } },
    "kms:v2:second:",
  ],
];

interface Served {
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/** The objects with the name in all resources, without what servers add on reading. */
async function readAll({ kubeconfig }: Served, name: string): Promise<unknown[]> {
  const client = rawClient(kubeconfig);
  try {
    const found: unknown[] = [];
    for (const [, path] of rows) {
      const { status, body, text } = await client.send({ path: `${path}/${name}` });
      assert.equal(status, 200, text);
      found.push(body);
    }
    return found;
  } finally {
    client.close();
  }
}

async function createAll({ kubeconfig }: Served, name: string): Promise<void> {
  const client = rawClient(kubeconfig);
  try {
    for (const [, path, body] of rows) {
      const answer = await client.send({ method: "POST", path, body: { ...body, metadata: { name } } });
      assert.equal(answer.status, 201, answer.text);
    }
  } finally {
    client.close();
  }
}

async function command(...args: string[]): Promise<string> {
  let [out, err] = ["", ""];
  const output = { out: (text: string) => (out += text), err: (text: string) => (err += text) };
  const code = await storeCommand.run(args, output as never, {});
  assert.equal(code, 0, `${out}${err}`);
  return out;
}

const storeOf = ({ urls }: EtcdCluster): string => `etcd://${String(urls[0]).slice("http://".length)}`;

test("stores with every provider are interchangeable with those of kube-apiserver", { skip }, async () => {
  const service = await startKms(join(directory, "kms.sock"));
  after(() => service.close());
  const file = join(directory, "encryption.yaml");
  const resources = rows.map(([resource, , , provider]) => ({ resources: [resource], providers: [provider] }));
  const kind = { apiVersion: "apiserver.config.k8s.io/v1", kind: "EncryptionConfiguration" };
  writeFileSync(file, JSON.stringify({ ...kind, resources }), { mode: 0o600 });
  const upstream = (etcd: EtcdCluster): Promise<Served> => {
    const flags = [`--encryption-provider-config=${file}`, "--feature-gates=KMSv1=true"];
    return startKubeApiserver({ etcd: etcd.urls, flags });
  };
  const own = (options: Partial<ServerOptions>): Promise<Served> =>
    startTestServer({ ...options, encryptionConfigFile: file, featureGates: "KMSv1=true" });
  const onEtcd = ({ urls }: EtcdCluster): Partial<ServerOptions> => ({
    storage: "etcd",
    etcd: { ...etcdDefaults, servers: urls },
  });
  const using = async <T>(started: Promise<Served>, use: (server: Served) => Promise<T>): Promise<T> => {
    const server = await started;
    try {
      return await use(server);
    } finally {
      await server.close();
    }
  };

  const first = await startEtcd();
  after(() => first.close());
  const theirs = await using(upstream(first), async (server) => {
    await createAll(server, "theirs");
    return readAll(server, "theirs");
  });
  const ours = await using(own(onEtcd(first)), async (server) => {
    assert.deepEqual(await readAll(server, "theirs"), theirs);
    await createAll(server, "ours");
    return readAll(server, "ours");
  });
  await using(upstream(first), async (server) => assert.deepEqual(await readAll(server, "ours"), ours));
  const status = await command("encryption", "status", storeOf(first), "--encryption-provider-config", file);
  for (const [resource, , , , start] of rows)
    assert.match(status, new RegExp(`^${resource} +${start.slice(0, -1)} +[2-9] +0 +0`, "m"), resource);

  const dataDir = join(directory, "data");
  await command("copy", "--from", storeOf(first), "--to", dataDir);
  const copied = await using(own({ storage: "lmdb", dataDir }), async (server) => {
    const found = [await readAll(server, "theirs"), await readAll(server, "ours")];
    await createAll(server, "third");
    return [...found, await readAll(server, "third")];
  });
  assert.deepEqual(copied.slice(0, 2).map(withoutVersions), [theirs, ours].map(withoutVersions));
  const second = await startEtcd();
  after(() => second.close());
  await command("copy", "--from", dataDir, "--to", storeOf(second));
  await using(upstream(second), async (server) => {
    for (const [at, name] of ["theirs", "ours", "third"].entries())
      assert.deepEqual(withoutVersions(await readAll(server, name)), withoutVersions(copied[at] as unknown[]));
  });
});

/** A copy may have other revisions. */
function withoutVersions(objects: readonly unknown[]): unknown[] {
  return (objects as { metadata: object }[]).map(({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, resourceVersion: "" },
  }));
}
