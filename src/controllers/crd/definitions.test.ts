import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openMemoryRegistry, type Place } from "../../../test/support/memory-registry.ts";
import { passTurns } from "../../../test/support/pass-turns.ts";
import { until } from "../../../test/support/until.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { customKinds } from "../../apis/apiextensions/custom-kinds.ts";
import type { MutableCatalog, ResourceDefinition } from "../../catalog/contract.ts";
import { definitionController } from "./definitions.ts";

const memory = await openMemoryRegistry();
const catalog = memory.registry.catalog as MutableCatalog;
const released: ResourceDefinition[] = [];
const rules = customKinds({ objectRules: undefined });
const quiet = () => {};
const logger = {
  debug: quiet,
  info: quiet,
  warn: (text: string, fields?: object) => console.error(text, fields),
  error: quiet,
};
const controller = definitionController({
  registry: memory.registry,
  catalog,
  rules,
  release: (definition) => released.push(definition),
  logger,
});
controller.start();
await controller.ready;
after(async () => {
  await controller.stop();
  await memory.close();
});

const place: Place = ["apiextensions.k8s.io/customresourcedefinitions", ""];

function definition(plural: string, kind: string, properties: object = {}): KubeObject {
  const schema = { openAPIV3Schema: { type: "object", properties } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: "example.com",
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      scope: "Namespaced",
      conversion: { strategy: "None" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}

const conditionOf = async (name: string, type: string): Promise<string | undefined> => {
  const conditions: { type: string; status: string; reason: string }[] =
    (await memory.find(place, name))?.status?.conditions ?? [];
  const found = conditions.find((condition) => condition.type === type);
  return found && `${found.status} ${found.reason}`;
};

test("accepts the names of a definition, and establishes it after its kind is in the catalog", async () => {
  await memory.create(place, definition("widgets", "Widget"));
  await until(async () => (await conditionOf("widgets.example.com", "Established")) === "True InitialNamesAccepted");
  assert.equal(await conditionOf("widgets.example.com", "NamesAccepted"), "True NoConflicts");
  assert.ok(catalog.find("example.com", "v1", "widgets"));
  const stored = await memory.find(place, "widgets.example.com");
  assert.deepEqual(stored?.status.acceptedNames, stored?.spec.names);
});

test("adds a kind to the catalog once", async () => {
  const before = catalog.generation;
  await memory.create(place, definition("singles", "Single"));
  await until(async () => (await conditionOf("singles.example.com", "Established")) === "True InitialNamesAccepted");
  await passTurns(20); // The controller has the event of its own write.
  assert.equal(catalog.generation, before + 1);
});

test("accepts names of definitions that are created together once", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `twins${index}`);
  await Promise.all(names.map((plural) => memory.create(place, definition(plural, "Twin"))));
  const reasons = async () =>
    Promise.all(names.map(async (plural) => (await conditionOf(`${plural}.example.com`, "NamesAccepted")) ?? ""));
  await until(async () => (await reasons()).every((reason) => reason !== ""));
  await controller.settled();
  const accepted = (await reasons()).filter((reason) => reason === "True NoConflicts");
  assert.equal(accepted.length, 1);
  for (const plural of names) await memory.delete(place, `${plural}.example.com`);
  await until(async () => (await reasons()).every((reason) => reason === ""));
});

test("rejects a kind that another definition has, and accepts it when the other is deleted", async () => {
  await memory.create(place, definition("gadgets", "Widget"));
  await until(async () => (await conditionOf("gadgets.example.com", "NamesAccepted")) === "False ListKindConflict");
  assert.equal(await conditionOf("gadgets.example.com", "Established"), "False NotAccepted");
  assert.equal(catalog.find("example.com", "v1", "gadgets"), undefined);
  await memory.delete(place, "widgets.example.com");
  await until(async () => (await conditionOf("gadgets.example.com", "Established")) === "True InitialNamesAccepted");
  assert.equal(catalog.find("example.com", "v1", "widgets"), undefined);
  assert.ok(catalog.find("example.com", "v1", "gadgets"));
});

test("replaces the kind when the schema changes, not when metadata changes", async () => {
  const before = catalog.generation;
  await memory.change(place, "gadgets.example.com", (object) => {
    object.metadata.labels = { a: "b" };
  });
  await memory.change(place, "gadgets.example.com", (object) => {
    object.spec.versions[0].schema.openAPIV3Schema.properties = { spec: { type: "object" } };
  });
  const releasedBefore = released.length;
  await until(() => catalog.generation > before);
  await until(() => released.length >= releasedBefore);
  assert.equal(catalog.generation, before + 2); // Removed and added.
  assert.equal(released.at(-1)?.resource, "gadgets");
});

test("deletes the objects of a definition that is being deleted", async () => {
  await memory.create(["/namespaces", ""], { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } });
  const objects: Place = ["example.com/gadgets", "default"];
  await memory.create(objects, {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name: "a", finalizers: ["example.com/held"] },
  });
  await memory.create(objects, { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "b" } });
  await memory.delete(place, "gadgets.example.com");
  await until(
    async () => (await conditionOf("gadgets.example.com", "Terminating")) === "True InstanceDeletionInProgress",
  );
  await until(async () => (await memory.find(objects, "b")) === undefined);
  assert.ok(await memory.find(objects, "a"));
  await memory.change(objects, "a", (object) => {
    delete object.metadata.finalizers;
  });
  await until(async () => (await memory.find(place, "gadgets.example.com")) === undefined); // Retried after a delay.
  await until(() => catalog.find("example.com", "v1", "gadgets") === undefined);
});

const endRows: [what: string, change: (definition: KubeObject) => void, condition: string][] = [
  ["was served", () => {}, "False InstanceDeletionCompleted"],
  [
    "never got its names",
    ({ spec }) => Object.assign(spec.names, { kind: "Taken", listKind: "TakenList" }),
    "False NeverEstablished",
  ],
];

test("a deleted definition reports the result of its finalization", async () => {
  await memory.create(place, definition("takens", "Taken"));
  await until(async () => (await conditionOf("takens.example.com", "Established")) === "True InitialNamesAccepted");
  for (const [what, change, condition] of endRows) {
    const going = definition("goings", "Going");
    going.metadata.finalizers = ["example.com/held"];
    change(going);
    await memory.create(place, going);
    await until(async () => (await conditionOf("goings.example.com", "NamesAccepted")) !== undefined);
    await until(async () => (await conditionOf("goings.example.com", "Established")) !== undefined);
    await memory.delete(place, "goings.example.com");
    await until(async () => (await conditionOf("goings.example.com", "Terminating")) === condition);
    assert.deepEqual((await memory.find(place, "goings.example.com"))?.metadata.finalizers, ["example.com/held"], what);
    await memory.change(place, "goings.example.com", (object) => {
      delete object.metadata.finalizers;
    });
    await until(async () => (await memory.find(place, "goings.example.com")) === undefined);
  }
});

test("a definition does not replace a built-in kind", async () => {
  const own = definition("apiservices", "APIService");
  own.metadata = {
    name: "apiservices.apiregistration.k8s.io",
    annotations: { "api-approved.kubernetes.io": "unapproved, a test" },
  };
  own.spec.group = "apiregistration.k8s.io";
  await memory.create(place, own);
  await until(
    async () => (await conditionOf("apiservices.apiregistration.k8s.io", "NamesAccepted")) === "True NoConflicts",
  );
  await memory.delete(place, "apiservices.apiregistration.k8s.io");
  await until(async () => (await memory.find(place, "apiservices.apiregistration.k8s.io")) === undefined);
  assert.equal(catalog.findResource("apiregistration.k8s.io", "apiservices")?.definition.custom, false);
});
