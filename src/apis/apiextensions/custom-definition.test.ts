/** Tests custom kinds through the registry. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openMemoryRegistry, type Place } from "../../../test/support/memory-registry.ts";
import { testContext } from "../../../test/support/strategy-driver.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { MutableCatalog } from "../../catalog/contract.ts";
import { objectRules } from "../../cel-environment/object-rules.ts";
import { customDefinition } from "./custom-definition.ts";

const schema = (more: object = {}) => ({
  openAPIV3Schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          size: { type: "integer", minimum: 0, default: 1 },
          colour: { type: "string", enum: ["red", "blue"] },
          tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
          ...more,
        },
        "x-kubernetes-validations": [
          { rule: "!has(self.colour) || self.colour != 'red' || self.size < 5", message: "red is small" },
        ],
      },
      status: { type: "object", properties: { replicas: { type: "integer" }, selector: { type: "string" } } },
    },
  },
});

const names = { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList", shortNames: ["wd"] };

const definition: KubeObject = {
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    names,
    scope: "Namespaced",
    conversion: { strategy: "None" },
    versions: [
      { name: "v1alpha1", served: true, storage: false, schema: schema({ old: { type: "string" } }) },
      {
        name: "v1",
        served: true,
        storage: true,
        schema: schema(),
        selectableFields: [{ jsonPath: ".spec.colour" }],
        subresources: {
          status: {},
          scale: {
            specReplicasPath: ".spec.size",
            statusReplicasPath: ".status.replicas",
            labelSelectorPath: ".status.selector",
          },
        },
      },
    ],
  },
  status: { acceptedNames: names },
};

const memory = await openMemoryRegistry();
after(() => memory.close());
const made = customDefinition(definition, { objectRules });
assert.ok(made);
(memory.registry.catalog as MutableCatalog).add(made);
const place: Place = ["example.com/widgets", "default"];
await memory.create(["/namespaces", ""], { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } });

const widget = (name: string, spec: object, more: object = {}) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name },
  spec,
  ...more,
});

async function causesOf(write: Promise<unknown>): Promise<string[]> {
  try {
    await write;
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return (error.status.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
  }
}

test("makes a resource definition", () => {
  const { group, resource, listKind, shortNames, storage, versions, custom } = made;
  assert.deepEqual(
    [group, resource, listKind, shortNames, custom],
    ["example.com", "widgets", "WidgetList", ["wd"], true],
  );
  assert.deepEqual(
    versions.map(({ version, subresources }) => [version, subresources.map(({ name }) => name)]),
    [
      ["v1", ["status", "scale"]],
      ["v1alpha1", []],
    ],
  );
  assert.equal(storage?.prefix, "/registry/example.com/widgets/");
});

test("creates objects without a status, at generation 1, and stores sorted keys", async () => {
  const created = await memory.create(place, widget("a", { size: 3 }, { status: { replicas: 2 } }));
  assert.equal(created.metadata.generation, 1);
  assert.equal(created.status, undefined);
  const found = await memory.find(place, "a");
  assert.deepEqual(found?.spec, { size: 3 });
  assert.deepEqual(Object.keys(found ?? {}), ["apiVersion", "kind", "metadata", "spec"]);
});

test("raises the generation when the spec changes, not when the status changes", async () => {
  await memory.create(place, widget("b", { size: 3 }));
  await memory.change(place, "b", (object) => {
    object.spec.size = 4;
    object.status = { replicas: 9 };
  });
  assert.deepEqual(
    [(await memory.find(place, "b"))?.metadata.generation, (await memory.find(place, "b"))?.status],
    [2, undefined],
  );
  const setStatus = (object: KubeObject): void => {
    object.status = { replicas: 9 };
  };
  await memory.change(place, "b", setStatus, "status");
  assert.deepEqual(
    [(await memory.find(place, "b"))?.metadata.generation, (await memory.find(place, "b"))?.status],
    [2, { replicas: 9 }],
  );
});

const rejectedRows: [what: string, spec: object, causes: string[]][] = [
  [
    "of a type",
    { size: "x" },
    [
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
      ".spec.size: Invalid value: 0: .spec.size accessor error: x is of the type string, expected int64",
      "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
    ],
  ],
  [
    "of a bound",
    { size: -1 },
    [
      "spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0",
      ".spec.size: Invalid value: -1: should be a non-negative integer",
    ],
  ],
  ["of a set", { tags: ["a", "b", "a"] }, ['spec.tags[2]: Duplicate value: "a"']],
  ["of a rule", { colour: "red", size: 7 }, ["spec: Invalid value: red is small"]],
];

for (const [what, spec, causes] of rejectedRows) {
  test(`rejects a violation ${what}`, async () => {
    assert.deepEqual(await causesOf(memory.create(place, widget("rejected", spec))), causes);
  });
}

test("tolerates stored violations in fields that do not change", async () => {
  const loose: KubeObject = structuredClone(definition);
  const open = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  loose.spec.group = "ratchet.example.com";
  loose.spec.versions = [{ name: "v1", served: true, storage: true, schema: open }];
  const strict: KubeObject = structuredClone(loose);
  strict.spec.versions[0].schema = schema({ other: { type: "string" } });
  const before = customDefinition(loose, { objectRules });
  const now = customDefinition(strict, { objectRules });
  assert.ok(before && now);
  const old = {
    ...widget("r", { size: -1, colour: "green", other: "x" }),
    apiVersion: "ratchet.example.com/v1",
  } as KubeObject;
  old.metadata = { name: "r", namespace: "default", resourceVersion: "1", uid: "u" };
  const warnings: string[] = [];
  const problems = async (change: (spec: Record<string, unknown>) => void): Promise<string[]> => {
    const errors = new FieldErrors();
    const next = structuredClone(old);
    change(next.spec);
    await now.strategy.validateUpdate(next, old, errors, { ...testContext, warn: (text) => warnings.push(text) });
    return errors.causes.map(({ field }) => field ?? "");
  };
  assert.deepEqual(await problems((spec) => Object.assign(spec, { other: "y" })), []);
  assert.deepEqual(await problems((spec) => Object.assign(spec, { size: -2 })), ["spec.size"]);
  Object.assign(old.spec, { size: 9, colour: "red" });
  assert.deepEqual(warnings, []);
  assert.deepEqual(await problems(() => {}), []);
  assert.deepEqual(warnings, ["spec: Invalid value: red is small"]);
  assert.deepEqual(await problems((spec) => Object.assign(spec, { size: 8 })), ["spec"]);
});

test("drops fields that are not in the schema of the requested version", () => {
  const [, alpha] = made.versions;
  const written = { ...widget("a", { old: "x" }), metadata: { name: "a" } } as KubeObject;
  const stored = alpha?.conversion?.losses?.stored(alpha.conversion.toStorage(structuredClone(written)));
  assert.deepEqual([stored?.apiVersion, stored?.spec], ["example.com/v1", { size: 1 }]);
  const shown = alpha?.conversion?.fromStorage({ ...structuredClone(written), spec: { size: 2, old: "x", nope: 1 } });
  assert.deepEqual([shown?.apiVersion, shown?.spec], ["example.com/v1alpha1", { size: 2, old: "x" }]);
});

test("drops embedded metadata that is invalid in the requested version", () => {
  const embedding = structuredClone(definition);
  embedding.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.template = {
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
  };
  const template = { apiVersion: "v1", kind: "X", metadata: { name: 5, labels: { a: "b" } } };
  const stored = { ...widget("a", { template }), metadata: { name: "a" } } as KubeObject;
  const shown = customDefinition(embedding, { objectRules })?.versions[1]?.conversion?.fromStorage(stored);
  assert.deepEqual(shown?.spec.template, { apiVersion: "v1", kind: "X", metadata: { labels: { a: "b" } } });
});

test("reads and writes the paths of the scale subresource", () => {
  const { scale } = made.strategy;
  const object = {
    ...widget("a", { size: 2 }),
    metadata: { name: "a", namespace: "default" },
    status: { replicas: 1, selector: "a=b" },
  } as KubeObject;
  assert.deepEqual(scale?.toScale(object), {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name: "a", namespace: "default" },
    spec: { replicas: 2 },
    status: { replicas: 1, selector: "a=b" },
  });
  scale?.applyScale(object, 5);
  assert.equal(object.spec.size, 5);
  const without = { apiVersion: "example.com/v1", kind: "Widget", metadata: {}, spec: null } as unknown as KubeObject;
  assert.throws(
    () => scale?.applyScale(without, 5),
    /value cannot be set because \.spec is not a map\[string\]interface\{\}/,
  );
});

test("selects by the selectable fields", () => {
  const select = made.strategy.selectableFields["spec.colour"];
  assert.equal(select?.({ metadata: {}, spec: { colour: "red" } }), "red");
  assert.equal(select?.({ metadata: {}, spec: "x" }), "");
});

const finalizerRows: [finalizer: string, warnings: string[]][] = [
  ["example.com/mine", []],
  ["orphan", []],
  [
    "mine",
    [
      'metadata.finalizers: "mine": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ],
  ],
  [
    "mine.example.com",
    [
      'metadata.finalizers: "mine.example.com": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
    ],
  ],
];

for (const [finalizer, warnings] of finalizerRows) {
  test(`warnings of finalizer ${finalizer}`, () => {
    assert.deepEqual(
      made.strategy.warnings({ metadata: { finalizers: [finalizer] } }, undefined, testContext),
      warnings,
    );
  });
}

test("changes the apiVersion only, when a webhook converts", () => {
  const converted = structuredClone(definition);
  converted.spec.conversion = { strategy: "Webhook" };
  const kind = customDefinition(converted, { objectRules });
  assert.deepEqual(
    kind?.versions.map(({ version, conversion }) => [version, conversion === undefined, conversion?.losses]),
    [
      ["v1", true, undefined],
      ["v1alpha1", false, undefined],
    ],
  );
  assert.equal(kind?.converter?.schemaOf("example.com/v1alpha1"), kind?.versions[1]?.schema);
  assert.equal(kind?.converter?.schemaOf("example.com/v9"), undefined);
});
