/** Configurations of the plugin, with upstream's errors (config_test.go of the plugin). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseResourceQuotaConfiguration } from "./configuration.ts";

const limited = (fields: string): string => `
limitedResources:
- resource: pods
  matchScopes:
  - {scopeName: PriorityClass, operator: In, values: [cluster-services]}
${fields}`;
const parsed = {
  limited: [
    {
      apiGroup: "",
      resource: "pods",
      matchContains: [],
      matchScopes: [{ scopeName: "PriorityClass", operator: "In", values: ["cluster-services"] }],
    },
  ],
};
const v1 = "kind: ResourceQuotaConfiguration\napiVersion: apiserver.config.k8s.io/v1";
const old = (version: string): string => `kind: Configuration\napiVersion: resourcequota.admission.k8s.io/${version}`;

for (const head of [v1, old("v1beta1"), old("v1alpha1")])
  test(`accepts ${head.replaceAll("\n", ", ")}`, () => {
    assert.deepEqual(parseResourceQuotaConfiguration(Buffer.from(head + limited(""))), parsed);
  });

test("a configuration without resources limits none", () => {
  assert.deepEqual(parseResourceQuotaConfiguration(Buffer.from(v1)), { limited: [] });
});

const rejected: [what: string, text: string, error: RegExp][] = [
  ["nothing", "", /^Object 'Kind' is missing in/],
  ["an unknown kind", '{"kind":"Unknown","apiVersion":"v1"}', /no kind "Unknown" is registered for version "v1"/],
  ["the old kind in the new group", v1.replace("ResourceQuota", ""), /no kind "Configuration" is registered/],
  [
    "an unknown field",
    v1 + limited("  foo: bar"),
    /^strict decoding error: unknown field "limitedResources\[0\].foo"$/,
  ],
  [
    "a repeated field",
    v1 + limited("  resource: pods"),
    /^strict decoding error: .*key "resource" already set in map$/s,
  ],
  [
    "a rule without a resource",
    `${v1}\nlimitedResources: [{apiGroup: apps}]`,
    /^limitedResources\[0\].resource: Required value$/,
  ],
];
for (const [what, text, error] of rejected)
  test(`rejects ${what}`, () => {
    assert.throws(() => parseResourceQuotaConfiguration(Buffer.from(text)), { message: error });
  });
