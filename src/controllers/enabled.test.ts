import assert from "node:assert/strict";
import { test } from "node:test";
import { absentControllers } from "./absent.ts";
import { enabledControllers } from "./enabled.ts";

const protection = [
  "persistentvolume-protection-controller",
  "persistentvolumeclaim-protection-controller",
  "podgroup-protection-controller",
];
const rest = [
  "resourcequota-controller",
  "root-ca-certificate-publisher-controller",
  "service-cidr-controller",
  "serviceaccount-controller",
  "serviceaccount-token-controller",
  "storage-version-migrator-controller",
  "storageversion-garbage-collector-controller",
];
const last = ["validatingadmissionpolicy-status-controller", "volumeattributesclass-protection-controller"];
const rows: [list: string, enabled: readonly string[]][] = [
  [
    "*",
    [
      "clusterrole-aggregation-controller",
      "garbage-collector-controller",
      "legacy-serviceaccount-token-cleaner-controller",
      "namespace-controller",
      ...protection,
      ...rest,
      ...last,
    ],
  ],
  ["", []],
  ["-deployment-controller,-job,-ttl", []],
  ["svm,storage-version-gc", rest.slice(-2)],
  [
    "-namespace-controller,*",
    [
      "clusterrole-aggregation-controller",
      "garbage-collector-controller",
      "legacy-serviceaccount-token-cleaner-controller",
      ...protection,
      ...rest,
      ...last,
    ],
  ],
  ["namespace-controller", ["namespace-controller"]],
  ["pv-protection,pvc-protection", protection.slice(0, 2)],
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
      ...protection,
      ...rest,
      "token-cleaner-controller",
      ...last,
    ],
  ],
];

for (const [list, enabled] of rows) {
  test(`--controllers=${list}`, () =>
    assert.deepEqual([...enabledControllers(list.split(",").filter(Boolean))], enabled));
}

const unknown = "is not in the list of known controllers";
const absent = "cannot be enabled: this server does not have it";
const rejectedRows: [list: string[], message: string][] = [
  [["*", "-foo"], `"foo" ${unknown}`],
  [["foo", "-foo"], `"foo" ${unknown}`],
  [["--namespace"], `"-namespace" ${unknown}`],
  [["-*"], `"*" ${unknown}`],
  [["namespace", ""], `"" ${unknown}`],
  [["foo", "*", "bar"], `["foo" ${unknown}, "bar" ${unknown}]`],
  [["constructor"], `"constructor" ${unknown}`],
  [["deployment-controller"], `"deployment-controller" ${absent}`],
  [["*", "job"], `"job" ${absent}`],
];
for (const [list, message] of rejectedRows) {
  test(`rejects --controllers=${list.join(",")}`, () => assert.throws(() => enabledControllers(list), { message }));
}

test("each controller of kube-controller-manager has one name, or is absent", () => {
  for (const name of enabledControllers(["*", "bootstrap-signer-controller", "token-cleaner-controller"]))
    assert.ok(!absentControllers.has(name), name);
});
