import assert from "node:assert/strict";
import { test } from "node:test";
import { readTypesTable } from "../catalog/types-table.ts";
import { knownGates, parseFeatureGates } from "./feature-gates.ts";

const rows: [text: string, gate: string, enabled: boolean][] = [
  ["", "WatchList", true],
  ["", "CBORServingAndStorage", false],
  ["WatchList=false", "WatchList", false],
  [" WatchList = F ,", "WatchList", false],
  ["WatchList=false,WatchList=true", "WatchList", true],
  ["AllAlpha=true", "CBORServingAndStorage", true],
  ["AllAlpha=true", "WatchList", true],
  ["AllBeta=false", "WatchList", false],
  ["AllBeta=false,WatchList=true", "WatchList", true],
  ["AllAlpha=true,AllBeta=true", "WorkloadWithJob", true],
  ["WorkloadWithJob=true,GenericWorkload=true", "WorkloadWithJob", true],
  ["WatchList=true,AllBeta=false", "WatchList", true],
  ["AllBeta=false", "ConsistentListFromCache", true],
  [":,kube:PodCertificateRequest=true", "PodCertificateRequest", true],
  ["ConsistentListFromCache=true", "ConsistentListFromCache", true],
  // Locked upstream, but both states are supported here.
  ["DeclarativeValidation=false", "DeclarativeValidation", false],
  ["AuthorizeWithSelectors=false", "AuthorizeWithSelectors", false],
  ["StructuredAuthenticationConfiguration=false", "StructuredAuthenticationConfiguration", false],
  // Aliases that only fields use.
  ["", "PodCertificateProjection", false],
  ["PodCertificateRequest=true", "PodCertificateProjection", true],
  ["", "CSIStorageCapacity", true],
];
for (const [text, gate, enabled] of rows) {
  test(`--feature-gates=${text}: ${gate} is ${enabled ? "on" : "off"}`, () => {
    assert.equal(parseFeatureGates(text).gates.enabled(gate), enabled);
  });
}

const errorRows: [text: string, message: string][] = [
  ["Nonsense=true", "unrecognized feature gate: Nonsense"],
  ["__proto__=true", "unrecognized feature gate: __proto__"],
  [":X=true", "unrecognized feature gate: X"],
  ["kube:=true", "unrecognized feature gate: "],
  ["x:WatchList=true", "component not registered: x"],
  ["a:b:C=true", "component not registered: a"],
  ["WatchList", "missing bool value for WatchList"],
  ["WatchList=yes", 'invalid value of WatchList=yes, err: strconv.ParseBool: parsing "yes": invalid syntax'],
  [
    "ConsistentListFromCache=false",
    "cannot set feature gate ConsistentListFromCache to false, feature is locked to true",
  ],
  ["SeparateCacheWatchRPC=true", "cannot set feature gate SeparateCacheWatchRPC to true, feature is locked to false"],
  ["WorkloadWithJob=true", "WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]"],
  [
    "APIServerIdentity=false,StorageVersionAPI=true,UnknownVersionInteroperabilityProxy=true",
    "[StorageVersionAPI is enabled, but depends on features that are disabled: [APIServerIdentity], UnknownVersionInteroperabilityProxy is enabled, but depends on features that are disabled: [APIServerIdentity]]",
  ],
];
for (const [text, message] of errorRows) {
  test(`rejects --feature-gates=${text}`, () => assert.throws(() => parseFeatureGates(text), { message }));
}

const warnings: [text: string, expected: readonly string[]][] = [
  ["", []],
  ["AllAlpha=true", []],
  ["WatchList=false", []],
  ["KMSv1=true", ["Setting deprecated feature gate KMSv1=true. It will be removed in a future release."]],
  [
    "DeclarativeValidation=false",
    ["Setting GA feature gate DeclarativeValidation=false. It will be removed in a future release."],
  ],
  ["MemoryQoS=true", ["Feature gate MemoryQoS has no effect in this server."]],
];
for (const [text, expected] of warnings) {
  test(`--feature-gates=${text} returns ${expected.length} warnings`, () =>
    assert.deepEqual(parseFeatureGates(text).warnings, expected));
}

test("enabled() throws an AssertionError for an unknown gate", () => {
  assert.throws(() => parseFeatureGates("").gates.enabled("Nonsense"), { name: "AssertionError" });
});

test("the gates of all fields exist", () => {
  const { gates } = parseFeatureGates("");
  const names = new Set(
    Object.values(readTypesTable()).flatMap(
      ({ fields }) => fields?.flatMap(([, , , , extras]) => extras?.gates ?? []) ?? [],
    ),
  );
  assert.ok(names.size > 30);
  for (const name of names) gates.enabled(name);
});

test("names of gates are unique", () => {
  const names = knownGates().map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
});
