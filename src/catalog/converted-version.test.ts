/** Entries that a converter converts: the size and number of its requests. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { systemClock } from "../apimachinery/clock.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { customDefinition } from "../apis/apiextensions/custom-definition.ts";
import { openMemoryStorage } from "../storage/memory.ts";
import { valueBytesMaxDefault } from "../storage/options.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { entryFromStored } from "../watch-cache/entry.ts";
import { openCatalog } from "./catalog.ts";
import type { ConvertedVersion, Resolved } from "./contract.ts";
import { isAtVersion } from "./converted-version.ts";
import type { Converted } from "./converter.ts";
import { createInstaller } from "./install.ts";

const storage = await openMemoryStorage({
  clock: systemClock,
  historyMs: 1000,
  historyBytesMax: 1 << 20,
  valueBytesMax: valueBytesMaxDefault,
});
after(() => storage.close());

/** For each request: the number of objects, and what they are called. */
let asked: [objects: number, what: Converted][] = [];
let fails = false;
let mark = 0;
const target = open("v2");

function open(version: string): Resolved & { readonly converted: ConvertedVersion } {
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    },
  } as const;
  const names = { plural: "ts", singular: "t", kind: "T", listKind: "TList" };
  const versions = ["v1", "v2"].map((name) => ({ name, served: true, storage: name === "v1", schema }));
  const conversion = { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"] } };
  const object = {
    metadata: { name: "ts.example.com" },
    spec: { group: "example.com", names, scope: "Namespaced", conversion, versions },
    status: { acceptedNames: names },
  };
  const made = customDefinition(object as unknown as KubeObject, { objectRules: undefined });
  assert.ok(made?.converter);
  const converter = {
    ...made.converter,
    async convert(objects: readonly Buffer[], apiVersion: string, what: Converted): Promise<KubeObject[]> {
      asked.push([objects.length, what]);
      if (fails) throw new Error("down");
      return objects.map((json) => ({ ...JSON.parse(json.toString()), apiVersion, spec: { mark } }));
    },
  };
  const { install } = createInstaller({ storageOf: () => storage, clock: systemClock });
  const resolved = openCatalog([{ ...made, converter }], install).find("example.com", version, "ts");
  assert.ok(resolved?.converted);
  return { ...resolved, converted: resolved.converted };
}

function entry(name: string, version = "v1", padding = 0): Entry {
  const value = {
    apiVersion: `example.com/${version}`,
    kind: "T",
    metadata: { name, namespace: "ns" },
    spec: { padding: "x".repeat(padding) },
  };
  const source = target.resource.store?.source;
  assert.ok(source);
  return entryFromStored(
    { key: `/registry/example.com/ts/ns/${name}`, revision: 7, value: Buffer.from(JSON.stringify(value)) },
    source,
  );
}

const rows: [what: string, entries: Entry[], asked: [number, Converted][]][] = [
  ["one", [entry("a")], [[1, "object"]]],
  ["two", [entry("a"), entry("b")], [[2, "list"]]],
  ["one at the version", [entry("a", "v2")], []],
  ["some at the version", [entry("a", "v2"), entry("b"), entry("c", "v2")], [[1, "object"]]],
  [
    "many",
    Array.from({ length: 600 }, (_, index) => entry(`m${index}`)),
    [
      [250, "list"],
      [250, "list"],
      [100, "list"],
    ],
  ],
  [
    "large ones",
    [entry("a", "v1", 200_000), entry("b", "v1", 200_000), entry("c")],
    [
      [1, "object"],
      [2, "list"],
    ],
  ],
];

for (const [what, entries, want] of rows) {
  test(`converts to another version: ${what}`, async () => {
    asked = [];
    const shown = await target.converted.show(entries);
    assert.deepEqual(asked, want);
    assert.deepEqual(
      shown.map(({ key, revision }) => [key, revision]),
      entries.map(({ key, revision }) => [key, revision]),
    );
    for (const { json } of shown) assert.ok(isAtVersion(json, "example.com/v2"));
    assert.match((shown[0] as Entry).json.toString(), /"resourceVersion":"7"/);
    asked = [];
    assert.deepEqual(await target.converted.show(entries), shown);
    assert.deepEqual(asked, []); // The conversions are cached.
  });
}

test("converts an entry once for duplicates and concurrent requests", async () => {
  asked = [];
  const one = entry("twice");
  const [first, second] = await Promise.all([
    target.converted.show([one, one], { list: true }),
    target.converted.show([one]),
  ]);
  assert.deepEqual([asked, first?.[0] === first?.[1], first?.[0] === second?.[0]], [[[1, "list"]], true, true]);
});

test("converts again after a failure", async () => {
  const one = entry("fails");
  fails = true;
  await assert.rejects(async () => target.converted.show([one]), { message: "down" });
  fails = false;
  asked = [];
  await target.converted.show([one]);
  assert.deepEqual(asked, [[1, "object"]]);
});

test("a read that converts again keeps the cached conversions", async () => {
  const one = entry("fresh");
  mark = 1;
  await target.converted.show([one]);
  mark = 2;
  assert.match((await target.converted.showReconverted(one)).json.toString(), /"mark":2/);
  assert.match(((await target.converted.show([one]))[0] as Entry).json.toString(), /"mark":1/);
});

test("finds the apiVersion after other keys", () => {
  const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));
  assert.equal(isAtVersion(json({ aaa: "x", apiVersion: "example.com/v2" }), "example.com/v2"), true);
  assert.equal(isAtVersion(json({ apiVersion: "example.com/v22", kind: "T" }), "example.com/v2"), false);
  assert.equal(
    isAtVersion(json({ apiVersion: "example.com/v1", spec: { apiVersion: "example.com/v2" } }), "example.com/v2"),
    false,
  );
});
