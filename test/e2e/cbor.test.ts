/**
 * CBOR on the wire, with and without its feature gate. With COXSWAIN_TEST_FULL=1, if Go is
 * installed, client-go's dynamic client prefers CBOR, and falls back to JSON where the gate is off.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { decodeAnyCbor } from "../../src/lib/cbor/decode.ts";
import { encodeAnyCbor } from "../../src/lib/cbor/encode.ts";
import { Reader } from "../../src/lib/cbor/reader.ts";
import { selfDescribed } from "../../src/lib/cbor/wire.ts";
import { skipWithout } from "../support/needs.ts";
import { type RawClient, type RawRequest, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const cbor = "application/cbor";
const namespace = "/api/v1/namespaces/default";
const configMaps = `${namespace}/configmaps`;
const list = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

const get = (path: string, accept = cbor): RawRequest => ({ path, headers: { accept } });
const send = (
  method: string,
  path: string,
  body: object | Buffer,
  headers: Record<string, string> = {},
): RawRequest => ({
  method,
  path,
  headers: { "content-type": cbor, accept: cbor, ...headers },
  body: Buffer.isBuffer(body) ? body : encodeAnyCbor(body),
});
const configMap = (name: string, rest: object = { data: { k: "v" } }): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  ...rest,
});
const apply = (name: string, data: object): RawRequest =>
  send("PATCH", `${configMaps}/${name}?fieldManager=m`, configMap(name, { data }), {
    "content-type": "application/apply-patch+cbor",
  });
const failure = (message: string): object => ({ kind: "Status", message });

type Row = [what: string, request: RawRequest, status: number, want: object, contentType?: string];

/** Sent in this order to one server. */
const servedRows: Row[] = [
  ["a create in CBOR", send("POST", configMaps, configMap("a")), 201, configMap("a")],
  [
    "a create in CBOR that accepts JSON",
    send("POST", configMaps, configMap("b"), { accept: "application/json" }),
    201,
    configMap("b"),
    "application/json",
  ],
  ["a get of an existing object", get(`${configMaps}/a`), 200, configMap("a")],
  [
    "a get with the Accept of client-go's dynamic client",
    get(`${configMaps}/a`, "application/json;q=0.9,application/cbor;q=1"),
    200,
    configMap("a"),
  ],
  ["an update", send("PUT", `${configMaps}/a`, configMap("a", { data: { k: "w" } })), 200, { data: { k: "w" } }],
  [
    "a secret whose bytes have the tag for base64",
    send("POST", `${namespace}/secrets`, { metadata: { name: "s" }, data: { k: "aGk=" } }),
    201,
    { kind: "Secret", data: { k: "aGk=" } },
  ],
  ["a list", get(`${configMaps}?labelSelector=none`), 200, { kind: "ConfigMapList", apiVersion: "v1", items: [] }],
  [
    "a list of metadata",
    get(configMaps, `${cbor};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io`),
    200,
    { kind: "PartialObjectMetadataList" },
  ],
  [
    "metadata",
    get(`${configMaps}/a`, `${cbor};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`),
    200,
    { kind: "PartialObjectMetadata", metadata: { name: "a" } },
  ],
  ["a Table in CBOR", get(configMaps, `${cbor};as=Table;v=v1;g=meta.k8s.io`), 406, { code: 406 }, "application/json"],
  [
    "a Table in JSON, or else CBOR",
    get(configMaps, `application/json;as=Table;v=v1;g=meta.k8s.io,${cbor}`),
    200,
    { kind: "Table" },
    "application/json",
  ],
  [
    "a method that the path does not have",
    { ...get(configMaps), method: "PUT" },
    405,
    { kind: "Status", reason: "MethodNotAllowed", code: 405 },
    "application/json",
  ],
  ["a get as a CBOR sequence", get(`${configMaps}/a`, "application/cbor-seq"), 406, { code: 406 }, "application/json"],
  [
    "a get of an object that does not exist",
    get(`${configMaps}/none`),
    404,
    { kind: "Status", apiVersion: "v1", reason: "NotFound", code: 404 },
  ],
  ["discovery of a version", get("/apis/apps/v1"), 200, { kind: "APIResourceList", groupVersion: "apps/v1" }],
  [
    "a document that is not an API object",
    get("/apis"),
    406,
    failure(`only the following media types are accepted: ${list}`),
    "application/json",
  ],
  [
    "a document that is not an API object, or else JSON",
    get("/apis/apps", "application/json;q=0.9,application/cbor;q=1"),
    200,
    { kind: "APIGroup" },
    "application/json",
  ],
  [
    "a list without permission",
    { ...get(configMaps), anonymous: true },
    403,
    { reason: "Forbidden" },
    "application/json",
  ],
  [
    "a get of a scale that does not exist",
    get("/apis/apps/v1/namespaces/default/deployments/none/scale"),
    404,
    { reason: "NotFound" },
  ],
  ["an apply that creates", apply("applied", { a: "1" }), 201, { data: { a: "1" } }],
  [
    "an apply that changes",
    apply("applied", { a: "2" }),
    200,
    { data: { a: "2" }, metadata: { managedFields: [{ manager: "m", operation: "Apply" }] } },
  ],
  [
    "an apply whose body is not CBOR",
    send("PATCH", `${configMaps}/applied?fieldManager=m`, Buffer.from("{}"), {
      "content-type": "application/apply-patch+cbor",
    }),
    400,
    failure("error decoding YAML: unexpected EOF"),
  ],
  [
    "a patch of another type in CBOR",
    send("PATCH", `${configMaps}/a`, {}, { "content-type": "application/merge-patch+cbor" }),
    415,
    failure("415: Unsupported Media Type"),
    "application/json",
  ],
  [
    "an unknown field with fieldValidation=Strict",
    send("POST", `${configMaps}?fieldValidation=Strict`, { metadata: { name: "c" }, nope: 1 }),
    400,
    failure(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: cbor: found unknown field at map element index 0',
    ),
  ],
  [
    "an unknown field with fieldValidation=Ignore",
    send("POST", `${configMaps}?fieldValidation=Ignore`, configMap("c", { nope: 1 })),
    201,
    configMap("c", {}),
  ],
  [
    "a repeated key",
    send("POST", configMaps, Buffer.from("a2446b696e6440446b696e6440", "hex")),
    400,
    failure(
      "the object provided is unrecognized (must be of type ConfigMap): unable to determine group/version/kind: " +
        'cbor: found duplicate map key "kind" at map element index 1 (a2446b696e6440446b696e6440)',
    ),
  ],
  [
    "JSON with the media type of CBOR",
    send("POST", configMaps, Buffer.from("{}")),
    400,
    failure(
      "the object provided is unrecognized (must be of type ConfigMap): unable to determine group/version/kind: unexpected EOF ({})",
    ),
  ],
  [
    "a value of another type",
    send("POST", configMaps, configMap("c", { data: [] })),
    400,
    failure(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: cbor: cannot unmarshal array into Go struct field v1.ConfigMap.data of type map[string]string',
    ),
  ],
  [
    "a body of another kind",
    send("POST", configMaps, { apiVersion: "v1", kind: "Secret", metadata: { name: "c" } }),
    400,
    failure(
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ),
  ],
  [
    "an unknown kind",
    send("POST", configMaps, configMap("c"), { "content-type": "application/x" }),
    415,
    failure(`the body of the request was in an unknown format - accepted media types include: ${list}, ${cbor}`),
  ],
  [
    "a deletion whose precondition fails",
    send("DELETE", `${configMaps}/a`, { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid: "other" } }),
    409,
    { reason: "Conflict" },
  ],
  [
    "a deletion with options in CBOR",
    send("DELETE", `${configMaps}/a`, { propagationPolicy: "Background" }),
    200,
    { kind: "Status", status: "Success" },
  ],
];

const unservedRows: Row[] = [
  [
    "a create in CBOR",
    send("POST", configMaps, configMap("a"), { accept: "application/json" }),
    415,
    failure(`the body of the request was in an unknown format - accepted media types include: ${list}`),
    "application/json",
  ],
  [
    "an apply in CBOR",
    send("PATCH", `${configMaps}/a?fieldManager=m`, configMap("a"), {
      "content-type": "application/apply-patch+cbor",
      accept: "*/*",
    }),
    415,
    failure("415: Unsupported Media Type"),
    "application/json",
  ],
  ["a list that accepts only CBOR", get(configMaps), 406, { code: 406 }, "application/json"],
  [
    "a list that accepts CBOR, or else JSON",
    get(configMaps, "application/json;q=0.9,application/cbor;q=1"),
    200,
    { kind: "ConfigMapList" },
    "application/json",
  ],
];

const skip = skipWithout("full", "go");

for (const { title, featureGates, rows, goMode } of [
  { title: "CBOR with its gate", featureGates: "CBORServingAndStorage=true", rows: servedRows, goMode: "cbor" },
  { title: "CBOR without its gate", featureGates: "", rows: unservedRows, goMode: "fallback" },
]) {
  describe(title, () => {
    let server: TestServer;
    let client: RawClient;
    before(async () => {
      server = await startTestServer({ featureGates });
      client = rawClient(server.kubeconfig);
    });
    after(async () => {
      client.close();
      await server.close();
    });

    for (const [what, request, status, want, contentType = cbor] of rows) {
      test(`answers ${status} to ${what}`, async () => {
        const answer = await client.send(request);
        const body =
          contentType === cbor && answer.headers["content-type"] === cbor ? decodeAnyCbor(answer.bytes) : answer.body;
        assert.equal(answer.status, status, JSON.stringify(body));
        assert.equal(answer.headers["content-type"], contentType);
        assert.partialDeepStrictEqual(body, want);
      });
    }

    if (goMode === "cbor") {
      test("sends bytes without base64", async () => {
        const { bytes } = await client.send(get(`${namespace}/secrets/s`));
        assert.ok(bytes.subarray(0, 3).equals(selfDescribed));
        assert.ok(bytes.includes(Buffer.from("d6426869", "hex")));
      });

      test("warns about an unknown field", async () => {
        const { headers } = await client.send(send("POST", configMaps, configMap("warned", { nope: 1 })));
        assert.equal(headers.warning, '299 - "cbor: found unknown field at map element index 1"');
      });

      test("encodes a long list completely", async () => {
        const data = { text: "0123456789abcdef".repeat(4096) };
        for (let index = 0; index < 20; index++) {
          const body = configMap(`long-${index}`, {
            metadata: { name: `long-${index}`, labels: { long: "yes" } },
            data,
          });
          assert.equal((await client.send(send("POST", configMaps, body))).status, 201);
        }
        const { items } = decodeAnyCbor((await client.send(get(`${configMaps}?labelSelector=long`))).bytes);
        assert.equal(
          (items as { data: unknown }[]).filter((item) => JSON.stringify(item.data) === JSON.stringify(data)).length,
          20,
        );
      });

      test("has no discovery of custom resources in CBOR, as upstream", async () => {
        const schema = { openAPIV3Schema: { type: "object" } };
        const definition = {
          metadata: { name: "foos.example.com" },
          spec: {
            group: "example.com",
            scope: "Cluster",
            names: { plural: "foos", kind: "Foo" },
            versions: [{ name: "v1", served: true, storage: true, schema }],
          },
        };
        const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        const body = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", ...definition };
        const created = await client.send(send("POST", path, body));
        assert.equal(created.status, 201, created.bytes.toString());
        const accept = `${cbor},application/json;q=0.9`;
        const custom = await eventually("the group is served", async () => {
          const answer = await client.send(get("/apis/example.com/v1", accept));
          return answer.status === 200 && answer.headers["content-type"];
        });
        const builtin = (await client.send(get("/apis/apps/v1", accept))).headers["content-type"];
        assert.deepEqual([custom, builtin], ["application/json", cbor]);
        assert.equal((await client.send(get("/apis/example.com/v1"))).status, 406);
      });

      for (const accept of [cbor, `${cbor};stream=watch`]) {
        test(`sends a watch as a CBOR sequence of events: ${accept}`, async () => {
          const query = "watch=1&fieldSelector=metadata.name%3Db&timeoutSeconds=1&allowWatchBookmarks=true";
          const answer = await client.send(get(`${configMaps}?${query}`, accept));
          assert.equal(answer.headers["content-type"], "application/cbor-seq");
          assert.partialDeepStrictEqual(sequenceOf(answer.bytes), [
            { type: "ADDED", object: configMap("b") },
            { type: "BOOKMARK", object: { kind: "ConfigMap", apiVersion: "v1" } },
          ]);
        });
      }
    }

    test(`client-go's dynamic client works: ${goMode}`, {
      skip,
    }, async () => {
      const { stdout } = spawn("go", ["run", ".", server.kubeconfigPath, goMode], {
        cwd: join(import.meta.dirname, "cbor-client"),
        env: { ...process.env, KUBE_FEATURE_ClientsAllowCBOR: "true", KUBE_FEATURE_ClientsPreferCBOR: "true" },
        stdio: ["ignore", "pipe", "inherit"],
      });
      assert.equal(await text(stdout), "all well\n");
    });
  });
}

function sequenceOf(bytes: Buffer): Record<string, unknown>[] {
  const items: Record<string, unknown>[] = [];
  const reader = new Reader(bytes);
  while (reader.at < bytes.length) {
    const start = reader.at;
    reader.skip();
    items.push(decodeAnyCbor(bytes.subarray(start, reader.at)));
  }
  return items;
}
