/**
 * Protobuf on the wire. With COXSWAIN_TEST_FULL=1 and Go, also with client-go: typed clients and
 * informers of twelve kinds.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { parseGroupVersion } from "../../src/apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../../src/catalog/builtin-schemas.ts";
import { encodeProtobuf } from "../../src/lib/protobuf/encode.ts";
import { wrapInEnvelope } from "../../src/lib/protobuf/envelope.ts";
import type { Struct } from "../../src/lib/schema/schema.ts";
import { skipWithout } from "../support/needs.ts";
import { createDefaultAccounts } from "../support/pod-namespaces.ts";
import { decodeAnswer, decodeEvents } from "../support/protobuf-answers.ts";
import type { RawRequest } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

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

/** Run in this order: each row finds the objects of the rows before it. */
const rows: [what: string, request: RawRequest, status: number, contentType: string, want: object][] = [
  ["creates an object", post(configMap("a")), 201, upstream, { kind: "ConfigMap", apiVersion: "v1", data: { k: "v" } }],
  [
    "accepts the other media type of protobuf",
    post(configMap("b"), { "content-type": specified, accept: specified }),
    201,
    specified,
    { data: { k: "v" } },
  ],
  [
    "accepts protobuf and answers in JSON",
    post(configMap("c"), { accept: "application/json" }),
    201,
    "application/json",
    { data: { k: "v" } },
  ],
  [
    "compares media types in Accept case-sensitively",
    get(`${configMaps}/a`, "Application/Vnd.Kubernetes.Protobuf"),
    406,
    "application/json",
    { code: 406 },
  ],
  [
    "answers in protobuf when Accept lists it first",
    get(`${configMaps}/a`, `${upstream}, application/json`),
    200,
    upstream,
    { kind: "ConfigMap" },
  ],
  [
    "answers in JSON when Accept lists it first",
    get(`${configMaps}/a`, `application/json, ${upstream}`),
    200,
    "application/json",
    { kind: "ConfigMap" },
  ],
  [
    "answers in JSON when Accept prefers it by quality",
    get(`${configMaps}/a`, `${upstream};q=0.5, application/json`),
    200,
    "application/json",
    { kind: "ConfigMap" },
  ],
  [
    "answers a dry run",
    { ...post(configMap("dry")), path: `${configMaps}?dryRun=All` },
    201,
    upstream,
    { data: { k: "v" } },
  ],
  ["lists", get(`${configMaps}?labelSelector=none`, upstream), 200, upstream, { kind: "ConfigMapList" }],
  [
    "answers 404 in protobuf",
    get(`${configMaps}/none`, upstream),
    404,
    upstream,
    { kind: "Status", reason: "NotFound", code: 404 },
  ],
  [
    "answers 403 in protobuf",
    get(`${configMaps}/a`, upstream, true),
    403,
    upstream,
    { kind: "Status", reason: "Forbidden" },
  ],
  [
    "answers 406 for a Table in protobuf",
    get(configMaps, `${upstream};as=Table;v=v1;g=meta.k8s.io`),
    406,
    "application/json",
    { reason: "NotAcceptable" },
  ],
  [
    "answers with a Table in JSON when Accept lists it before protobuf",
    get(configMaps, `application/json;as=Table;v=v1;g=meta.k8s.io,${upstream}`),
    200,
    "application/json",
    { kind: "Table" },
  ],
  [
    "serves discovery",
    get("/apis/apps/v1", upstream),
    200,
    upstream,
    { kind: "APIResourceList", groupVersion: "apps/v1" },
  ],
  ["answers in JSON for the paths at /, which have no message", get("/", upstream), 200, "application/json", {}],
  [
    "rejects an empty body",
    post("k8s\0"),
    400,
    upstream,
    { message: "the object provided is unrecognized (must be of type ConfigMap): empty body (6b387300)" },
  ],
  [
    "rejects JSON with the media type of protobuf",
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
    "rejects a truncated envelope",
    post(configMap("d").subarray(0, 20)),
    400,
    upstream,
    {
      message:
        "the object provided is unrecognized (must be of type ConfigMap): unexpected EOF (6b3873000a0f0a0276311209436f6e6669674d61)",
    },
  ],
  [
    "rejects a truncated message",
    post(wrapInEnvelope("v1", "ConfigMap", Buffer.from([0x0a, 0x05]))),
    400,
    upstream,
    { message: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF' },
  ],
  [
    "rejects another kind",
    post(configMap("d", "Secret")),
    400,
    upstream,
    {
      message:
        'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    },
  ],
  [
    "rejects a deletion whose precondition does not match",
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
    "deletes",
    { method: "DELETE", path: `${configMaps}/a`, headers: { accept: upstream } },
    200,
    upstream,
    { kind: "Status", status: "Success" },
  ],
];

const { server, client } = await startServerWithClient();
await createDefaultAccounts(client, "default");

describe("protobuf", () => {
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

  test("a long list has every object", async () => {
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

  test("a watch sends events in frames", async () => {
    const query = "watch=1&fieldSelector=metadata.name%3Db&timeoutSeconds=1&allowWatchBookmarks=true";
    const answer = await client.send(get(`${configMaps}?${query}`, upstream));
    assert.equal(answer.headers["content-type"], `${upstream};stream=watch`);
    assert.partialDeepStrictEqual(decodeEvents(answer.bytes), [
      { type: "ADDED", object: { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "b" }, data: { k: "v" } } },
      { type: "BOOKMARK", object: { kind: "ConfigMap", apiVersion: "v1" } },
    ]);
  });

  const skip = skipWithout("full", "go");

  test("client-go reads, writes and watches twelve kinds", {
    skip,
  }, async () => {
    const { stdout } = spawn("go", ["run", ".", server.kubeconfigPath], {
      cwd: join(import.meta.dirname, "protobuf-client"),
      stdio: ["ignore", "pipe", "inherit"],
    });
    assert.equal(await text(stdout), "all well\n");
  });
});
