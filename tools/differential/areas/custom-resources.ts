/** Custom resources: random structural schemas, defaults, pruning, rules, versions, subresources, columns. */
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { odd, propertiesOf, type SchemaRandom, valueOfAll } from "./custom-schemas.ts";
import { patchTypes, query, writeQuery } from "./steps.ts";

type Json = Record<string, unknown>;

const group = "$ns.example.com";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

export const customResources: Area = {
  name: "custom-resources",
  make(all) {
    const random: SchemaRandom = { ...all, isWild: all.chance(0.25), hasRules: true };
    const properties = propertiesOf(random, 2);
    const versions = random.chance(0.3) ? ["v1", "v1beta1"] : ["v1"];
    const body = definition(properties, versions, random);
    const place = `/apis/${group}/v1/namespaces/$ns/things`;
    const steps: Step[] = [{ id: "definition", method: "POST", path: definitions, body }];
    if (random.isWild) return [...steps, ...definitionWrites(body, random)];
    steps.push(served(place));
    steps.push({
      id: "first",
      method: "POST",
      path: place,
      body: thing("v1", valueOfAll(properties, random, 0.9), "a"),
    });
    for (let times = 7 + random.below(7); times > 0; times--)
      steps.push(operation(random.pick(versions), properties, random));
    return steps;
  },
};

/** A definition is served some time after its creation: lists are 404 until then. */
function served(place: string): Step {
  return { method: "GET", path: place, until: 200, after: "definition", silent: true };
}

function definition(properties: Json, versions: readonly string[], random: SchemaRandom): Json {
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: { type: "object", properties },
        status: {
          type: "object",
          properties: { replicas: { type: "integer" }, phase: { type: "string" }, selector: { type: "string" } },
        },
      },
      ...(random.chance(0.1) && { required: ["spec"] }),
    },
  };
  const extras = versionExtras(properties, random);
  const version = (name: string, at: number): Json => ({
    name,
    served: true,
    storage: at === 0,
    schema,
    ...extras,
    ...(at > 0 && random.chance(0.3) && { deprecated: true }),
  });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: {
        plural: "things",
        kind: "Thing",
        ...(random.chance(0.2) && { singular: "thing", shortNames: ["th"], listKind: "ThingList" }),
      },
      versions: versions.map(version),
      ...(random.isWild && random.chance(0.2) && { preserveUnknownFields: true }),
    },
  };
}

/** Subresources, columns and selectable fields. */
function versionExtras(properties: Json, random: SchemaRandom): Json {
  const subresources = random.chance(0.5)
    ? {
        subresources: {
          status: {},
          ...(random.chance(0.5) && {
            scale: {
              specReplicasPath: ".spec.count",
              statusReplicasPath: ".status.replicas",
              labelSelectorPath: ".status.selector",
            },
          }),
        },
      }
    : {};
  const columns = random.chance(0.4)
    ? {
        additionalPrinterColumns: [
          {
            name: "Size",
            type: random.pick(["string", "integer", "number", "boolean", "date"]),
            jsonPath: random.pick([
              ".spec.size",
              ".metadata.creationTimestamp",
              ".spec.items[*]",
              ".spec.count",
              ...(random.isWild ? ["spec.size"] : []),
            ]),
            priority: random.below(2),
          },
        ],
      }
    : {};
  const sizeType = (properties.size as { type?: string } | undefined)?.type ?? "";
  const isSelectable = ["string", "integer", "boolean"].includes(sizeType);
  const fields =
    (isSelectable || random.isWild) && random.chance(0.4) ? { selectableFields: [{ jsonPath: ".spec.size" }] } : {};
  return { ...subresources, ...columns, ...fields };
}

/** Dry creations and updates of definitions, some of which are damaged. */
function definitionWrites(body: Json, random: SchemaRandom): Step[] {
  const path = `${definitions}/things.${group}`;
  return Array.from({ length: 6 }, (): Step => {
    const spec = random.pick<Json>([
      { versions: [] },
      { scope: "Cluster" },
      { names: { plural: "things", kind: "thing" } },
      { versions: [{ name: "v1", served: true, storage: true }] },
      {
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: { spec: { type: "object", properties: propertiesOf(random, 2) } },
              },
            },
          },
        ],
      },
      {
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: { type: "object", properties: { spec: { properties: { a: { type: "string" } } } } },
            },
          },
        ],
      },
      { conversion: { strategy: "Webhook" } },
      { conversion: { strategy: "None" } },
      { group: "other.example.com" },
      { versions: [{ name: "v1", served: false, storage: false, schema: {} }] },
    ]);
    if (random.chance(0.5))
      return { method: "PATCH", path, headers: { "content-type": patchTypes.merge }, body: { spec } };
    return {
      method: "POST",
      path: `${definitions}?dryRun=All`,
      body: {
        ...body,
        metadata: { name: random.pick([`things.${group}`, "things", "$ns.a"]) },
        spec: { ...(body.spec as Json), ...spec },
      },
    };
  });
}

function thing(version: string, spec: unknown, name: string): Json {
  return { apiVersion: `${group}/${version}`, kind: "Thing", metadata: { name }, spec };
}

const accepts = [
  "application/json",
  "application/yaml",
  "application/cbor",
  "application/vnd.kubernetes.protobuf",
  "application/json;as=Table;g=meta.k8s.io;v=v1",
  "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
];

function operation(version: string, properties: Json, random: Random): Step {
  const place = `/apis/${group}/${version}/namespaces/$ns/things`;
  const path = `${place}/a`;
  const headers = { accept: random.pick(accepts) };
  const spec = valueOfAll(properties, random, 0.8);
  const roll = random.below(16);
  if (roll < 2) return { method: "GET", path: random.chance(0.5) ? path : place, headers };
  if (roll < 5)
    return {
      method: "POST",
      path: `${place}${writeQuery(random)}`,
      body: thing(version, spec, random.pick(["b", "c", "d"])),
    };
  if (roll < 8) {
    const object = thing(version, spec, "a");
    const known = {
      ...object,
      metadata: { name: "a", resourceVersion: random.chance(0.9) ? "{{first.metadata.resourceVersion}}" : "" },
    };
    return { method: "PUT", path: `${path}${writeQuery(random)}`, body: random.chance(0.6) ? known : object };
  }
  if (roll < 10)
    return {
      method: "PATCH",
      path: `${path}${writeQuery(random)}`,
      headers: { "content-type": patchTypes.merge },
      body: { spec },
    };
  if (roll < 12)
    return {
      method: "PATCH",
      path: `${path}${query(`fieldManager=${random.pick(["one", "two"])}`, random.chance(0.6) && "force=true")}`,
      headers: { "content-type": patchTypes.apply },
      body: thing(version, spec, "a"),
    };
  if (roll < 13) {
    const operations = [
      {
        op: random.pick(["add", "replace", "remove", "test"]),
        path: `/spec/${random.pick(Object.keys(properties))}`,
        value: random.pick(odd),
      },
    ];
    return { method: "PATCH", path, headers: { "content-type": patchTypes.json }, body: operations };
  }
  if (roll < 14)
    return {
      method: "PATCH",
      path: `${path}/status`,
      headers: { "content-type": patchTypes.merge },
      body: {
        status: random.pick<Json>([{ replicas: 2 }, { phase: 1 }, { selector: "a=b" }, { unknown: 1 }]),
        spec: {},
      },
    };
  if (roll < 15)
    return random.chance(0.5)
      ? { method: "GET", path: `${path}/scale` }
      : {
          method: "PATCH",
          path: `${path}/scale`,
          headers: { "content-type": patchTypes.merge },
          body: { spec: { replicas: random.below(4) } },
        };
  return random.chance(0.5)
    ? { method: "DELETE", path }
    : { method: "GET", path: `${place}?fieldSelector=spec.size%3Da` };
}
