/** Metadata alone, of custom resources too, request by request. The texts are upstream's. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type ApiAnswer, send } from "../../../test/support/api-client.ts";
import { customThing } from "../../../test/support/custom-thing.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { decodeAnswer } from "../../../test/support/protobuf-answers.ts";
import type { MutableCatalog, ResourceDefinition } from "../../catalog/contract.ts";

const maps = "/api/v1/namespaces/n/configmaps";
const things = "/apis/example.com/v1/namespaces/n/things";
const deployments = "/apis/apps/v1/namespaces/n/deployments";
const json = "application/json";
const yaml = "application/yaml";
const protobuf = "application/vnd.kubernetes.protobuf";
const one = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const list = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const table = ";as=Table;g=meta.k8s.io;v=v1";
const podSpec = { containers: [{ name: "c", image: "i" }] };
const template = { metadata: { labels: { a: "b" } }, spec: podSpec };
const partial = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" };
const metadata = { name: "a", namespace: "n", labels: { l: "1" } };
const accepted =
  "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";
const notList = (type: string): string =>
  `you requested PartialObjectMetadataList, but the requested object is not a list (*${type})`;
const isList = (type: string): string =>
  `you requested PartialObjectMetadata, but the requested object is a list (*${type})`;

interface Row {
  readonly request: string;
  readonly accept: string;
  readonly body?: object;
  /** 200 unless said. */
  readonly status?: number;
  /** Without it the first that is accepted. */
  readonly contentType?: string;
  /** A part of the answer. */
  readonly want: object;
}

/** In order: each finds what those before it left. */
const rows: readonly Row[] = [
  {
    request: `POST ${maps}`,
    accept: json + one,
    body: { metadata, data: { k: "v" } },
    status: 201,
    want: { ...partial, metadata },
  },
  {
    request: `POST ${maps}?dryRun=All`,
    accept: json + one,
    body: { metadata: { ...metadata, name: "dry" } },
    status: 201,
    want: { ...partial },
  },
  {
    request: `POST ${maps}?dryRun=All`,
    accept: protobuf + one,
    body: { metadata: { name: "dry" } },
    status: 201,
    want: { ...partial },
  },
  { request: `GET ${maps}/a`, accept: json + one, want: { ...partial, metadata } },
  { request: `GET ${maps}/a`, accept: protobuf + one, want: { ...partial, metadata } },
  {
    request: `GET ${maps}/a`,
    accept: `${protobuf + one},${json + one},${json}`,
    contentType: protobuf,
    want: { ...partial, metadata },
  },
  {
    request: `GET ${maps}/a`,
    accept: `${json};as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1`,
    want: { ...partial, apiVersion: "meta.k8s.io/v1beta1", metadata },
  },
  {
    request: `GET ${maps}`,
    accept: json + list,
    want: { kind: "PartialObjectMetadataList", metadata: {}, items: [{ ...partial, metadata }] },
  },
  {
    request: `GET ${maps}`,
    accept: protobuf + list,
    want: { kind: "PartialObjectMetadataList", metadata: {}, items: [{ metadata }] },
  },
  {
    request: `GET ${maps}`,
    accept: `${protobuf};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1`,
    want: { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1beta1", metadata: {}, items: [{ metadata }] },
  },
  {
    request: `GET ${maps}?labelSelector=none`,
    accept: json + list,
    want: { kind: "PartialObjectMetadataList", items: null },
  },
  {
    request: `GET ${maps}?labelSelector=none`,
    accept: `${json + list};pretty=1`,
    contentType: json,
    want: { items: null },
  },
  {
    request: `GET ${maps}/a`,
    accept: json + list,
    status: 406,
    contentType: json,
    want: { message: notList("core.ConfigMap"), reason: "NotAcceptable" },
  },
  {
    request: `GET ${maps}`,
    accept: json + one,
    status: 406,
    contentType: json,
    want: { message: isList("core.ConfigMapList") },
  },
  {
    request: `GET ${maps}/a`,
    accept: `${json + list},${protobuf}`,
    status: 406,
    contentType: protobuf,
    want: { message: notList("core.ConfigMap") },
  },
  { request: `GET ${maps}/none`, accept: json + one, status: 404, contentType: json, want: { kind: "Status" } },
  {
    request: `MERGE ${maps}/a`,
    accept: protobuf + one,
    body: { metadata: { labels: { m: "2" } } },
    want: { metadata: { labels: { l: "1", m: "2" } } },
  },
  {
    request: `PUT ${maps}/a`,
    accept: json + one,
    body: { metadata: { name: "a", labels: {} } },
    want: { ...partial, metadata: { name: "a" } },
  },
  {
    request: `DELETE ${maps}/a`,
    accept: protobuf + one,
    want: { kind: "Status", apiVersion: "v1", status: "Success" },
  },

  {
    request: `POST ${deployments}`,
    accept: json,
    body: { metadata, spec: { selector: { matchLabels: { a: "b" } }, template } },
    status: 201,
    want: { kind: "Deployment" },
  },
  { request: `GET ${deployments}/a/scale`, accept: json + one, want: { ...partial, metadata: { name: "a" } } },
  { request: `GET ${deployments}/a/scale`, accept: protobuf + one, want: { ...partial, metadata: { name: "a" } } },
  {
    request: `GET ${deployments}/a/scale`,
    accept: json + list,
    status: 406,
    contentType: json,
    want: { message: notList("autoscaling.Scale") },
  },
  {
    request: `GET ${deployments}/a`,
    accept: json + list,
    status: 406,
    contentType: json,
    want: { message: notList("apps.Deployment") },
  },
  { request: `GET ${deployments}`, accept: protobuf + list, want: { items: [{ metadata }] } },
  {
    request: `DELETE ${deployments}`,
    accept: protobuf + list,
    want: { kind: "PartialObjectMetadataList", items: [{ metadata }] },
  },

  // A custom resource has no messages of its own, and metadata like all others.
  {
    request: `POST ${things}`,
    accept: protobuf + one,
    body: { metadata, free: { metadata: { x: 1 } } },
    status: 201,
    want: { ...partial, metadata },
  },
  { request: `GET ${things}/a`, accept: protobuf, status: 406, want: { kind: "Status", message: accepted } },
  { request: `GET ${things}/a`, accept: `${protobuf},${json}`, contentType: json, want: { kind: "Thing" } },
  { request: `GET ${things}/a`, accept: protobuf + one, want: { ...partial, metadata } },
  { request: `GET ${things}/a`, accept: json + one, want: { ...partial, metadata } },
  {
    request: `GET ${things}`,
    accept: protobuf + list,
    want: { kind: "PartialObjectMetadataList", items: [{ metadata }] },
  },
  {
    request: `GET ${things}`,
    accept: json + list,
    want: { kind: "PartialObjectMetadataList", items: [{ ...partial, metadata }] },
  },
  {
    request: `GET ${things}/a`,
    accept: json + table,
    want: { kind: "Table", rows: [{ object: { ...partial, metadata } }] },
  },
  {
    request: `GET ${things}/a`,
    accept: json + list,
    status: 406,
    contentType: json,
    want: { message: notList("unstructured.Unstructured") },
  },
  {
    request: `GET ${things}`,
    accept: json + one,
    status: 406,
    contentType: json,
    want: { message: isList("unstructured.UnstructuredList") },
  },
  { request: `GET ${things}/none`, accept: protobuf, status: 406, want: { message: accepted } },
  {
    request: `GET ${things}/none`,
    accept: `${protobuf},${yaml}`,
    status: 404,
    want: { kind: "Status", reason: "NotFound" },
  },
  { request: `GET ${things}/a`, accept: "text/plain", status: 406, contentType: json, want: { message: accepted } },
  { request: `GET ${things}/a`, accept: "application/*", contentType: json, want: { kind: "Thing" } },
  { request: `DELETE ${things}/a`, accept: protobuf + one, want: { kind: "Status", status: "Success" } },
];

let memory: MemoryRegistry;
before(async () => {
  memory = await openMemoryRegistry();
  const catalog = memory.registry.catalog as MutableCatalog;
  catalog.add(
    customThing(
      catalog
        .definitions()
        .find(({ group, resource }) => group === "" && resource === "configmaps") as ResourceDefinition,
    ),
  );
  await send(memory.registry, "POST /api/v1/namespaces", { metadata: { name: "n" } });
});
after(() => memory.close());

for (const { request, accept, body, status = 200, contentType = accept.split(/[;,]/)[0], want } of rows) {
  test(`${request} as ${accept}`, async () => {
    const kind = request.includes("example.com") ? { kind: "Thing", apiVersion: "example.com/v1" } : {};
    const isPatch = request.startsWith("MERGE");
    const answer = await send(memory.registry, request, body && (isPatch ? body : { ...kind, ...body }), { accept });
    const shown = contentType === protobuf ? decodeAnswer(answer.bytes) : answer.body;
    assert.deepEqual([answer.status, answer.contentType], [status, contentType], JSON.stringify(shown));
    assert.partialDeepStrictEqual(shown, want, JSON.stringify(shown));
  });
}

const ofA = (answer: ApiAnswer): string => answer.bytes.toString();

test("metadata is the bytes of the object's own, in the struct's order; YAML sorts", async () => {
  const { registry } = memory;
  await send(registry, `POST ${maps}`, {
    metadata: { name: "b", annotations: { brace: '}"\\' } },
    data: { metadata: "{}" },
  });
  const whole = ofA(await send(registry, `GET ${maps}/b`));
  const inside = whole.slice(whole.indexOf('"metadata":') + '"metadata":'.length, whole.indexOf(',"data":'));
  const head = '{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":';
  assert.equal(ofA(await send(registry, `GET ${maps}/b`, undefined, { accept: json + one })), `${head + inside}}\n`);
  const listed = ofA(
    await send(registry, `GET ${maps}?fieldSelector=metadata.name%3Db`, undefined, { accept: json + list }),
  );
  const version = JSON.parse(listed).metadata.resourceVersion;
  const listHead = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"${version}"},"items":[`;
  assert.equal(listed, `${listHead + head + inside}}]}\n`);
  const text = ofA(await send(registry, `GET ${maps}`, undefined, { accept: yaml + list }));
  assert.match(
    text,
    /^apiVersion: meta\.k8s\.io\/v1\nitems:\n- apiVersion: meta\.k8s\.io\/v1\n {2}kind: PartialObjectMetadata\n {2}metadata:\n/,
  );
  assert.match(text, /\n {2}metadata:\n {4}annotations:\n {6}brace: '\}"\\'\n/);
  assert.match(text, /\nkind: PartialObjectMetadataList\nmetadata:\n {2}resourceVersion: "\d+"\n$/);
});

test("a part of a list says where it goes on", async () => {
  const { registry } = memory;
  for (const name of ["c1", "c2", "c3"]) await send(registry, `POST ${maps}`, { metadata: { name } });
  const first = decodeAnswer(
    (await send(registry, `GET ${maps}?limit=2`, undefined, { accept: protobuf + list })).bytes,
  ) as {
    metadata: { continue: string; remainingItemCount: number };
    items: unknown[];
  };
  assert.deepEqual([first.items.length, first.metadata.remainingItemCount], [2, 2]);
  const rest = await send(registry, `GET ${maps}?limit=2&continue=${first.metadata.continue}`, undefined, {
    accept: json + list,
  });
  assert.deepEqual(
    rest.body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ["c2", "c3"],
  );
  assert.ok(
    rest.body.items.every((item: object) => JSON.stringify(Object.keys(item)) === '["kind","apiVersion","metadata"]'),
  );
});
