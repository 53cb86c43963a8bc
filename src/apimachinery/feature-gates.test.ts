import assert from "node:assert/strict";
import { test } from "node:test";
import { readTypesTable } from "../catalog/types-table.ts";
import { binaryMinor, type EffectiveVersion } from "./effective-version.ts";
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

const at33: EffectiveVersion = { emulated: 33, minCompatible: 33 };
const at34: EffectiveVersion = { emulated: 34, minCompatible: 33 };
const emulatedRows: [version: EffectiveVersion, text: string, gate: string, enabled: boolean][] = [
  [at33, "", "WatchList", false],
  [at34, "", "WatchList", true],
  [at33, "", "DynamicResourceAllocation", false],
  [at33, "DynamicResourceAllocation=true", "DynamicResourceAllocation", true],
  [at34, "", "DynamicResourceAllocation", true],
  // Locked by a later release.
  [at34, "DynamicResourceAllocation=false,AllBeta=false", "DynamicResourceAllocation", false],
  // Introduced by a later release.
  [at34, "AllAlpha=true,AllBeta=true", "NodeDeclaredFeatures", false],
];
for (const [version, text, gate, enabled] of emulatedRows) {
  test(`--feature-gates=${text} at 1.${version.emulated}: ${gate} is ${enabled ? "on" : "off"}`, () => {
    assert.equal(parseFeatureGates(text, version).gates.enabled(gate), enabled);
  });
}

const emulatedErrors: [version: EffectiveVersion, text: string, message: string][] = [
  [at34, "Nonsense=true,NodeDeclaredFeatures=true", "unrecognized feature gate: Nonsense"],
  [
    at34,
    "NodeDeclaredFeatures=true,AtomicFIFO=false",
    "[cannot set feature gate NodeDeclaredFeatures to true, feature is PreAlpha at emulated version 1.34, min compatibility version 1.33, cannot set feature gate AtomicFIFO to false, feature is PreAlpha at emulated version 1.34, min compatibility version 1.33]",
  ],
  [at33, "BtreeWatchCache=false", "cannot set feature gate BtreeWatchCache to false, feature is locked to true"],
  [
    at33,
    "DRADeviceTaints=true",
    "DRADeviceTaints is enabled, but depends on features that are disabled: [DynamicResourceAllocation]",
  ],
];
for (const [version, text, message] of emulatedErrors) {
  test(`rejects --feature-gates=${text} at 1.${version.emulated}`, () =>
    assert.throws(() => parseFeatureGates(text, version), { message }));
}

test("warns of alpha gates at an emulated version", () => {
  assert.deepEqual(parseFeatureGates("EnvFiles=true,HPAScaleToZero=true", at34).warnings, [
    "component has alpha features enabled in emulated version, this is unsupported: features=[EnvFiles HPAScaleToZero]",
  ]);
});

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
  const names = knownGates(binaryMinor).map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
});
