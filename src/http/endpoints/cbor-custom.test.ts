/**
 * Custom resources in CBOR: what is known of them is their schema, which has no part in how they
 * are written.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { send } from "../../../test/support/api-client.ts";
import { customThing } from "../../../test/support/custom-thing.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import type { MutableCatalog, ResourceDefinition } from "../../catalog/contract.ts";
import { decodeAnyCbor } from "../../lib/cbor/decode.ts";
import { encodeAnyCbor } from "../../lib/cbor/encode.ts";
import { selfDescribed } from "../../lib/cbor/wire.ts";
import { encodeAny } from "../../lib/json/encode-any.ts";

const things = "/apis/example.com/v1/namespaces/n/things";
const cbor = "application/cbor";
const thing = (name: string, rest: object = {}): object => ({
  apiVersion: "example.com/v1",
  kind: "Thing",
  metadata: { name },
  ...rest,
});
const free = { integer: 5, large: 9007199254740993n, float: 1.5, text: "é", list: [null, true, {}], z: 1, aa: 2 };
const apply = "application/apply-patch+cbor";

interface Row {
  readonly request: string;
  readonly body?: object | Buffer;
  readonly type?: string;
  readonly accept?: string;
  readonly status?: number;
  readonly want: object;
}

/** In order: each finds what those before it left. */
const rows: Row[] = [
  { request: `POST ${things}`, body: thing("a", { free }), status: 201, want: thing("a", { free }) },
  { request: `GET ${things}/a`, want: thing("a", { free }) },
  {
    request: `GET ${things}`,
    want: {
      apiVersion: "example.com/v1",
      kind: "ThingList",
      items: [thing("a", { free })],
      metadata: { continue: "" },
    },
  },
  { request: `GET ${things}?labelSelector=x`, want: { kind: "ThingList", items: [] } },
  {
    request: `GET ${things}`,
    accept: `${cbor};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`,
    want: { kind: "PartialObjectMetadataList" },
  },
  {
    request: `PATCH ${things}/a?fieldManager=m`,
    body: thing("a", { spec: { set: ["x"] } }),
    type: apply,
    want: { spec: { set: ["x"] }, free },
  },
  {
    request: `PATCH ${things}/b?fieldManager=m`,
    body: thing("b", { spec: { set: ["x"] } }),
    type: apply,
    status: 201,
    want: { spec: { set: ["x"] } },
  },
  {
    request: `PATCH ${things}/a?fieldManager=m`,
    body: Buffer.from("a2416100416101", "hex"),
    type: apply,
    status: 400,
    want: { message: 'error decoding YAML: cbor: found duplicate map key "a" at map element index 1' },
  },
  {
    request: `PATCH ${things}/a`,
    body: {},
    type: "application/strategic-merge-patch+json",
    status: 415,
    want: {
      message:
        "the body of the request was in an unknown format - accepted media types include: " +
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, application/apply-patch+cbor",
    },
  },
  {
    request: `POST ${things}?fieldValidation=Strict`,
    body: thing("c", { spec: { nope: 1 } }),
    status: 400,
    want: {
      message: 'Thing in version "v1" cannot be handled as a Thing: strict decoding error: unknown field "spec.nope"',
    },
  },
  { request: `DELETE ${things}/a`, want: { kind: "Status", status: "Success" } },
];

let memory: MemoryRegistry;
before(async () => {
  memory = await openMemoryRegistry({ featureGates: "CBORServingAndStorage=true" });
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

for (const { request, body, type = cbor, accept = cbor, status = 200, want } of rows) {
  test(`${request} ${status}`, async () => {
    const sent = body === undefined || Buffer.isBuffer(body) ? body : encodeAnyCbor(body);
    const answer = await send(memory.registry, request, sent, { accept, "content-type": type });
    const shown = decodeAnyCbor(answer.bytes);
    assert.equal(answer.status, status, encodeAny(shown));
    assert.equal(answer.contentType, cbor);
    assert.partialDeepStrictEqual(shown, want);
  });
}

test("keys are sorted by length", async () => {
  const { bytes } = await send(memory.registry, `POST ${things}`, encodeAnyCbor(thing("order", { free })), {
    accept: cbor,
    "content-type": cbor,
  });
  assert.ok(bytes.subarray(0, 3).equals(selfDescribed));
  assert.ok(encodeAnyCbor(decodeAnyCbor(bytes)).equals(bytes));
});
