import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinCatalog, testConversions } from "../../test/support/builtin-catalog.ts";
import { builtinDefinitions } from "./builtin-definitions.ts";
import type { ResourceDefinition } from "./contract.ts";
import { strategy } from "./strategy.ts";

const definitions = builtinCatalog().definitions();
const find = (key: string): ResourceDefinition =>
  definitions.find(({ group, resource }) => `${group}/${resource}` === key) ?? assert.fail(`no ${key}`);

test("has all resources of 1.36, and those that it can emulate", () => {
  assert.equal(definitions.length, 76);
  assert.equal(definitions.flatMap(({ versions }) => versions).length, 97);
  assert.equal(definitions.flatMap(({ versions }) => versions.flatMap(({ subresources }) => subresources)).length, 56);
});

test("orders groups as discovery does", () => {
  assert.deepEqual([...new Set(definitions.map(({ group }) => group))].slice(0, 6), [
    "apiregistration.k8s.io",
    "",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
  ]);
});

test("every kind, subresource and storage version has a schema", () => {
  for (const { versions, storage } of definitions) {
    for (const { schema, subresources } of versions) {
      assert.ok(schema.fields.length > 0, schema.definition);
      for (const { schema: below, name } of subresources) assert.ok(below !== undefined, name);
    }
    assert.ok(storage === undefined || storage.schema.fields.length > 0);
  }
});

test("only versions with the schema of the storage version have no conversion", () => {
  for (const { group, resource, versions, storage } of definitions) {
    for (const { version, schema, conversion, served } of versions) {
      if (conversion !== undefined || !served || storage === undefined) continue;
      assert.deepEqual(
        schema.fields.map(({ name }) => name),
        storage.schema.fields.map(({ name }) => name),
        `${group}/${version}/${resource}`,
      );
    }
  }
});

const rows: [key: string, what: string, read: (definition: ResourceDefinition) => unknown, want: unknown][] = [
  [
    "/configmaps",
    "names",
    ({ kind, listKind, singular, shortNames }) => [kind, listKind, singular, shortNames],
    ["ConfigMap", "ConfigMapList", "configmap", ["cm"]],
  ],
  ["/configmaps", "prefix", ({ storage }) => storage?.prefix, "/registry/configmaps/"],
  ["/services", "prefix", ({ storage }) => storage?.prefix, "/registry/services/specs/"],
  ["/nodes", "prefix", ({ storage }) => storage?.prefix, "/registry/minions/"],
  ["/services", "PUT creates", ({ allowCreateOnUpdate }) => allowCreateOnUpdate, true],
  ["/configmaps", "PUT does not create", ({ allowCreateOnUpdate }) => allowCreateOnUpdate, false],
  [
    "coordination.k8s.io/leases",
    "PUT creates, and must name a version",
    (d) => [d.allowCreateOnUpdate, d.allowUnconditionalUpdate],
    [true, false],
  ],
  ["/pods", "a deletion returns the object", ({ deleteReturnsObject }) => deleteReturnsObject, true],
  ["/namespaces", "a deletion returns the object", ({ deleteReturnsObject }) => deleteReturnsObject, true],
  ["/configmaps", "a deletion returns a Status", ({ deleteReturnsObject }) => deleteReturnsObject, false],
  [
    "events.k8s.io/events",
    "stored as",
    ({ storage }) => [storage?.group, storage?.version, storage?.prefix],
    ["", "v1", "/registry/events/"],
  ],
  [
    "autoscaling/horizontalpodautoscalers",
    "versions",
    ({ versions }) => versions.map(({ version }) => version),
    ["v2", "v1"],
  ],
  ["authorization.k8s.io/subjectaccessreviews", "stores nothing", ({ storage }) => storage, undefined],
  ["/pods", "isolates status", (d) => d.strategy.isolatesStatus, true],
  ["/configmaps", "has no status", (d) => d.strategy.isolatesStatus, false],
  ["/componentstatuses", "deprecated", ({ versions }) => versions[0]?.deprecated, { since: "1.19" }],
  [
    "networking.k8s.io/servicecidrs",
    "life of the beta",
    ({ versions }) => versions[1]?.deprecated,
    { since: "1.34", removedIn: "1.37" },
  ],
];
for (const [key, what, read, want] of rows) test(`${key}: ${what}`, () => assert.deepEqual(read(find(key)), want));

test("uses the strategy of the group and resource", () => {
  const special = strategy({ hasGeneration: true });
  const served = { serves: () => false };
  const made = builtinDefinitions({ strategies: { "/pods": special }, conversions: testConversions, served });
  assert.deepEqual(
    made.filter((definition) => definition.strategy.hasGeneration).map(({ resource }) => resource),
    ["pods"],
  );
});
