/** Documents when resources come, change and go. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Field, Struct } from "../../lib/schema/schema.ts";
import { builtinSchema } from "../../resource/builtin-schemas.ts";
import type { MutableCatalog, ResourceDefinition } from "../../resource/contract.ts";
import { noDescriptions } from "../../resource/openapi/descriptions.ts";
import { builtinCatalog } from "../../testing/builtin-catalog.ts";
import { ask } from "../../testing/request-context.ts";
import { createOpenApi, type OpenApi } from "./openapi.ts";

function field(name: string, type: Field["type"], more: Partial<Field> = {}): Field {
  return { name, type, pointer: true, omitEmpty: true, omitZero: false, required: false, ...more };
}

function struct(fields: readonly Field[], more: Partial<Struct> = {}): Struct {
  const byName = new Map(fields.map((one) => [one.name, one]));
  return { kind: "struct", definition: "", goType: "", fields, byName, atomic: false, preserveUnknown: false, ...more };
}

const crew = struct([field("name", { kind: "string" }, { required: true }), field("rank", { kind: "int32" })]);

/** @param specFields of `spec`, whose struct has no name, as in custom resources */
function shipSchema(specFields: readonly Field[]): Struct {
  const head = builtinSchema("io.k8s.api.core.v1.ConfigMap").fields.filter(({ name }) => ["kind", "apiVersion", "metadata"].includes(name));
  return struct([...head, field("spec", struct(specFields))], {
    definition: "com.example.v1.Ship",
    groupVersionKinds: [{ group: "example.com", version: "v1", kind: "Ship" }],
  });
}

const someSchema = shipSchema([
  field("crew", { kind: "list", items: crew, listType: "map", mapKeys: ["name"] }),
  field("cargo", { kind: "map", values: { kind: "string" }, atomic: false }),
  field("extra", struct([], { preserveUnknown: true })),
]);

const model = builtinCatalog().findResource("", "replicationcontrollers")?.definition as ResourceDefinition;

function ships(schema: Struct = someSchema, group = "example.com"): ResourceDefinition {
  const names = { group, resource: "ships", singular: "ship", kind: "Ship", listKind: "ShipList" };
  const versions = model.versions.map((version) => ({
    ...version,
    schema,
    subresources: version.subresources.map((one) => (one.name === "status" ? { ...one, kind: "Ship" } : one)),
  }));
  return { ...model, ...names, versions, custom: true };
}

interface Fixture {
  readonly catalog: MutableCatalog;
  readonly openApi: OpenApi;
  /** How often texts were loaded, so at most how many documents were made. */
  loads(): number;
}

function fixture(): Fixture {
  const catalog = builtinCatalog();
  let loads = 0;
  const loadDescriptions = async () => {
    loads += 1;
    return { ...noDescriptions };
  };
  return { catalog, openApi: createOpenApi({ catalog, loadDescriptions }), loads: () => loads };
}

async function getJson(openApi: OpenApi, path: string) {
  const { body } = await ask(path.startsWith("/openapi/v2") ? openApi.v2 : openApi.v3, { path });
  return body.length === 0 ? undefined : JSON.parse(body.toString());
}

async function urlOf(openApi: OpenApi, name: string): Promise<string | undefined> {
  return (await getJson(openApi, "/openapi/v3")).paths[name]?.serverRelativeURL;
}

test("a resource that comes is in every document that concerns it, and goes again", async () => {
  const { catalog, openApi } = fixture();
  const before = (await getJson(openApi, "/openapi/v3")).paths;
  const v2Before = await getJson(openApi, "/openapi/v2");
  assert.equal(before["apis/example.com/v1"], undefined);

  catalog.add(ships());
  const { "apis/example.com": group, "apis/example.com/v1": version, ...others } = (await getJson(openApi, "/openapi/v3")).paths;
  assert.deepEqual(others, before, "the addresses of other documents stay");
  assert.ok((await getJson(openApi, group.serverRelativeURL)).paths["/apis/example.com/"]);
  assert.ok((await getJson(openApi, version.serverRelativeURL)).components.schemas["com.example.v1.Ship"]);
  const v2 = await getJson(openApi, "/openapi/v2");
  assert.ok(v2.paths["/apis/example.com/v1/namespaces/{namespace}/ships/{name}"]);
  assert.ok(v2.definitions["com.example.v1.Ship"]);

  catalog.remove("example.com", "ships");
  assert.deepEqual((await getJson(openApi, "/openapi/v3")).paths, before);
  assert.equal(await getJson(openApi, "/openapi/v3/apis/example.com/v1"), undefined);
  assert.deepEqual(await getJson(openApi, "/openapi/v2"), v2Before);
});

test("a changed schema has another address; the old one leads there", async () => {
  const { catalog, openApi } = fixture();
  catalog.add(ships());
  const old = (await urlOf(openApi, "apis/example.com/v1")) as string;
  const tags = async () => [
    (await ask(openApi.v3, { path: "/openapi/v3" })).headers.etag,
    (await ask(openApi.v2, { path: "/openapi/v2" })).headers.etag,
  ];
  const oldTags = await tags();

  catalog.add(ships(shipSchema([field("mast", { kind: "string" }, { required: true })])));
  const url = (await urlOf(openApi, "apis/example.com/v1")) as string;
  assert.notEqual(url, old);
  const redirected = await ask(openApi.v3, { path: old });
  assert.deepEqual([redirected.status, redirected.headers.location], [301, url]);
  assert.deepEqual((await getJson(openApi, url)).components.schemas["com.example.v1.Ship"].properties.spec, {
    type: "object",
    required: ["mast"],
    properties: { mast: { type: "string" } },
  });
  const newTags = await tags();
  assert.ok(newTags.every((tag, index) => tag !== oldTags[index]));
  assert.equal((await ask(openApi.v2, { path: "/openapi/v2", headers: { "if-none-match": oldTags[1] as string } })).status, 200);
  assert.equal((await ask(openApi.v2, { path: "/openapi/v2", headers: { "if-none-match": newTags[1] as string } })).status, 304);

  catalog.add(ships(someSchema));
  assert.equal(await urlOf(openApi, "apis/example.com/v1"), old, "what is as before has the address it had");
});

test("what only the smallest part of a schema says changes the address", async () => {
  const { catalog, openApi } = fixture();
  const variants: Field[] = [
    field("a", { kind: "string" }),
    field("a", { kind: "int32" }),
    field("a", { kind: "int64" }),
    field("b", { kind: "string" }),
    field("a", { kind: "string" }, { required: true }),
    field("a", { kind: "string" }, { default: "x" }),
    field("a", { kind: "int64" }, { default: 2n ** 60n }),
    field("a", { kind: "string", enum: ["x"] }),
    field("a", { kind: "list", items: { kind: "string" }, listType: "set", mapKeys: [] }),
    field("a", { kind: "list", items: { kind: "string" }, listType: "atomic", mapKeys: [] }),
    field("a", { kind: "map", values: { kind: "string" }, atomic: false }),
    field("a", { kind: "map", values: { kind: "string" }, atomic: true }),
    field("a", struct([field("b", { kind: "string" })])),
    field("a", struct([], { preserveUnknown: true })),
  ];
  const urls = new Set<string | undefined>();
  for (const variant of variants) {
    catalog.add(ships(shipSchema([variant])));
    urls.add(await urlOf(openApi, "apis/example.com/v1"));
  }
  assert.equal(urls.size, variants.length);
});

test("a custom resource: paths, media types and schemas", async () => {
  const { catalog, openApi } = fixture();
  catalog.add(ships());
  const { paths, components } = await getJson(openApi, "/openapi/v3/apis/example.com/v1");
  assert.deepEqual(Object.keys(paths), [
    "/apis/example.com/v1/",
    "/apis/example.com/v1/namespaces/{namespace}/ships",
    "/apis/example.com/v1/namespaces/{namespace}/ships/{name}",
    "/apis/example.com/v1/namespaces/{namespace}/ships/{name}/scale",
    "/apis/example.com/v1/namespaces/{namespace}/ships/{name}/status",
    "/apis/example.com/v1/ships",
  ]);
  const { get, patch, post } = {
    ...paths["/apis/example.com/v1/namespaces/{namespace}/ships/{name}"],
    ...paths["/apis/example.com/v1/namespaces/{namespace}/ships"],
    patch: paths["/apis/example.com/v1/namespaces/{namespace}/ships/{name}"].patch,
  };
  assert.equal(get.operationId, "listExampleComV1NamespacedShip");
  assert.equal(get.description, "list objects of kind Ship");
  assert.deepEqual(Object.keys(get.responses[200].content), ["application/json", "application/yaml"]);
  assert.deepEqual(Object.keys(post.requestBody.content), ["application/json", "application/yaml"]);
  assert.deepEqual(Object.keys(patch.requestBody.content), [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
  ]);

  const { "com.example.v1.Ship": ship, "com.example.v1.ShipList": list } = components.schemas;
  assert.deepEqual(ship["x-kubernetes-group-version-kind"], [{ group: "example.com", kind: "Ship", version: "v1" }]);
  assert.deepEqual(ship.properties.spec.properties, {
    cargo: { type: "object", additionalProperties: { type: "string", default: "" } },
    crew: {
      type: "array",
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, rank: { type: "integer", format: "int32" } },
      },
      "x-kubernetes-list-map-keys": ["name"],
      "x-kubernetes-list-type": "map",
    },
    extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  });
  assert.deepEqual(list.properties.items.items, { default: {}, allOf: [{ $ref: "#/components/schemas/com.example.v1.Ship" }] });
  assert.deepEqual(list["x-kubernetes-group-version-kind"], [{ group: "example.com", kind: "ShipList", version: "v1" }]);
});

test("the index of a thousand group versions makes no document", async () => {
  const { catalog, openApi, loads } = fixture();
  for (let index = 0; index < 1000; index++) catalog.add(ships(someSchema, `group${index}.example.com`));
  const { paths } = await getJson(openApi, "/openapi/v3");
  assert.ok(paths["apis/group999.example.com/v1"]);
  assert.equal(loads(), 0);
  await getJson(openApi, paths["apis/group5.example.com/v1"].serverRelativeURL);
  assert.equal(loads(), 1);
});
