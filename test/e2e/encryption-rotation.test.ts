/**
 * The keys of stored objects change while clients read and write. Guarantees:
 * - every read and write succeeds, and a read returns at least what was acknowledged before it;
 * - after a migration, nothing needs the old key, and a server that has the new one alone serves every object.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { storeCommand } from "../../src/cli/store/command.ts";
import type { ServerOptions } from "../../src/index.ts";
import { startKms } from "../support/key-management-service.ts";
import { skipWithout } from "../support/needs.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { engines, openTestEngine } from "../support/test-engine.ts";
import { until } from "../support/until.ts";

const isFull = skipWithout("full") === false;
const [objects, writers, readers] = isFull ? [400, 8, 8] : [40, 3, 2];
const directory = mkdtempSync(join(tmpdir(), "coxswain-rotation-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const secrets = "/api/v1/namespaces/default/secrets";
const migrations = "/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations";
const secret = (): string => randomBytes(32).toString("base64");
const keys = { one: secret(), two: secret() };
const aesgcm = (...names: (keyof typeof keys)[]): object => ({
  aesgcm: { keys: names.map((name) => ({ name, secret: keys[name] })) },
});

function writeConfiguration(file: string, providers: readonly object[]): void {
  const kind = { apiVersion: "apiserver.config.k8s.io/v1", kind: "EncryptionConfiguration" };
  writeFileSync(file, JSON.stringify({ ...kind, resources: [{ resources: ["secrets"], providers }] }), { mode: 0o600 });
}

const nameOf = (at: number): string => `s${String(at).padStart(4, "0")}`;

/** Clients that write and read until they are stopped. */
class Load {
  readonly #client: RawClient;
  /** The newest acknowledged number of each object. */
  readonly written: number[] = Array.from({ length: objects }, () => 0);
  #stopped = false;
  #running: Promise<unknown> = Promise.resolve();
  reads = 0;
  writes = 0;

  constructor(client: RawClient) {
    this.#client = client;
  }

  async create(): Promise<void> {
    for (const [at] of this.written.entries()) {
      const answer = await this.#client.send({ method: "POST", path: secrets, body: this.#object(at, 0) });
      assert.equal(answer.status, 201, answer.text);
    }
  }

  start(): void {
    const write = Array.from({ length: writers }, (_, writer) => this.#write(writer));
    this.#running = Promise.all([...write, ...Array.from({ length: readers }, (_, reader) => this.#read(reader))]);
    this.#running.catch(() => {}); // `stop` reports it.
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  #object(at: number, number: number): object {
    const text = Buffer.from(`${number} ${"x".repeat(at % 500)}`).toString("base64");
    return { metadata: { name: nameOf(at) }, data: { text } };
  }

  /** Each writer has objects of its own. */
  async #write(writer: number): Promise<void> {
    for (let at = writer; !this.#stopped; at = (at + writers) % objects) {
      if (at % writers !== writer) continue;
      const number = (this.written[at] as number) + 1;
      const path = `${secrets}/${nameOf(at)}`;
      const answer = await this.#client.send({ method: "PUT", path, body: this.#object(at, number) });
      assert.equal(answer.status, 200, answer.text);
      this.written[at] = number;
      this.writes++;
    }
  }

  async #read(reader: number): Promise<void> {
    for (let turn = reader; !this.#stopped; turn++) {
      const at = (turn * 7) % objects;
      const known = [...this.written];
      const isList = turn % 20 === 0;
      const answer = await this.#client.send({ path: isList ? secrets : `${secrets}/${nameOf(at)}` });
      assert.equal(answer.status, 200, answer.text);
      for (const item of isList ? answer.body.items : [answer.body]) checkNumber(item, known);
      if (isList) assert.equal(answer.body.items.length, objects);
      this.reads++;
    }
  }
}

interface Item {
  readonly metadata: { readonly name: string };
  readonly data: { readonly text: string };
}

const numberOf = ({ data }: Item): number => Number.parseInt(Buffer.from(data.text, "base64").toString(), 10);

function checkNumber(item: Item, known: readonly number[]): void {
  const least = known[Number(item.metadata.name.slice(1))] as number;
  assert.ok(numberOf(item) >= least, `${item.metadata.name}: ${numberOf(item)} after ${least}`);
}

async function storedAs(store: string, file: string): Promise<readonly string[]> {
  let out = "";
  const output = { out: (text: string) => (out += text), err: () => {} };
  const code = await storeCommand.run(
    ["encryption", "status", store, "--encryption-provider-config", file],
    output as never,
    {},
  );
  assert.equal(code, 0, out);
  return out.split("\n").filter((line) => line.startsWith("secrets "));
}

for (const [storage, skip] of engines) {
  if (storage === "memory") continue;
  test(`${storage}: keys change under load without an error or a loss`, { skip }, async () => {
    const service = await startKms(join(directory, `${storage}.sock`));
    after(() => service.close());
    const endpoint = `unix://${join(directory, `${storage}.sock`)}`;
    const kms = { kms: { apiVersion: "v2", name: "vault", endpoint } };
    const engine = await openTestEngine(storage);
    after(() => engine.close());
    const file = join(directory, `${storage}.yaml`);
    writeConfiguration(file, [aesgcm("one")]);
    const options: Partial<ServerOptions> = {
      ...engine.options,
      encryptionConfigFile: file,
      reloadsEncryptionConfig: true,
      featureGates: "StorageVersionMigrator=true",
      runtimeConfig: "storagemigration.k8s.io/v1beta1=true",
    };
    const server = await startTestServer(options);
    const client = rawClient(server.kubeconfig);
    const load = new Load(client);
    await load.create();
    load.start();
    let reloads = 0;
    const reload = async (...providers: readonly object[]): Promise<void> => {
      writeConfiguration(file, providers);
      reloads++;
      const success = new RegExp(`automatic_reloads_total\\{[^}]*status="success"\\} ${reloads}\n`);
      await until(async () => assert.match((await client.send({ path: "/metrics" })).text, success));
    };
    const migrate = async (name: string): Promise<void> => {
      const body = { metadata: { name }, spec: { resource: { resource: "secrets" } } };
      const created = await client.send({ method: "POST", path: migrations, body });
      assert.equal(created.status, 201, created.text);
      await until(async () => {
        const { body } = await client.send({ path: `${migrations}/${name}` });
        const conditions: { type: string; status: string }[] = body.status?.conditions ?? [];
        assert.ok(conditions.some(({ type, status }) => type === "Succeeded" && status === "True"));
      });
    };
    await reload(aesgcm("one", "two"));
    await reload(aesgcm("two", "one"));
    await migrate("to-two");
    await reload(aesgcm("two"));
    await reload(kms, aesgcm("two"));
    await migrate("to-kms");
    await reload(kms);
    await load.stop();
    const [reads, writes] = [load.reads, load.writes];
    assert.ok(reads > 0 && writes > 0, `${reads} reads, ${writes} writes`);
    client.close();
    await server.close();

    const store = storage === "lmdb" ? String(options.dataDir) : `etcd://${String(options.etcd?.servers[0]).slice(7)}`;
    const rows = await storedAs(store, file);
    assert.deepEqual(
      rows.map((row) => row.split(/ +/).slice(1)),
      [["kms:v2:vault", String(objects), "0", "0"]],
    );
    const again = await startTestServer(options);
    const reader = rawClient(again.kubeconfig);
    const { items } = (await reader.send({ path: secrets })).body;
    assert.deepEqual(items.map(numberOf), load.written);
    reader.close();
    await again.close();
  });
}
