/**
 * Answers compressed with gzip, over both protocols: which answers, equal contents, and clients
 * that stall or close their streams.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { before, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import { rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { startTestServer } from "../support/start-test-server.ts";

const namespace = "/api/v1/namespaces/default";
const all = `${namespace}/configmaps`;
const protobuf = "application/vnd.kubernetes.protobuf";
const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
/** Half of the limit, with words that repeat as in real objects. */
const half = Array.from({ length: 6000 }, (_, index) => `word ${index % 977}`).join(" ");
const objects = 24;

const { server, client } = await startServerWithClient();

before(async () => {
  for (let index = 0; index < objects; index++) await create(`m${index}`, { text: half });
  await create("large", { one: half, two: half, three: half });
  for (let index = 0; index < 1200; index++)
    await client.send({ method: "POST", path: `${namespace}/secrets`, body: { metadata: { name: `small-${index}` } } });
});

async function create(name: string, data: object): Promise<void> {
  const answer = await client.send({ method: "POST", path: all, body: { metadata: { name, labels: { name } }, data } });
  assert.equal(answer.status, 201);
}

const json = "application/json";
const rows: [what: string, path: string, accept: string, offered: string, compressed: boolean][] = [
  ["an object above the limit", `${all}/large`, json, "gzip", true],
  ["an object above the limit, indented", `${all}/large?pretty=true`, json, "gzip", true],
  ["an object above the limit in YAML", `${all}/large`, "application/yaml", "gzip", true],
  ["an object above the limit in protobuf", `${all}/large`, protobuf, "gzip", true],
  ["an object above the limit as a Table", `${all}/large?includeObject=Object`, table, "gzip", true],
  ["an object below the limit", `${all}/m0`, json, "gzip", false],
  ["a list in pieces", all, json, "gzip", true],
  ["a list in pieces, indented", `${all}?pretty=true`, json, "gzip", true],
  ["a list in pieces in YAML", all, "application/yaml", "gzip", true],
  ["a list in pieces in protobuf", all, protobuf, "gzip", true],
  ["a Table with its objects", `${all}?includeObject=Object`, table, "gzip", true],
  ["a long Table", `${namespace}/secrets`, table, "gzip", true],
  ["a long Table in YAML", `${namespace}/secrets`, table.replace("json", "yaml"), "gzip", true],
  ["a short Table", `${namespace}/secrets?limit=10`, table, "gzip", false],
  ["a list of one that is above the limit", `${all}?labelSelector=name%3Dlarge`, json, "gzip", true],
  ["a list below the limit", `${all}?labelSelector=name%3Dm1`, json, "gzip", false],
  [
    "a list below the limit, in YAML and in several pieces",
    `${all}?labelSelector=name%3Dm1`,
    "application/yaml",
    "gzip",
    false,
  ],
  ["an object list for several accepted encodings", all, json, "deflate, gzip , br", true],
  ["a list without accepted encodings", all, json, "", false],
  ["a list for gzip with a quality, which upstream does not parse", all, json, "gzip;q=1", false],
  ["a list for any encoding, which upstream does not parse", all, json, "*", false],
  ["a list for GZIP in capitals, which upstream does not parse", all, json, "GZIP", false],
  ["an error", `${all}/none`, json, "gzip", false],
];

describe("gzip", () => {
  for (const [what, path, accept, offered, compressed] of rows) {
    test(`${compressed ? "compresses" : "does not compress"} ${what}`, async () => {
      const plain = await overHttp1(path, { accept });
      assert.equal(plain.headers["content-encoding"], undefined);
      assert.equal(plain.headers.vary, undefined);
      for (const read of [overHttp1, overHttp2]) {
        const answer = await read(path, { accept, "accept-encoding": offered });
        assert.equal(answer.headers["content-encoding"], compressed ? "gzip" : undefined);
        assert.equal(answer.headers.vary, compressed ? "Accept-Encoding" : undefined);
        assert.equal(answer.headers["content-type"], plain.headers["content-type"]);
        if (compressed) assert.ok(answer.bytes.length < plain.bytes.length / 2);
        assert.equal(withoutAges(compressed ? gunzipSync(answer.bytes) : answer.bytes), withoutAges(plain.bytes));
      }
    });
  }

  test("does not compress an answer to a write", async () => {
    const { body } = await client.send({ path: `${all}/large` });
    const answer = await client.send({
      method: "PUT",
      path: `${all}/large`,
      headers: { "accept-encoding": "gzip" },
      body,
    });
    assert.deepEqual(
      [answer.status, answer.headers["content-encoding"], answer.body.data],
      [200, undefined, body.data],
    );
  });

  test("does not compress a watch", async () => {
    const answer = await client.send({
      path: `${all}?watch=1&timeoutSeconds=1`,
      headers: { "accept-encoding": "gzip" },
    });
    assert.deepEqual([answer.headers["content-encoding"], answer.text.split("\n").length], [undefined, objects + 2]);
  });

  test("compresses nothing when the feature gate is off", async () => {
    const off = await startTestServer({ featureGates: "APIResponseCompression=false" });
    const other = rawClient(off.kubeconfig);
    await other.send({
      method: "POST",
      path: all,
      body: { metadata: { name: "large" }, data: { half, again: half, more: half } },
    });
    const answer = await other.send({ path: `${all}/large`, headers: { "accept-encoding": "gzip" } });
    assert.deepEqual(
      [answer.status, answer.headers["content-encoding"], answer.body.data.half],
      [200, undefined, half],
    );
    other.close();
    await off.close();
  });
});

/** Lists that are read in all these forms share parts with themselves only. */
const forms: [what: string, accept: string][] = [
  ["in JSON", json],
  ["in protobuf", protobuf],
  ["as a Table", `${table},${json}`],
  ["of metadata", `${json};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io`],
];

test("lists that are compressed again after changes have the current objects", async () => {
  const secrets = `${namespace}/secrets`;
  const changes: [method: string, path: string, body?: object][] = [
    ["PUT", `${secrets}/small-0`, { metadata: { name: "small-0" }, stringData: { key: "value" } }],
    ["DELETE", `${secrets}/small-700`],
    ["POST", secrets, { metadata: { name: "small-7000" } }],
  ];
  for (const [method, path, body] of [undefined, ...changes].map((change) => change ?? [])) {
    if (method !== undefined) await client.send({ method, path: path as string, ...(body && { body }) });
    for (const [what, accept] of forms)
      for (const query of ["", "?limit=1000"]) {
        const compressed = await overHttp1(`${secrets}${query}`, { accept, "accept-encoding": "gzip" });
        assert.equal(compressed.headers["content-encoding"], "gzip", what);
        const plain = await overHttp1(`${secrets}${query}`, { accept });
        assert.equal(withoutAges(gunzipSync(compressed.bytes)), withoutAges(plain.bytes), what);
      }
  }
});

test("the metric counts compressed bytes", async () => {
  const sizes = async (): Promise<number> => {
    const { text } = await client.send({ path: "/metrics" });
    return Number(
      /^apiserver_response_sizes_sum\{[^}]*resource="configmaps"[^}]*scope="namespace"[^}]*\} (\S+)$/m.exec(text)?.[1],
    );
  };
  await overHttp1(all, {});
  const before = await sizes();
  const { bytes } = await overHttp1(all, { "accept-encoding": "gzip" });
  assert.equal((await sizes()) - before, bytes.length);
});

test("clients that cancel a stream or read slowly do not delay other requests", async () => {
  const session = connect();
  const stalled = session.request({ ":path": all, "accept-encoding": "gzip" });
  const left = Array.from({ length: 8 }, () => session.request({ ":path": all, "accept-encoding": "gzip" }));
  await Promise.all(left.map((stream) => once(stream, "response")));
  for (const stream of left) stream.close(http2.constants.NGHTTP2_CANCEL);
  assert.equal((await overHttp2(all, { "accept-encoding": "gzip" })).status, 200);
  const bytes = Buffer.concat(await stalled.toArray());
  assert.equal(JSON.parse(gunzipSync(bytes).toString()).items.length, objects + 1);
  session.close();
});

/** Replaces ages in tables, which change between requests. */
function withoutAges(bytes: Buffer): string {
  return bytes.toString("latin1").replace(/(?:\d+[hms])+/g, "age");
}

interface Read {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

function overHttp1(path: string, headers: Record<string, string>): Promise<Read> {
  return client.send({ path, headers });
}

async function overHttp2(path: string, headers: Record<string, string>): Promise<Read> {
  const session = connect();
  const stream = session.request({ ":path": path, ...headers });
  const [answer] = (await once(stream, "response")) as [http2.IncomingHttpHeaders & { ":status": number }];
  const bytes = Buffer.concat(await stream.toArray());
  session.close();
  return { status: answer[":status"], headers: answer, bytes };
}

function connect(): http2.ClientHttp2Session {
  return http2.connect(server.url, {
    ...credentialsOf(server.kubeconfig),
  });
}
