/** Encryption of stored objects (`--encryption-provider-config`). Answers and messages are those of kube-apiserver 1.36. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { storeCommand } from "../../src/cli/store/command.ts";
import type { ServerOptions } from "../../src/index.ts";
import { startKms } from "../support/key-management-service.ts";
import { manualClock } from "../support/manual-clock.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { unavailable } from "../support/socket-service.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-encryption-"));
after(() => rmSync(directory, { recursive: true, force: true }));
let files = 0;
const path = (name: string): string => join(directory, `${files++}-${name}`);

const secret = (bytes: number): string => randomBytes(bytes).toString("base64");
const [first, second] = [secret(32), secret(32)];
type Providers = readonly object[];
const aesgcm = (...keys: readonly [name: string, secret: string][]): object => ({
  aesgcm: { keys: keys.map(([name, secret]) => ({ name, secret })) },
});
const identity = { identity: {} };

function configuration(providers: Providers, resources: readonly string[] = ["secrets"], file = path("config.yaml")) {
  const content = { resources: [{ resources, providers }] };
  const kind = { apiVersion: "apiserver.config.k8s.io/v1", kind: "EncryptionConfiguration" };
  writeFileSync(file, JSON.stringify({ ...kind, ...content }), { mode: 0o600 });
  return file;
}

interface Running {
  readonly client: RawClient;
  stop(): Promise<void>;
}

async function start(options: Partial<ServerOptions>): Promise<Running> {
  const server = await startTestServer(options);
  const client = rawClient(server.kubeconfig);
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= Promise.resolve(client.close()).then(() => server.close());
    return stopped;
  };
  after(stop);
  return { client, stop };
}

const secrets = "/api/v1/namespaces/default/secrets";
const make = (name: string, text: string) => ({ metadata: { name }, stringData: { text } });

async function create({ client }: Running, name: string, text: string): Promise<void> {
  const answer = await client.send({ method: "POST", path: secrets, body: make(name, text) });
  assert.equal(answer.status, 201, answer.text);
}

async function textOf({ client }: Running, name: string): Promise<string> {
  const { status, body, text } = await client.send({ path: `${secrets}/${name}` });
  return status === 200 ? Buffer.from(body.data.text, "base64").toString() : text;
}

/** All bytes below a directory. */
const bytesIn = (dir: string): Buffer =>
  Buffer.concat(
    globSync("**", { cwd: dir })
      .map((name) => join(dir, name))
      .filter((name) => statSync(name).isFile())
      .map((name) => readFileSync(name)),
  );

test("values are encrypted on the disk, also those of the history, and are served after a restart", async () => {
  const dataDir = path("data");
  const options = {
    storage: "lmdb",
    dataDir,
    encryptionConfigFile: configuration([aesgcm(["one", first])]),
  } as const;
  const texts = Array.from({ length: 20 }, () => randomBytes(24).toString("hex"));
  const server = await start(options);
  for (const [index, text] of texts.entries()) await create(server, `s${index}`, text);
  for (const index of [0, 1, 2]) await server.client.send({ method: "DELETE", path: `${secrets}/s${index}` });
  await server.stop();
  const stored = bytesIn(dataDir);
  assert.ok(stored.includes("k8s:enc:aesgcm:v1:one:"));
  for (const text of texts) {
    for (const form of [text, Buffer.from(text).toString("base64")]) assert.ok(!stored.includes(form.slice(0, 16)));
  }
  const again = await start(options);
  assert.equal(await textOf(again, "s5"), texts[5]);
  const list = await again.client.send({ path: `${secrets}?limit=500` });
  assert.equal(list.body.items.length, 17);
  await again.stop();
});

test("other resources are not encrypted, and rules can name groups and custom resources", async () => {
  const dataDir = path("data");
  const encryptionConfigFile = configuration(
    [aesgcm(["one", first]), identity],
    ["configmaps", "*.apps", "things.example.com"],
  );
  const server = await start({ storage: "lmdb", dataDir, encryptionConfigFile });
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await server.client.send({ method: "POST", path, body });
    assert.equal(answer.status, 201, answer.text);
  };
  await create(server, "plain", "a plain secret");
  await post("/api/v1/namespaces/default/configmaps", {
    metadata: { name: "a" },
    data: { text: "text of a ConfigMap" },
  });
  await post("/apis/apps/v1/namespaces/default/controllerrevisions", {
    metadata: { name: "a" },
    revision: 1,
    data: { text: "text of a revision" },
  });
  await server.stop();
  const stored = bytesIn(dataDir);
  assert.ok(stored.includes(Buffer.from("a plain secret").toString("base64")));
  assert.ok(!stored.includes("text of a"));
});

test("a value that no key reads is an error that loses nothing", async () => {
  const dataDir = path("data");
  const right = configuration([aesgcm(["one", first])]);
  const server = await start({ storage: "lmdb", dataDir, encryptionConfigFile: right });
  await create(server, "a", "text");
  await server.stop();
  const rows: [encryptionConfigFile: string | undefined, reason: string][] = [
    [configuration([aesgcm(["one", second])]), "cipher: message authentication failed"],
    [configuration([aesgcm(["two", first])]), "no matching key was found for the provided AES transformer"],
    [configuration([identity]), "no matching prefix found"],
    [undefined, "identity transformer tried to read encrypted data"],
  ];
  for (const [encryptionConfigFile, reason] of rows) {
    const other = await start({ storage: "lmdb", dataDir, encryptionConfigFile });
    const read = await other.client.send({ path: `${secrets}/a` });
    assert.equal(read.status, 500);
    assert.equal(read.body.message, `Internal error occurred: ${reason}`);
    const list = await other.client.send({ path: secrets });
    const listed = `unable to transform key "/registry/secrets/default/a": ${reason}`;
    assert.deepEqual(
      [list.status, list.body.reason, list.body.message],
      [500, "InternalError", `Internal error occurred: ${listed}`],
    );
    const write = await other.client.send({ method: "PUT", path: `${secrets}/a`, body: make("a", "new") });
    assert.equal(write.status, 500, write.text);
    await other.stop();
  }
  const again = await start({ storage: "lmdb", dataDir, encryptionConfigFile: right });
  assert.equal(await textOf(again, "a"), "text");
  await again.stop();
});

test("a write without a change stores an object with the newest key, and with it only once", async () => {
  const file = configuration([identity]);
  const server = await start({ encryptionConfigFile: file, reloadsEncryptionConfig: true });
  await create(server, "a", "text");
  const current = async () => (await server.client.send({ path: `${secrets}/a` })).body;
  const replaced = async (): Promise<boolean> => {
    const before = await current();
    const { status, body } = await server.client.send({ method: "PUT", path: `${secrets}/a`, body: before });
    assert.equal(status, 200);
    return body.metadata.resourceVersion !== before.metadata.resourceVersion;
  };
  assert.equal(await replaced(), false);
  configuration([aesgcm(["one", first]), identity], ["secrets"], file);
  await until(async () => assert.equal(await replaced(), true));
  assert.equal(await replaced(), false);
  configuration([aesgcm(["two", second], ["one", first])], ["secrets"], file);
  await until(async () => assert.equal(await replaced(), true));
  assert.equal(await replaced(), false);
  configuration([aesgcm(["two", second])], ["secrets"], file);
  const reloads = async (): Promise<string> =>
    (await server.client.send({ path: "/metrics" })).text.match(/.*automatic_reloads_total.*"success".*/)?.[0] ?? "";
  await until(async () => assert.match(await reloads(), / 3$/));
  assert.equal(await textOf(server, "a"), "text");
});

test("when a new configuration lacks a key, reads of the current state fail at once, and the cache is served", async () => {
  for (const gate of [false, true]) {
    const file = configuration([aesgcm(["one", first])]);
    const featureGates = `AllowUnsafeMalformedObjectDeletion=${gate}`;
    const server = await start({ encryptionConfigFile: file, reloadsEncryptionConfig: true, featureGates });
    const send = async (method: string, path: string, body?: object): Promise<[number, string]> => {
      const headers = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : undefined;
      const answer = await server.client.send({ method, path, ...(headers && { headers }), ...(body && { body }) });
      return [answer.status, answer.body.message ?? ""];
    };
    for (const name of ["a", "b", "c", "d"]) await create(server, name, `text of ${name}`);
    const before = (await server.client.send({ path: `${secrets}/a` })).body;
    configuration([aesgcm(["two", second])], ["secrets"], file);
    const named = (name: string) =>
      `StorageError: corrupt object, Code: 7, Key: /secrets/default/${name}, ResourceVersion: 0, AdditionalErrorMsg: data from the storage is not transformable revision=0: `;
    const failed = (name: string): [number, string] => [
      500,
      `Internal error occurred: ${gate ? named(name) : ""}no matching key was found for the provided AES transformer`,
    ];
    await until(async () => assert.deepEqual(await send("GET", `${secrets}/a`), failed("a")));
    assert.deepEqual(await send("GET", `${secrets}/a?resourceVersion=0`), [200, ""]);
    const list = await server.client.send({ path: secrets });
    assert.deepEqual([list.status, list.body.items.length], [200, 4]);
    const rows: [method: string, path: string, body: object | undefined, want: [number, string]][] = [
      ["DELETE", `${secrets}/a`, undefined, failed("a")],
      ["DELETE", `${secrets}/a?dryRun=All`, undefined, failed("a")],
      ["PUT", `${secrets}/a`, before, failed("a")],
      ["PUT", `${secrets}/a?dryRun=All`, make("a", "new"), failed("a")],
      ["PATCH", `${secrets}/b`, {}, failed("b")],
      ["PATCH", `${secrets}/b`, { metadata: { labels: { a: "b" } } }, [200, ""]],
      ["GET", `${secrets}/b`, undefined, [200, ""]],
      ["PUT", `${secrets}/c`, make("c", "new"), [200, ""]],
      ["GET", `${secrets}/c`, undefined, [200, ""]],
      ["POST", secrets, make("d", "new"), [409, 'secrets "d" already exists']],
      ["POST", secrets, make("e", "new"), [201, ""]],
      ["DELETE", `${secrets}/e`, undefined, [200, ""]],
    ];
    for (const [method, path, body, want] of rows)
      assert.deepEqual(await send(method, path, body), want, `${method} ${path} ${gate}`);
    configuration([aesgcm(["two", second], ["one", first])], ["secrets"], file);
    await until(async () => assert.deepEqual(await send("GET", `${secrets}/a`), [200, ""]));
    await server.stop();
  }
});

test("a changed file that is not valid leaves the present keys in use", async () => {
  const file = configuration([aesgcm(["one", first])]);
  const server = await start({ encryptionConfigFile: file, reloadsEncryptionConfig: true });
  writeFileSync(file, "kind: Nothing");
  const metrics = async (): Promise<string> => (await server.client.send({ path: "/metrics" })).text;
  await until(async () => assert.match(await metrics(), /automatic_reloads_total\{[^}]*status="failure"\} 1/));
  await create(server, "a", "text");
  assert.equal(await textOf(server, "a"), "text");
});

test("a start with a wrong configuration fails with its reason, and without its keys", async () => {
  const rows: [file: string, message: RegExp][] = [
    [path("none"), /no such file or directory/],
    [
      configuration([aesgcm(["one", secret(31)])]),
      /secret: Invalid value: "REDACTED": secret is not of the expected length, got 31/,
    ],
  ];
  for (const [encryptionConfigFile, message] of rows)
    await assert.rejects(startTestServer({ encryptionConfigFile }), message);
});

const kms = (socket: string): object => ({
  kms: { apiVersion: "v2", name: "vault", endpoint: `unix://${socket}`, timeout: "1s" },
});
const health = async ({ client }: Running, path: string): Promise<[number, string]> => {
  const { status, text } = await client.send({ path });
  return [status, text];
};

test("a key management service encrypts the keys of values", async () => {
  const socket = path("kms.sock");
  const service = await startKms(socket);
  after(() => service.close());
  const dataDir = path("data");
  const options = { storage: "lmdb", dataDir, encryptionConfigFile: configuration([kms(socket)]) } as const;
  const server = await start(options);
  for (const name of ["a", "b", "c"]) await create(server, name, `the text of ${name}`);
  assert.deepEqual(service.calls, ["Status", "Encrypt"]);
  assert.deepEqual(await health(server, "/readyz/kms-providers"), [200, "ok"]);
  assert.deepEqual((await health(server, "/livez/kms-providers"))[0], 404);
  await server.stop();
  const stored = bytesIn(dataDir);
  assert.ok(stored.includes("k8s:enc:kms:v2:vault:"));
  assert.ok(!stored.includes(Buffer.from("the text of").toString("base64").slice(0, 12)));

  service.calls.length = 0;
  service.keyId = "second";
  const again = await start(options);
  assert.equal(await textOf(again, "a"), "the text of a");
  assert.equal(await textOf(again, "b"), "the text of b");
  assert.deepEqual(service.calls, ["Status", "Encrypt", "Decrypt"]);
  const { body } = await again.client.send({ path: `${secrets}/a` });
  const put = await again.client.send({ method: "PUT", path: `${secrets}/a`, body });
  assert.notEqual(put.body.metadata.resourceVersion, body.metadata.resourceVersion);
  const metrics = (await again.client.send({ path: "/metrics" })).text;
  assert.match(metrics, /apiserver_storage_envelope_transformation_cache_misses_total 1\n/);
  assert.match(metrics, /apiserver_storage_transformation_operations_total\{resource="secrets",status="OK"/);
  await again.stop();
});

test("while a key management service is down, values with known keys are served, and later no value is written", async () => {
  const socket = path("kms.sock");
  const service = await startKms(socket);
  after(() => service.close());
  const clock = manualClock(Date.now());
  const server = await start({ clock, encryptionConfigFile: configuration([kms(socket)]) });
  await create(server, "a", "text");
  service.failure = unavailable;
  await clock.advance(61_000);
  const sealed = "rpc error: code = Unavailable desc = the vault is sealed";
  await until(async () => {
    const [status, text] = await health(server, "/healthz/kms-providers");
    assert.equal(status, 500);
    assert.ok(text.includes(sealed), text);
  });
  assert.deepEqual(await health(server, "/healthz/kms-providers"), [
    500,
    `internal server error: kms-provider-0: ${sealed}\n`,
  ]);
  await create(server, "b", "written with the last key");
  assert.equal(await textOf(server, "a"), "text");
  await clock.advance(181_000);
  const { status, body } = await server.client.send({ method: "POST", path: secrets, body: make("c", "late") });
  assert.equal(status, 500);
  assert.match(body.message, /^Internal error occurred: encryptedDEKSource with keyID hash "sha256:.*" expired at /);
  assert.equal(await textOf(server, "b"), "written with the last key");
});

const firstKms = (socket: string): object => ({
  kms: { apiVersion: "v1", name: "old", endpoint: `unix://${socket}`, timeout: "1s", cachesize: -1 },
});

test("a key management service of version 1 encrypts a key for each value, behind its gate", async () => {
  const socket = path("kms.sock");
  const service = await startKms(socket);
  after(() => service.close());
  const dataDir = path("data");
  const encryptionConfigFile = configuration([firstKms(socket), kms(socket), identity]);
  await assert.rejects(
    startTestServer({ encryptionConfigFile }),
    /Set --feature-gates=KMSv1=true to use the deprecated/,
  );
  const options = { storage: "lmdb", dataDir, encryptionConfigFile, featureGates: "KMSv1=true" } as const;
  const clock = manualClock(Date.now());
  const server = await start({ ...options, clock });
  service.calls.length = 0;
  await Promise.all(["a", "b", "c"].map((name) => create(server, name, `the text of ${name}`)));
  assert.deepEqual(service.calls.toSorted(), ["Encrypt", "Encrypt", "Encrypt", "Version"]);
  const { body } = await server.client.send({ path: `${secrets}/a` });
  const [put, patched] = await Promise.all([
    server.client.send({ method: "PUT", path: `${secrets}/b`, body: make("b", "a new text") }),
    server.client.send({
      method: "PATCH",
      path: `${secrets}/a`,
      headers: { "content-type": "application/merge-patch+json" },
      body: { stringData: { text: "patched" } },
    }),
  ]);
  assert.deepEqual([put.status, patched.status], [200, 200]);
  assert.notEqual(patched.body.metadata.resourceVersion, body.metadata.resourceVersion);
  assert.deepEqual(await health(server, "/readyz/kms-provider-0"), [200, "ok"]);
  assert.deepEqual(await health(server, "/healthz/kms-provider-1"), [200, "ok"]);
  assert.equal((await health(server, "/readyz/kms-providers"))[0], 404);
  assert.equal((await health(server, "/livez/kms-provider-0"))[0], 404);

  service.failure = unavailable;
  const failed = await server.client.send({ method: "POST", path: secrets, body: make("d", "lost") });
  assert.deepEqual([failed.status, failed.body.message], [500, downMessage]);
  assert.equal((await server.client.send({ path: `${secrets}/d` })).status, 404);
  clock.advance(20_000);
  assert.match((await health(server, "/readyz"))[1], /\[-\]kms-provider-0 failed/);
  service.failure = undefined;
  await server.stop();

  const stored = bytesIn(dataDir);
  assert.ok(stored.includes("k8s:enc:kms:v1:old:"));
  for (const text of ["the text of", "patched"])
    assert.ok(!stored.includes(Buffer.from(text).toString("base64").slice(0, 9)), text);
  const again = await start(options);
  const texts = [];
  for (const name of ["a", "b", "c"]) texts.push(await textOf(again, name));
  assert.deepEqual(texts, ["patched", "a new text", "the text of c"]);
  assert.match(
    (await again.client.send({ path: "/metrics" })).text,
    /apiserver_envelope_encryption_dek_cache_inter_arrival_time_seconds_count\{transformation_type="from_storage"\} \d/,
  );
  await again.stop();

  const moved = configuration([kms(socket), firstKms(socket)]);
  const status = async () =>
    secretsIn((await encryptionCommand("status", dataDir, "--encryption-provider-config", moved)).out);
  assert.deepEqual(await status(), [["secrets", "kms:v1:old", "3", "3", "0"]]);
  const rewritten = await encryptionCommand("rewrite", dataDir, "--encryption-provider-config", moved);
  assert.equal(rewritten.code, 0, rewritten.err);
  assert.deepEqual(await status(), [["secrets", "kms:v2:vault", "3", "0", "0"]]);
  const back = configuration([firstKms(socket), kms(socket)]);
  assert.equal((await encryptionCommand("rewrite", dataDir, "--encryption-provider-config", back)).code, 0);
  assert.deepEqual(await status(), [["secrets", "kms:v1:old", "3", "3", "0"]]);
});

const downMessage = `Internal error occurred: rpc error: code = Unavailable desc = ${unavailable.details}`;

/** Runs a command of `coxswain store encryption`. */
async function encryptionCommand(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ["", ""];
  const output = { out: (text: string) => (out += text), err: (text: string) => (err += text) };
  const code = await storeCommand.run(["encryption", ...args], output as never, {});
  return { code, out, err };
}

/** The rows of a table about Secrets. */
const secretsIn = (out: string): string[][] =>
  out
    .split("\n")
    .filter((line) => line.startsWith("secrets "))
    .map((row) => row.split(/ +/));

test("the commands display how objects are stored, and rewrite them, with nothing left of the old values", async () => {
  const dataDir = path("data");
  const plain = await start({ storage: "lmdb", dataDir });
  for (const name of ["a", "b"]) await create(plain, name, `plain text ${name}`);
  await plain.stop();
  const mixed = configuration([aesgcm(["one", first]), identity]);
  const server = await start({ storage: "lmdb", dataDir, encryptionConfigFile: mixed });
  await create(server, "c", "plain text c");
  const event = { metadata: { name: "e" }, involvedObject: { namespace: "default" } };
  await server.client.send({ method: "POST", path: "/api/v1/namespaces/default/events", body: event });
  const before = (await server.client.send({ path: secrets })).body;
  await server.stop();

  const shown = await encryptionCommand("status", dataDir);
  assert.deepEqual(secretsIn(shown.out), [
    ["secrets", "aesgcm:v1:one", "1"],
    ["secrets", "plain", "2"],
  ]);
  const compared = await encryptionCommand("status", dataDir, "--encryption-provider-config", mixed);
  assert.deepEqual(secretsIn(compared.out), [
    ["secrets", "aesgcm:v1:one", "1", "0", "0"],
    ["secrets", "plain", "2", "2", "0"],
  ]);
  const wrong = await encryptionCommand(
    "rewrite",
    dataDir,
    "--encryption-provider-config",
    configuration([aesgcm(["two", second]), identity]),
  );
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /no matching prefix found|no matching key was found/);
  assert.deepEqual(
    (await encryptionCommand("status", dataDir)).out,
    shown.out,
    "a rewrite without the key changes nothing",
  );

  const next = configuration([aesgcm(["two", second], ["one", first]), identity]);
  const rewritten = await encryptionCommand("rewrite", dataDir, "--encryption-provider-config", next);
  assert.equal(rewritten.code, 0, rewritten.err);
  const after = await encryptionCommand("status", dataDir, "--encryption-provider-config", next);
  assert.equal(after.err, "");
  assert.deepEqual(secretsIn(after.out), [["secrets", "aesgcm:v1:two", "3", "0", "0"]]);
  const stored = bytesIn(dataDir);
  for (const text of ["plain text", Buffer.from("plain text a").toString("base64").slice(0, 12), "aesgcm:v1:one"])
    assert.ok(!stored.includes(text), text);

  const again = await start({
    storage: "lmdb",
    dataDir,
    encryptionConfigFile: configuration([aesgcm(["two", second])]),
  });
  const { body } = await again.client.send({ path: secrets });
  const withoutVersion = (items: { metadata: { resourceVersion?: string } }[]) =>
    items.map(({ metadata: { resourceVersion: _, ...metadata }, ...rest }) => ({ ...rest, metadata }));
  assert.deepEqual(withoutVersion(body.items), withoutVersion(before.items));
  assert.ok(Number(body.metadata.resourceVersion) > Number(before.metadata.resourceVersion));
  const events = await again.client.send({ path: "/api/v1/namespaces/default/events" });
  assert.equal(events.body.items.length, 1);
  await again.stop();
});
