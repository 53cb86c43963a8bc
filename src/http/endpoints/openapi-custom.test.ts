/**
 * What is published of custom resources, against what upstream publishes of the same definitions:
 * testdata/openapi-published.json, made by tools/golden/custom-resource-openapi.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { builtinCatalog } from "../../../test/support/builtin-catalog.ts";
import { ask } from "../../../test/support/request-context.ts";
import type { Catalog, ResourceDefinition, SubresourceDefinition } from "../../catalog/contract.ts";
import type { JsonSchemaProps } from "../../lib/structural-schema/json-schema-props.ts";
import { descriptionsFrom } from "../../openapi/descriptions.ts";
import { createOpenApi } from "./openapi.ts";

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: {
      readonly plural: string;
      readonly singular: string;
      readonly kind: string;
      readonly listKind: string;
    };
    readonly versions: readonly {
      readonly name: string;
      readonly subresources?: { readonly status?: object; readonly scale?: object };
      readonly selectableFields?: readonly { readonly jsonPath: string }[];
      readonly schema: { readonly openAPIV3Schema: JsonSchemaProps };
    }[];
  };
}

type Document = Record<string, Record<string, unknown>>;

interface Published {
  readonly definition: string;
  readonly version: string;
  readonly v2: Document;
  readonly v3: Document;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`./testdata/${name}`, import.meta.url), "utf8"));
const definitions: readonly Definition[] = read("openapi-definitions.json");
const published: readonly Published[] = read("openapi-published.json");

const verbs = ["get", "patch", "update"];
const model = builtinCatalog().findResource("", "configmaps")?.definition as ResourceDefinition;

function resourceOf({ spec }: Definition): ResourceDefinition {
  const { group, names } = spec;
  const subresources = ({ status, scale }: { status?: object; scale?: object } = {}): SubresourceDefinition[] => [
    ...(scale
      ? [
          {
            name: "scale",
            verbs,
            kind: "Scale",
            kindGroupVersion: { group: "autoscaling", version: "v1" },
            schema: undefined,
          },
        ]
      : []),
    ...(status ? [{ name: "status", verbs, kind: names.kind, schema: undefined }] : []),
  ];
  const versions = spec.versions.map((version) => ({
    ...(model.versions[0] as ResourceDefinition["versions"][0]),
    version: version.name,
    subresources: subresources(version.subresources),
    openApi: {
      schema: version.schema.openAPIV3Schema,
      selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, "")),
    },
  }));
  const { plural: resource, ...others } = names;
  return {
    ...model,
    ...others,
    group,
    resource,
    namespaced: spec.scope === "Namespaced",
    shortNames: [],
    versions,
    custom: true,
  };
}

const catalog = builtinCatalog("api/all=false,coordination.k8s.io/v1");
for (const definition of definitions) catalog.add(resourceOf(definition));
const descriptions = descriptionsFrom({
  types: {
    IoK8sApiCoreV1ConfigMap: { metadata: "Standard object's metadata." },
    IoK8sApimachineryPkgApisMetaV1Status: { metadata: "Standard list metadata." },
  },
  parameters: {},
});
const openApi = createOpenApi({ catalog, loadDescriptions: async () => descriptions });

/** Descriptions of others, and types that every document has, are left out. */
function own(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(own);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key, one]) =>
      !key.startsWith("io.k8s.") && !(key === "description" && typeof one === "string" && !one.startsWith("own:")),
  );
  return Object.fromEntries(kept.map(([key, one]) => [key, own(one)]));
}

async function getOwn(path: string): Promise<Document> {
  const { body } = await ask(path === "/openapi/v2" ? openApi.v2 : openApi.v3, { path });
  return own(JSON.parse(body.toString())) as Document;
}

for (const { definition, version, v2, v3 } of published) {
  const { group } = definitions.find(({ metadata }) => metadata.name === definition)?.spec ?? assert.fail();

  test(`${definition} ${version} in v3`, async () => {
    const { info, ...ours } = await getOwn(`/openapi/v3/apis/${group}/${version}`);
    assert.deepEqual({ ...ours, info }, v3);
  });

  test(`${definition} ${version} in v2`, async () => {
    const { paths, definitions: kinds, parameters } = await getOwn("/openapi/v2");
    const picked = (from: Record<string, unknown> = {}, names: object = {}) =>
      Object.fromEntries(Object.keys(names).map((name) => [name, from[name]]));
    assert.deepEqual(picked(kinds, v2.definitions), v2.definitions);
    const plain = (document: unknown, shared: Record<string, unknown> = {}) => inlined(document, shared);
    assert.deepEqual(plain(picked(paths, v2.paths), parameters), plain(v2.paths, v2.parameters));
  });
}

/**
 * References to parameters, whose names hang on the descriptions, are replaced by what they lead
 * to.
 */
function inlined(value: unknown, shared: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((one) => inlined(one, shared));
  if (typeof value !== "object" || value === null) return value;
  const reference =
    "$ref" in value && typeof value.$ref === "string" && value.$ref.startsWith("#/parameters/")
      ? value.$ref
      : undefined;
  if (reference !== undefined) return shared[reference.slice("#/parameters/".length)];
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inlined(one, shared)]));
}

test("without a schema, any object will do", async () => {
  const bare = resourceOf(definitions[0] as Definition);
  const versions = bare.versions.map(({ openApi: _, ...version }) => version);
  catalog.add({ ...bare, group: "bare.example.com", versions });
  const { components } = await getOwn("/openapi/v3/apis/bare.example.com/v1");
  const schemas = components?.schemas as Record<string, unknown> | undefined;
  assert.deepEqual(schemas?.["com.example.bare.v1.Ship"], {
    type: "object",
    "x-kubernetes-group-version-kind": [{ group: "bare.example.com", kind: "Ship", version: "v1" }],
  });
});

const lowerCase = builtinCatalog("api/all=false,coordination.k8s.io/v1");
const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } };
for (const [plural, kind, scope] of [
  ["rafts", "raft-y", "Namespaced"],
  ["boats", "boat", "Cluster"],
] as const)
  lowerCase.add(
    resourceOf({
      metadata: { name: `${plural}.example.com` },
      spec: {
        group: "example.com",
        scope,
        names: { plural, singular: kind, kind, listKind: `${kind}List` },
        versions: [{ name: "v1", subresources: { status: {} }, schema }],
      },
    }),
  );
const lowerCaseDocument = await documentOf(lowerCase);

async function documentOf(catalog: Catalog) {
  const { v3 } = createOpenApi({ catalog, loadDescriptions: async () => descriptions });
  return JSON.parse((await ask(v3, { path: "/openapi/v3/apis/example.com/v1" })).body.toString());
}

/** As kube-apiserver 1.36.0 publishes definitions whose kinds are in lower case. */
const lowerCaseIds: [path: string, method: string, id: string][] = [
  ["namespaces/{namespace}/rafts", "get", "listExampleComV1NamespacedraftY"],
  ["namespaces/{namespace}/rafts", "delete", "deleteExampleComV1CollectionNamespacedraftY"],
  ["namespaces/{namespace}/rafts/{name}/status", "put", "replaceExampleComV1NamespacedraftYStatus"],
  ["rafts", "get", "listExampleComV1RaftYForAllNamespaces"],
  ["boats", "post", "createExampleComV1Boat"],
  ["boats", "delete", "deleteExampleComV1Collectionboat"],
];
for (const [path, method, id] of lowerCaseIds)
  test(`${method} ${path} of kinds in lower case is ${id}`, () =>
    assert.equal(lowerCaseDocument.paths[`/apis/example.com/v1/${path}`][method].operationId, id));

test("metadata and items of custom kinds and lists are described", () => {
  const { "com.example.v1.boat": boat, "com.example.v1.boatList": list } = lowerCaseDocument.components.schemas;
  assert.equal(boat.properties.metadata.description, "Standard object's metadata.");
  assert.equal(list.properties.metadata.description, "Standard list metadata.");
  assert.equal(
    list.properties.items.description,
    "List of boats. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md",
  );
});

test("DeleteOptions in documents of custom kinds are of all groups of clients", () => {
  const kinds = lowerCaseDocument.components.schemas["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"];
  assert.equal(kinds["x-kubernetes-group-version-kind"].length, 53);
});
