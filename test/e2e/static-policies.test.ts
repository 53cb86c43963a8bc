/** Policies from static manifests apply to all requests, those for policies included. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startServerWithClient } from "../support/server-with-client.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-static-policies-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const group = "admissionregistration.k8s.io";
const rule = { apiGroups: [group, ""], apiVersions: ["*"], operations: ["CREATE"], resources: ["*"] };
const manifests = [
  {
    apiVersion: `${group}/v1`,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "named.static.k8s.io" },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: "object.metadata.name != 'forbidden'", message: "has a forbidden name" }],
    },
  },
  {
    apiVersion: `${group}/v1`,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "named.static.k8s.io" },
    spec: { policyName: "named.static.k8s.io", validationActions: ["Deny"] },
  },
];
const staticManifestsDir = join(directory, "manifests");
mkdirSync(staticManifestsDir);
for (const [index, manifest] of manifests.entries())
  writeFileSync(join(staticManifestsDir, `${index}.json`), JSON.stringify(manifest));
const configFile = join(directory, "admission.json");
writeFileSync(
  configFile,
  JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AdmissionConfiguration",
    plugins: [
      {
        name: "ValidatingAdmissionPolicy",
        configuration: {
          apiVersion: "apiserver.config.k8s.io/v1",
          kind: "ValidatingAdmissionPolicyConfiguration",
          staticManifestsDir,
        },
      },
    ],
  }),
);
const { client } = await startServerWithClient({
  featureGates: "ManifestBasedAdmissionControlConfig=true",
  admission: { enable: [], disable: [], configFile },
});

const policy = (name: string): object => ({
  metadata: { name },
  spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "true" }] },
});
const denial =
  "is forbidden: ValidatingAdmissionPolicy 'named.static.k8s.io' with binding 'named.static.k8s.io' denied request: has a forbidden name";

const rows: readonly (readonly [what: string, path: string, body: object, message: string])[] = [
  [
    "a ConfigMap",
    "/api/v1/namespaces/default/configmaps",
    { metadata: { name: "forbidden" } },
    `configmaps "forbidden" ${denial}`,
  ],
  [
    "a policy",
    `/apis/${group}/v1/validatingadmissionpolicies`,
    policy("forbidden"),
    `validatingadmissionpolicies.${group} "forbidden" ${denial}`,
  ],
  ["another policy", `/apis/${group}/v1/validatingadmissionpolicies`, policy("other"), ""],
];

for (const [what, path, body, message] of rows) {
  test(`a static policy ${message === "" ? "allows" : "rejects"} ${what}`, async () => {
    const answer = await client.send({ method: "POST", path, body });
    assert.equal(answer.status === 201 ? "" : answer.body.message, message);
  });
}
