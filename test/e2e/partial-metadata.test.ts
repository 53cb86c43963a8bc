/**
 * PartialObjectMetadata from a real server: long lists, watches, streaming lists, WebSockets, and
 * client-node.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { before, test } from "node:test";
import * as k8s from "@kubernetes/client-node";
import { WebSocket } from "ws";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import { decodeAnswer, decodeEvent, decodeEvents } from "../support/protobuf-answers.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const protobuf = "application/vnd.kubernetes.protobuf";
const one = "as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const list = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/** The Accept headers of client-go's metadata client, for lists and for other requests. */
const lists = `${protobuf};${list},application/json;${list},application/json`;
const objects = `${protobuf};${one},application/json;${one},application/json`;
const partial = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" };
const long = 24;

const { server, client } = await startServerWithClient();
before(async () => {
  for (const name of ["a", "b"]) await create(name, {});
  for (let index = 0; index < long; index++)
    await create(
      `long-${String(index).padStart(2, "0")}`,
      { text: `é{"metadata":{}}\\`.repeat(2000) },
      { long: "yes" },
    );
});

async function create(
  name: string,
  annotations: Record<string, string>,
  labels: Record<string, string> = {},
): Promise<void> {
  const body = { metadata: { name, labels, annotations }, data: { big: "x".repeat(1000) } };
  assert.equal((await client.send({ method: "POST", path: maps, body })).status, 201);
}

interface Item {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Record<string, string>;
    readonly resourceVersion: string;
  };
}

const readers: [what: string, accept: string, contentType: string, read: (bytes: Buffer) => { items: Item[] }][] = [
  ["JSON", `application/json;${list}`, "application/json", (bytes) => JSON.parse(bytes.toString())],
  ["indented JSON", `application/json;${list};pretty=1`, "application/json", (bytes) => JSON.parse(bytes.toString())],
  ["protobuf", lists, protobuf, (bytes) => decodeAnswer(bytes) as unknown as { items: Item[] }],
  [
    "protobuf at v1beta1",
    `${protobuf};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1`,
    protobuf,
    (bytes) => decodeAnswer(bytes) as unknown as { items: Item[] },
  ],
  [
    "YAML",
    `application/yaml;${list}`,
    "application/yaml",
    (bytes) => k8s.loadYaml(bytes.toString()) as { items: Item[] },
  ],
];
for (const [what, accept, contentType, read] of readers) {
  test(`a long metadata list in ${what} has every object`, async () => {
    const whole = (await client.send({ path: `${maps}?labelSelector=long` })).body as { items: Item[] };
    const answer = await client.send({ path: `${maps}?labelSelector=long`, headers: { accept } });
    assert.equal(answer.headers["content-type"], contentType);
    assert.ok(answer.bytes.length > 800_000);
    const { items } = read(answer.bytes);
    const summaryOf = ({ metadata: { name, resourceVersion, annotations } }: Item): object => ({
      name,
      resourceVersion,
      annotations,
    });
    assert.deepEqual(items.map(summaryOf), whole.items.map(summaryOf));
    assert.ok(items.every((item) => !("data" in item)));
  });
}

const streaming =
  "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1";
const named = "fieldSelector=metadata.name%3Da";

test("a streaming list sends metadata and a bookmark at its end", async () => {
  const json = await client.send({
    path: `${maps}?${streaming}&${named}`,
    headers: { accept: `application/json;${one}` },
  });
  assert.equal(json.headers["content-type"], "application/json");
  const events = json.text.trim().split("\n");
  const whole = (await client.send({ path: `${maps}/a` })).text;
  const metadata = whole.slice(whole.indexOf('"metadata":'), whole.indexOf(',"data":'));
  assert.equal(
    events[0],
    `{"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",${metadata}}}`,
  );
  const bookmark =
    /^\{"type":"BOOKMARK","object":\{"kind":"PartialObjectMetadata","apiVersion":"meta\.k8s\.io\/v1","metadata":\{"resourceVersion":"\d+","annotations":\{"k8s\.io\/initial-events-end":"true"\}\}\}\}$/;
  assert.match(events[1] ?? "", bookmark);

  const answer = await client.send({ path: `${maps}?${streaming}&${named}`, headers: { accept: objects } });
  assert.equal(answer.headers["content-type"], `${protobuf};stream=watch`);
  assert.partialDeepStrictEqual(decodeEvents(answer.bytes), [
    { type: "ADDED", object: { ...partial, metadata: { name: "a" } } },
    { type: "BOOKMARK", object: { ...partial, metadata: { annotations: { "k8s.io/initial-events-end": "true" } } } },
  ]);
});

test("a watch sends metadata of added and changed objects, and of objects that no longer match the selector", async () => {
  const path = `${maps}?watch=1&timeoutSeconds=1&labelSelector=chosen&resourceVersion=${(await client.send({ path: maps })).body.metadata.resourceVersion}`;
  await create("w", {}, { chosen: "1" });
  const merge = { "content-type": "application/merge-patch+json" };
  await client.send({ method: "PATCH", path: `${maps}/w`, headers: merge, body: { data: { k: "v" } } });
  await client.send({
    method: "PATCH",
    path: `${maps}/w`,
    headers: merge,
    body: { metadata: { labels: { chosen: null } } },
  });
  for (const accept of [objects, `application/json;${one}`]) {
    const { bytes, text } = await client.send({ path, headers: { accept } });
    const events =
      accept === objects
        ? decodeEvents(bytes)
        : text
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line));
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.kind, object.data]),
      ["ADDED", "MODIFIED", "DELETED"].map((type) => [type, "PartialObjectMetadata", undefined]),
    );
  }
});

test("rejects a watch that accepts PartialObjectMetadataList only", async () => {
  const { status, body } = await client.send({
    path: `${maps}?watch=1`,
    headers: { accept: `application/json;${list}` },
  });
  assert.deepEqual(
    [status, body.message],
    [406, "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)"],
  );
});

test("a watch over a WebSocket sends metadata", async () => {
  for (const [accept, isText] of [
    [`application/json;${one}`, true],
    [objects, false],
  ] as const) {
    const { kubeconfig, url } = server;
    const webSocket = new WebSocket(`${url.replace("https", "wss")}${maps}?watch=1&${named}`, {
      origin: "https://page.example.com",
      headers: { accept },
      ...credentialsOf(kubeconfig),
    });
    const [data, isBinary] = (await once(webSocket, "message")) as [Buffer, boolean];
    assert.equal(isBinary, !isText);
    assert.partialDeepStrictEqual(isText ? JSON.parse(data.toString()) : decodeEvent(data), {
      type: "ADDED",
      object: { ...partial, metadata: { name: "a" } },
    });
    webSocket.close();
    await once(webSocket, "close");
  }
});

test("client-node reads a metadata list", async () => {
  const config = new k8s.KubeConfig();
  config.loadFromString(server.kubeconfig);
  const configuration = k8s.createConfiguration({
    baseServer: new k8s.ServerConfiguration(server.url, {}),
    authMethods: { default: config },
    promiseMiddleware: [
      {
        pre: async (request) => {
          request.setHeaderParam("Accept", `application/json;${list}`);
          return request;
        },
        post: async (response) => response,
      },
    ],
  });
  const { items, kind, metadata } = await new k8s.CoreV1Api(configuration).listConfigMapForAllNamespaces({ limit: 2 });
  assert.deepEqual(
    [kind, items.map((item) => item.metadata?.name), items[0]?.data],
    ["PartialObjectMetadataList", ["a", "b"], undefined],
  );
  assert.ok(metadata?._continue);
});
