/** Documents when resources come, change and go. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinCatalog } from "../../../test/support/builtin-catalog.ts";
import { ask } from "../../../test/support/request-context.ts";
import type { MutableCatalog, PublishedSchema, ResourceDefinition } from "../../catalog/contract.ts";
import type { JsonSchemaProps } from "../../lib/structural-schema/json-schema-props.ts";
import { noDescriptions } from "../../openapi/descriptions.ts";
import { createOpenApi, type OpenApi } from "./openapi.ts";

/** @param properties of `spec` */
function shipSchema(properties: Record<string, JsonSchemaProps>): PublishedSchema {
  return { schema: { type: "object", properties: { spec: { type: "object", properties } } }, selectableFields: [] };
}

const someSchema = shipSchema({ crew: { type: "array", items: { type: "string" } } });
const model = builtinCatalog().findResource("", "replicationcontrollers")?.definition as ResourceDefinition;

function ships(openApi: PublishedSchema = someSchema, group = "example.com"): ResourceDefinition {
  const names = { group, resource: "ships", singular: "ship", kind: "Ship", listKind: "ShipList" };
  return { ...model, ...names, versions: model.versions.map((version) => ({ ...version, openApi })), custom: true };
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

test("adds a new resource to its documents, and removes it again", async () => {
  const { catalog, openApi } = fixture();
  const before = (await getJson(openApi, "/openapi/v3")).paths;
  const v2Before = await getJson(openApi, "/openapi/v2");
  assert.equal(before["apis/example.com/v1"], undefined);

  catalog.add(ships());
  const { "apis/example.com/v1": version, ...others } = (await getJson(openApi, "/openapi/v3")).paths;
  assert.deepEqual(others, before, "the addresses of other documents stay");
  assert.ok((await getJson(openApi, version.serverRelativeURL)).components.schemas["com.example.v1.Ship"]);
  const v2 = await getJson(openApi, "/openapi/v2");
  assert.ok(v2.paths["/apis/example.com/v1/namespaces/{namespace}/ships/{name}"]);
  assert.ok(v2.definitions["com.example.v1.Ship"]);

  catalog.remove("example.com", "ships");
  assert.deepEqual((await getJson(openApi, "/openapi/v3")).paths, before);
  assert.equal(await getJson(openApi, "/openapi/v3/apis/example.com/v1"), undefined);
  assert.deepEqual(await getJson(openApi, "/openapi/v2"), v2Before);
});

test("a changed schema has another URL; the old one redirects to it", async () => {
  const { catalog, openApi } = fixture();
  catalog.add(ships());
  const old = (await urlOf(openApi, "apis/example.com/v1")) as string;
  const tags = async () => [
    (await ask(openApi.v3, { path: "/openapi/v3" })).headers.etag,
    (await ask(openApi.v2, { path: "/openapi/v2" })).headers.etag,
  ];
  const oldTags = await tags();

  catalog.add(ships(shipSchema({ mast: { type: "string" } })));
  const url = (await urlOf(openApi, "apis/example.com/v1")) as string;
  assert.notEqual(url, old);
  const redirected = await ask(openApi.v3, { path: old });
  assert.deepEqual([redirected.status, redirected.headers.location], [301, url]);
  assert.deepEqual((await getJson(openApi, url)).components.schemas["com.example.v1.Ship"].properties.spec, {
    type: "object",
    properties: { mast: { type: "string" } },
  });
  const newTags = await tags();
  assert.ok(newTags.every((tag, index) => tag !== oldTags[index]));
  assert.equal(
    (await ask(openApi.v2, { path: "/openapi/v2", headers: { "if-none-match": oldTags[1] as string } })).status,
    200,
  );
  assert.equal(
    (await ask(openApi.v2, { path: "/openapi/v2", headers: { "if-none-match": newTags[1] as string } })).status,
    304,
  );

  catalog.add(ships(someSchema));
  assert.equal(await urlOf(openApi, "apis/example.com/v1"), old, "what is as before has the address it had");
});

test("any change of a schema changes the URL", async () => {
  const { catalog, openApi } = fixture();
  const variants: JsonSchemaProps[] = [
    { type: "string" },
    { type: "integer" },
    { type: "string", description: "a" },
    { type: "string", default: "a" },
    { type: "integer", default: 2n ** 60n },
    { type: "string", enum: ["a"] },
    { type: "object", properties: { a: {} } },
    { type: "object", additionalProperties: true },
  ];
  const urls = new Set<string | undefined>();
  for (const a of variants) {
    catalog.add(ships(shipSchema({ a })));
    urls.add(await urlOf(openApi, "apis/example.com/v1"));
  }
  assert.equal(urls.size, variants.length);
  catalog.add(ships({ ...someSchema, selectableFields: ["spec.a"] }));
  assert.ok(!urls.has(await urlOf(openApi, "apis/example.com/v1")));
});

test("encodes one v2 document at a time; waiting requests receive the newest", async () => {
  const { catalog, openApi, loads } = fixture();
  const ask2 = () => ask(openApi.v2, { path: "/openapi/v2" });
  const first = ask2();
  catalog.add(ships());
  const others = [ask2(), ask2()];
  catalog.add(ships(someSchema, "late.example.com"));
  others.push(ask2());
  const tags = (await Promise.all([first, ...others])).map(({ headers }) => headers.etag);
  assert.equal(new Set(tags.slice(1)).size, 1);
  assert.equal(tags.at(-1), (await ask2()).headers.etag);
  assert.ok(loads() <= 2);
});

test("encodes no document for a client with the current entity tag", async () => {
  const before = fixture();
  const path = "/openapi/v3/apis/apps/v1";
  const tagOf = async (from: OpenApi, at: string) =>
    (await ask(at === path ? from.v3 : from.v2, { path: at })).headers.etag as string;
  const tags = [await tagOf(before.openApi, path), await tagOf(before.openApi, "/openapi/v2")];
  const { openApi, loads } = fixture(); // As after a restart.
  for (const [index, at] of [path, "/openapi/v2"].entries()) {
    const { status } = await ask(at === path ? openApi.v3 : openApi.v2, {
      path: at,
      headers: { "if-none-match": tags[index] as string },
    });
    assert.equal(status, 304);
  }
  assert.equal(loads(), 0);
});

test("the index of a thousand group versions encodes no document", async () => {
  const { catalog, openApi, loads } = fixture();
  for (let index = 0; index < 1000; index++) catalog.add(ships(someSchema, `group${index}.example.com`));
  const { paths } = await getJson(openApi, "/openapi/v3");
  assert.ok(paths["apis/group999.example.com/v1"]);
  assert.equal(loads(), 0);
  await getJson(openApi, paths["apis/group5.example.com/v1"].serverRelativeURL);
  assert.equal(loads(), 1);
});
