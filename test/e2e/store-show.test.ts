/** `coxswain store get`, `list`, `history`, `stats` and `check` of a data directory and of etcd. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../src/apimachinery/clock.ts";
import { builtinSchema, definitionOf } from "../../src/catalog/builtin-schemas.ts";
import { storeCommand } from "../../src/cli/store/command.ts";
import { encodeAnyCbor } from "../../src/lib/cbor/encode.ts";
import { encodeProtobuf } from "../../src/lib/protobuf/encode.ts";
import { wrapInEnvelope } from "../../src/lib/protobuf/envelope.ts";
import { EtcdClient } from "../../src/storage/etcd/api/client.ts";
import { damageStore } from "../support/damage-store.ts";
import { type EtcdCluster, skipWithoutEtcd, startEtcd } from "../support/etcd.ts";
import { main } from "../support/program.ts";
import { rawClient } from "../support/raw-client.ts";
import { type RanCommand, runCommand } from "../support/run-command.ts";
import { startTestServer } from "../support/start-test-server.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-store-show-"));
after(() => rmSync(base, { recursive: true, force: true }));

const store = (...args: string[]): Promise<RanCommand> => runCommand((output) => storeCommand.run(args, output, {}));

const lines = (out: string): string[] => out.trimEnd().split("\n");

describe("of a data directory", () => {
  const dataDir = join(base, "data");
  const key = (name: string): string => `/registry/configmaps/default/${name}`;
  let versions: string[];
  before(async () => {
    const server = await startTestServer({ storage: "lmdb", durability: "relaxed", dataDir });
    const client = rawClient(server.kubeconfig);
    const path = "/api/v1/namespaces/default/configmaps";
    const send = async (method: string, name: string, data?: string) => {
      const body = { metadata: { name }, data: { is: data } };
      const to = method === "POST" ? path : `${path}/${name}`;
      const answer = await client.send({ method, path: to, ...(data !== undefined && { body }) });
      return answer.body.metadata?.resourceVersion as string;
    };
    versions = [await send("POST", "a", "one"), await send("PUT", "a", "two"), await send("POST", "b", "x")];
    await send("DELETE", "b");
    await send("POST", "c", "to be damaged");
    const used = await store("list", dataDir);
    assert.deepEqual([used.code, /in use by another server/.test(used.err)], [2, true], used.err);
    client.close();
    await server.close();
  });

  test("get prints the object with its resourceVersion, or its bytes", async () => {
    const { out, code } = await store("get", dataDir, key("a"), "-o", "json");
    const object = JSON.parse(out);
    assert.deepEqual(
      [code, object.kind, object.data.is, object.metadata.resourceVersion],
      [0, "ConfigMap", "two", versions[1]],
    );
    const yaml = await store("get", `lmdb:${dataDir}`, key("a"));
    assert.match(yaml.out, /^apiVersion: v1\ndata:\n {2}is: two\nkind: ConfigMap\n/);
    const raw = spawn(process.execPath, [main, "store", "get", dataDir, key("a"), "-o", "raw"]);
    const stored = JSON.parse(await text(raw.stdout));
    assert.deepEqual([stored.data.is, stored.metadata.resourceVersion], ["two", undefined]);
    const absent = await store("get", dataDir, key("b"));
    assert.deepEqual([absent.code, absent.err], [2, `Error: ${key("b")} is absent\n`]);
  });

  test("list prints keys, or objects as lines of JSON", async () => {
    const { out } = await store("list", dataDir, "/registry/configmaps/default/");
    assert.deepEqual(
      lines(out).map((line) => line.split("\t")[2]),
      ["a", "c"].map(key),
    );
    const json = await store("list", dataDir, key("a"), "-o", "json");
    const [found] = lines(json.out).map((line) => JSON.parse(line));
    assert.deepEqual([found.key, String(found.revision), found.object.data.is], [key("a"), versions[1], "two"]);
    const all = await store("list", dataDir, "-o", "json");
    assert.equal(all.code, 0, "the kinds that a new server stores are decoded");
  });

  test("history prints the changes of a key, also of a deleted one", async () => {
    const changes = lines((await store("history", dataDir, key("a"), "-o", "json")).out).map((line) =>
      JSON.parse(line),
    );
    assert.deepEqual(
      changes.map(({ revision, object }) => [String(revision), object.data.is]),
      [
        [versions[0], "one"],
        [versions[1], "two"],
      ],
    );
    const deleted = lines((await store("history", dataDir, key("b"))).out).map((line) => line.split("\t")[1]);
    assert.deepEqual([deleted.length, deleted[1]], [2, "deleted"]);
  });

  test("stats counts by resource", async () => {
    const { resources, revision, databaseBytes } = JSON.parse((await store("stats", dataDir, "-o", "json")).out);
    const { objects, bytes, largest } = resources.find((one: { resource: string }) => one.resource === "configmaps");
    assert.ok(objects >= 2 && bytes > largest && revision > Number(versions[2]) && databaseBytes > bytes);
    assert.match(
      (await store("stats", dataDir)).out,
      /^Revision \d+, database of \d+ bytes\nRESOURCE +OBJECTS +BYTES +LARGEST\n/,
    );
  });

  test("names a damaged object, and lists the others", async () => {
    await damageStore(dataDir, (one) => one === key("c"));
    const { code, err } = await store("get", dataDir, key("c"));
    assert.deepEqual([code, err], [2, `Error: ${key("c")} is damaged: the checksum does not match\n`]);
    const list = await store("list", dataDir, "/registry/configmaps/default/");
    assert.equal(list.code, 1);
    assert.match(list.out, /default\/a\n\d+\t0\t\/registry\/configmaps\/default\/c\tthe checksum does not match\n$/);
    assert.equal((await store("stats", dataDir)).code, 1);
  });
});

describe("of etcd", { skip: skipWithoutEtcd }, () => {
  let cluster: EtcdCluster;
  let client: EtcdClient;
  let url: string;
  const write = async (key: string, value: Buffer | null): Promise<number> => {
    const at = { key: Buffer.from(key) };
    const operation = value === null ? { request_delete_range: at } : { request_put: { ...at, value } };
    return (await client.txn({ compare: [], success: [operation], failure: [] })).header.revision;
  };
  const thing = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "t" }, spec: { size: 2n ** 60n } };
  before(async () => {
    cluster = await startEtcd();
    client = new EtcdClient({ servers: cluster.urls, clock: systemClock });
    url = `etcd://${cluster.urls[0]?.replace("http://", "")}`;
    const schema = builtinSchema(definitionOf("", "v1", "ConfigMap") as string);
    const message = encodeProtobuf({ metadata: { name: "a" }, data: { a: "b" } }, schema);
    await write("/registry/configmaps/default/a", wrapInEnvelope("v1", "ConfigMap", message));
    await write("/registry/example.com/things/default/t", encodeAnyCbor(thing));
  });
  after(async () => {
    client.close();
    await cluster.close();
  });

  test("decodes protobuf without a server", async () => {
    const { out } = await store("get", url, "/registry/configmaps/default/a");
    assert.match(out, /data:\n {2}a: b\nkind: ConfigMap\nmetadata:\n(?: .*\n)* {2}resourceVersion: "2"\n/);
  });

  test("decodes CBOR of custom resources without a server", async () => {
    const { out, code, err } = await store("get", url, "/registry/example.com/things/default/t", "-o", "json");
    assert.equal(code, 0, err);
    assert.match(out, /"size":1152921504606846976/);
    assert.equal(JSON.parse(out).metadata.resourceVersion, "3");
  });

  test("history goes back to the compacted revision", async () => {
    const key = "/registry/example.com/things/default/h";
    const revisions: number[] = [];
    for (const number of [1, 2, 3]) revisions.push(await write(key, Buffer.from(`{"number":${number}}`)));
    revisions.push(await write(key, null), await write(key, Buffer.from('{"number":5}')));
    const shown = async () => lines((await store("history", url, key)).out).map((line) => Number(line.split("\t")[0]));
    assert.deepEqual(await shown(), revisions);
    await client.compact(revisions[2] as number);
    assert.deepEqual(await shown(), revisions.slice(2));
  });

  test("check names objects that cannot be decoded", async () => {
    await write("/registry/configmaps/default/bad", Buffer.from("k8s\0\xff\xff", "latin1"));
    await write("/registry/secrets/default/encrypted", Buffer.from("k8s:enc:aescbc:v1:key1:xyz"));
    const { code, out } = await store("check", url, "-o", "json");
    const { whole, unreadable } = JSON.parse(out);
    assert.deepEqual([code, whole], [1, false]);
    assert.deepEqual(
      unreadable.map(({ key }: { key: string }) => key),
      ["/registry/configmaps/default/bad", "/registry/secrets/default/encrypted"],
    );
    assert.match(unreadable[1].problem, /encrypted/);
  });
});
