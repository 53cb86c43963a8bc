/** Protobuf on the wire. With COXSWAIN_TEST_FULL=1, and Go at hand, client-go talks it too: typed clients and informers of twelve kinds. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { parseGroupVersion } from "../../src/apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../../src/catalog/builtin-schemas.ts";
import { encodeProtobuf } from "../../src/lib/protobuf/encode.ts";
import { wrapInEnvelope } from "../../src/lib/protobuf/envelope.ts";
import type { Struct } from "../../src/lib/schema/schema.ts";
import { decodeAnswer, decodeEvents } from "../support/protobuf-answers.ts";
import { type RawClient, type RawRequest, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const upstream = "application/vnd.kubernetes.protobuf";
const specified = "application/vnd.svc.protobuf";
const configMaps = "/api/v1/namespaces/default/configmaps";

const schemaOf = (apiVersion: string, kind: string): Struct => {
  const { group, version } = parseGroupVersion(apiVersion) as { group: string; version: string };
  return builtinSchema(definitionOf(group, version, kind) as string);
};

function encode(apiVersion: string, kind: string, object: object): Buffer {
  return wrapInEnvelope(apiVersion, kind, encodeProtobuf(object, schemaOf(apiVersion, kind)));
}

const configMap = (name: string, kind = "ConfigMap"): Buffer =>
  encode("v1", kind, { metadata: { name }, data: { k: "v" } });
const post = (body: Buffer | string, headers: Record<string, string> = {}): RawRequest => ({
  method: "POST",
  path: configMaps,
  headers: { "content-type": upstream, accept: upstream, ...headers },
  body,
});
const get = (path: string, accept: string, anonymous = false): RawRequest => ({ path, headers: { accept }, anonymous });

/** In order: each finds what those before it left. */
const rows: [what: string, request: RawRequest, status: number, contentType: string, want: object][] = [
  ["an object", post(configMap("a")), 201, upstream, { kind: "ConfigMap", apiVersion: "v1", data: { k: "v" } }],
  [
    "the specification's name",
    post(configMap("b"), { "content-type": specified, accept: specified }),
    201,
    specified,
    { data: { k: "v" } },
  ],
  [
    "sent in one form, answered in the other",
    post(configMap("c"), { accept: "application/json" }),
    201,
    "application/json",
    { data: { k: "v" } },
  ],
  [
    "names in Accept are looked at as they are written",
    get(`${configMaps}/a`, "Application/Vnd.Kubernetes.Protobuf"),
    406,
    "application/json",
    { code: 406 },
  ],
  [
    "protobuf, or else JSON",
    get(`${configMaps}/a`, `${upstream}, application/json`),
    200,
    upstream,
    { kind: "ConfigMap" },
  ],
  [
    "JSON, or else protobuf",
    get(`${configMaps}/a`, `application/json, ${upstream}`),
    200,
    "application/json",
    { kind: "ConfigMap" },
  ],
  [
    "JSON is preferred",
    get(`${configMaps}/a`, `${upstream};q=0.5, application/json`),
    200,
    "application/json",
    { kind: "ConfigMap" },
  ],
  ["a dry run", { ...post(configMap("dry")), path: `${configMaps}?dryRun=All` }, 201, upstream, { data: { k: "v" } }],
  ["a list", get(`${configMaps}?labelSelector=none`, upstream), 200, upstream, { kind: "ConfigMapList" }],
  [
    "an object that is not there",
    get(`${configMaps}/none`, upstream),
    404,
    upstream,
    { kind: "Status", reason: "NotFound", code: 404 },
  ],
  [
    "a caller who may not",
    get(`${configMaps}/a`, upstream, true),
    403,
    upstream,
    { kind: "Status", reason: "Forbidden" },
  ],
  [
    "a table has no message",
    get(configMaps, `${upstream};as=Table;v=v1;g=meta.k8s.io`),
    406,
    "application/json",
    { reason: "NotAcceptable" },
  ],
  [
    "a table, or else protobuf",
    get(configMaps, `application/json;as=Table;v=v1;g=meta.k8s.io,${upstream}`),
    200,
    "application/json",
    { kind: "Table" },
  ],
  ["discovery", get("/apis/apps/v1", upstream), 200, upstream, { kind: "APIResourceList", groupVersion: "apps/v1" }],
  ["paths have no message", get("/", upstream), 200, "application/json", {}],
  [
    "an empty body",
    post("k8s\0"),
    400,
    upstream,
    { message: "the object provided is unrecognized (must be of type ConfigMap): empty body (6b387300)" },
  ],
  [
    "JSON that is called protobuf",
    post('{"kind":"ConfigMap"}'),
    400,
    upstream,
    {
      message:
        "the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, " +
        'expected prefix [107 56 115 0] ({"kind":"ConfigMap"})',
    },
  ],
  [
    "an envelope that is cut off",
    post(configMap("d").subarray(0, 20)),
    400,
    upstream,
    {
      message:
        "the object provided is unrecognized (must be of type ConfigMap): unexpected EOF (6b3873000a0f0a0276311209436f6e6669674d61)",
    },
  ],
  [
    "a message that is cut off",
    post(wrapInEnvelope("v1", "ConfigMap", Buffer.from([0x0a, 0x05]))),
    400,
    upstream,
    { message: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF' },
  ],
  [
    "another kind",
    post(configMap("d", "Secret")),
    400,
    upstream,
    {
      message:
        'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    },
  ],
  [
    "a precondition that does not hold",
    {
      method: "DELETE",
      path: `${configMaps}/a`,
      headers: { "content-type": upstream, accept: upstream },
      body: encode("v1", "DeleteOptions", { preconditions: { uid: "other" } }),
    },
    409,
    upstream,
    { reason: "Conflict" },
  ],
  [
    "a deletion",
    { method: "DELETE", path: `${configMaps}/a`, headers: { accept: upstream } },
    200,
    upstream,
    { kind: "Status", status: "Success" },
  ],
];

describe("protobuf", () => {
  let server: TestServer;
  let client: RawClient;
  before(async () => {
    server = await startTestServer();
    client = rawClient(server.kubeconfig);
  });
  after(async () => {
    client.close();
    await server.close();
  });

  for (const [what, request, status, contentType, want] of rows) {
    test(what, async () => {
      const answer = await client.send(request);
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.headers["content-type"], contentType);
      assert.partialDeepStrictEqual(
        contentType === "application/json" ? answer.body : decodeAnswer(answer.bytes),
        want,
      );
    });
  }

  test("a long list is the sum of its pieces", async () => {
    const data = { text: "0123456789abcdef".repeat(4096) };
    for (let index = 0; index < 20; index++) {
      const body = encode("v1", "ConfigMap", { metadata: { name: `long-${index}`, labels: { long: "yes" } }, data });
      assert.equal((await client.send(post(body))).status, 201);
    }
    const { items } = decodeAnswer((await client.send(get(`${configMaps}?labelSelector=long`, upstream))).bytes);
    assert.equal(
      (items as { data: unknown }[]).filter((item) => JSON.stringify(item.data) === JSON.stringify(data)).length,
      20,
    );
  });

  test("a watch is frames of events", async () => {
    const query = "watch=1&fieldSelector=metadata.name%3Db&timeoutSeconds=1&allowWatchBookmarks=true";
    const answer = await client.send(get(`${configMaps}?${query}`, upstream));
    assert.equal(answer.headers["content-type"], `${upstream};stream=watch`);
    assert.partialDeepStrictEqual(decodeEvents(answer.bytes), [
      { type: "ADDED", object: { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "b" }, data: { k: "v" } } },
      { type: "BOOKMARK", object: { kind: "ConfigMap", apiVersion: "v1" } },
    ]);
  });

  const go = process.env.COXSWAIN_TEST_FULL === "1" && spawnSync("go", ["version"]).status === 0;

  test("client-go speaks it", { skip: go ? false : "needs Go and COXSWAIN_TEST_FULL=1" }, async () => {
    const { stdout } = spawn("go", ["run", ".", server.kubeconfigPath], {
      cwd: join(import.meta.dirname, "protobuf-client"),
      stdio: ["ignore", "pipe", "inherit"],
    });
    assert.equal(await text(stdout), "all well\n");
  });
});
