import assert from "node:assert/strict";
import { test } from "node:test";
import { enabledControllers } from "./enabled.ts";

const rest = [
  "root-ca-certificate-publisher-controller",
  "serviceaccount-controller",
  "serviceaccount-token-controller",
];
const rows: [list: string, enabled: readonly string[]][] = [
  [
    "*",
    [
      "clusterrole-aggregation-controller",
      "garbage-collector-controller",
      "legacy-serviceaccount-token-cleaner-controller",
      "namespace-controller",
      ...rest,
    ],
  ],
  ["", []],
  [
    "-namespace-controller,*",
    [
      "clusterrole-aggregation-controller",
      "garbage-collector-controller",
      "legacy-serviceaccount-token-cleaner-controller",
      ...rest,
    ],
  ],
  ["namespace-controller", ["namespace-controller"]],
  ["namespace-controller,-namespace-controller", ["namespace-controller"]],
  ["-namespace-controller,namespace-controller", []],
  ["-namespace,namespace-controller", []],
  ["namespace,token-cleaner-controller", ["namespace-controller", "token-cleaner-controller"]],
  [
    "*,bootstrapsigner,tokencleaner",
    [
      "bootstrap-signer-controller",
      "clusterrole-aggregation-controller",
      "garbage-collector-controller",
      "legacy-serviceaccount-token-cleaner-controller",
      "namespace-controller",
      ...rest,
      "token-cleaner-controller",
    ],
  ],
];

for (const [list, enabled] of rows) {
  test(`--controllers=${list}`, () =>
    assert.deepEqual([...enabledControllers(list.split(",").filter(Boolean))], enabled));
}

test("rejects an unknown controller", () => {
  assert.throws(() => enabledControllers(["*", "-foo"]), { message: '"-foo" is not in the list of known controllers' });
});
