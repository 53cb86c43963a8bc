/** Stored custom resources, hostile values, and what entries are made of foreign values. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cborWords, type Dictionary, jsonWords, messageWords, mutate } from "../../test/support/mutate.ts";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { systemClock } from "../apimachinery/clock.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { customDefinition } from "../apis/apiextensions/custom-definition.ts";
import { builtinConversions, builtinStrategies, storedConversions } from "../apis/index.ts";
import { encodeAnyCbor } from "../lib/cbor/encode.ts";
import { encodeProtobuf } from "../lib/protobuf/encode.ts";
import { wrapInEnvelope } from "../lib/protobuf/envelope.ts";
import type { Storage } from "../storage/contract.ts";
import { entryFromStored } from "../watch-cache/entry.ts";
import { isReadFailure } from "../watch-cache/unreadable.ts";
import { builtinDefinitions } from "./builtin-definitions.ts";
import type { ResourceDefinition, ResourceStore } from "./contract.ts";
import { createInstaller } from "./install.ts";

const installer = createInstaller({ storageOf: () => ({}) as Storage, clock: systemClock });
const definitions = builtinDefinitions({
  strategies: builtinStrategies,
  conversions: builtinConversions,
  storedConversions,
  served: { serves: () => true },
});

function storeOf(definition: ResourceDefinition | undefined): ResourceStore {
  assert.ok(definition !== undefined);
  return installer.install(definition).store as ResourceStore;
}

const configMaps = storeOf(definitions.find(({ resource }) => resource === "configmaps"));

const schema = {
  openAPIV3Schema: {
    type: "object",
    properties: { spec: { type: "object", properties: { size: { type: "integer", default: 3 } } } },
  },
} as const;
const names = { plural: "ts", singular: "t", kind: "T", listKind: "TList" };
const things = storeOf(
  customDefinition(
    {
      metadata: { name: "ts.example.com" },
      spec: {
        group: "example.com",
        names,
        scope: "Namespaced",
        versions: ["v1", "v2"].map((name) => ({ name, served: true, storage: name === "v2", schema })),
      },
      status: { acceptedNames: names },
    } as unknown as KubeObject,
    { objectRules: undefined },
  ),
);

function read(store: ResourceStore, value: Buffer): unknown {
  const key = store.keyOf("ns", "a");
  return JSON.parse(entryFromStored({ key, revision: 7, value }, store.source).json.toString());
}

const thing = { apiVersion: "example.com/v1", kind: "T", metadata: { name: "a" }, spec: { unknown: 1 } };
const shown = {
  ...thing,
  apiVersion: "example.com/v2",
  metadata: { name: "a", resourceVersion: "7" },
  spec: { size: 3 },
};

for (const [encoding, value] of [
  ["JSON", Buffer.from(JSON.stringify(thing))],
  ["JSON with a final newline", Buffer.from(`${JSON.stringify(thing)}\n`)],
  ["CBOR", encodeAnyCbor(thing)],
] as const) {
  test(`reads a custom resource stored as ${encoding} at another version`, () => {
    assert.deepEqual(read(things, value), shown);
  });
}

test("an object without metadata has the name in its key", () => {
  const message = encodeProtobuf({ data: { a: "b" } }, configMaps.form.schema);
  const object = read(configMaps, wrapInEnvelope("v1", "ConfigMap", message));
  assert.deepEqual(object, {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { name: "a", namespace: "ns", resourceVersion: "7" },
    data: { a: "b" },
  });
});

const services = storeOf(definitions.find(({ group, resource }) => group === "" && resource === "services"));
const oldServices: [stored: object, shown: object][] = [
  [{ clusterIP: "10.0.0.9" }, { clusterIPs: ["10.0.0.9"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" }],
  [{ clusterIP: "fd00::9" }, { clusterIPs: ["fd00::9"], ipFamilies: ["IPv6"], ipFamilyPolicy: "SingleStack" }],
  [{ clusterIP: "None" }, { clusterIPs: ["None"], ipFamilies: undefined }],
  [
    { type: "ExternalName", externalName: "a", internalTrafficPolicy: "Cluster" },
    { clusterIPs: undefined, internalTrafficPolicy: undefined },
  ],
];
for (const [stored, want] of oldServices) {
  test(`completes a Service of an older release: ${JSON.stringify(stored)}`, () => {
    const object = { apiVersion: "v1", kind: "Service", metadata: { name: "a" }, spec: stored };
    const { spec } = read(services, Buffer.from(JSON.stringify(object))) as { spec: Record<string, unknown> };
    assert.deepEqual(Object.fromEntries(Object.keys(want).map((field) => [field, spec[field]])), want);
  });
}

const failures: [what: string, store: ResourceStore, value: Buffer, message: RegExp][] = [
  ["an encrypted object", configMaps, Buffer.from("k8s:enc:aescbc:v1:key1:xyz"), /^identity transformer tried to read/],
  ["an encrypted custom resource", things, Buffer.from("k8s:enc:secretbox:v1:k:x"), /^identity transformer tried to/],
  ["a custom resource in protobuf", things, wrapInEnvelope("v1", "T", Buffer.alloc(0)), /^invalid character 'k'/],
  ["a custom resource in damaged CBOR", things, encodeAnyCbor(thing).subarray(0, 20), /EOF/],
  ["deep JSON", configMaps, Buffer.from(`{"a":${"[".repeat(20_000)}`), /max depth/],
  ["a YAML bomb", configMaps, Buffer.from(yamlBomb()), /^illegal base64/],
];

function yamlBomb(): string {
  const levels = Array.from({ length: 12 }, (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level},`.repeat(9)}]`);
  return `a0: &a0 [x]\n${levels.join("\n")}\n`;
}

for (const [what, store, value, message] of failures) {
  test(`reports ${what}`, () => {
    assert.throws(
      () => read(store, value),
      (error) => isReadFailure(error) && message.test(error.message),
    );
  });
}

test("damaged values of every encoding are decoded or reported", () => {
  const random = seededRandom(seed);
  const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" }, data: { a: "b", c: "é" } };
  const protobuf = wrapInEnvelope("v1", "ConfigMap", encodeProtobuf(object, configMaps.form.schema));
  const json = Buffer.from(JSON.stringify(object));
  const values: [ResourceStore, Buffer, Dictionary][] = [
    [configMaps, protobuf, messageWords],
    [configMaps, json, jsonWords],
    [configMaps, Buffer.from(protobuf.toString("base64")), jsonWords],
    [things, encodeAnyCbor(thing), cborWords],
    [things, Buffer.from(JSON.stringify(thing)), jsonWords],
  ];
  for (let count = 0; count < 3000; count++) {
    const [store, value, words] = values[count % values.length] as (typeof values)[number];
    const damaged = mutate(value, { others: [value], words, random });
    try {
      read(store, damaged);
    } catch (error) {
      assert.ok(isReadFailure(error), `${damaged.toString("base64")}: ${error}`);
    }
  }
});
