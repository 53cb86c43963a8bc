/**
 * Deprecated versions over the wire: the warning, the audit annotation, the metric. Source:
 * Kubernetes docs, Kubernetes Deprecation Policy; KEP-1693.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { builtinConversions } from "../../src/apis/index.ts";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import { builtinDefinitions, builtinVersions } from "../../src/catalog/builtin-definitions.ts";
import { parseRuntimeConfig } from "../../src/catalog/runtime-config.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-deprecation-"));
const policyFile = join(directory, "policy.yaml");
const log = join(directory, "audit.log");
writeFileSync(
  policyFile,
  "{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [{level: Metadata}]}",
);
const runtimeConfig = "api/all=true";

const { server, client: admin } = await startServerWithClient({
  runtimeConfig,
  featureGates: "ClusterTrustBundle=true",
  audit: { ...defaultAuditOptions, policyFile, log: { ...defaultAuditOptions.log, path: log } },
});
after(() => rmSync(directory, { recursive: true, force: true }));

/**
 * Versions that are deprecated in 1.36 and can be served. Source: the lifecycle methods in
 * k8s.io/api@v0.36.0.
 */
const rows: [groupVersion: string, resource: string, warning: string, removedIn: string][] = [
  ["v1", "componentstatuses", "v1 ComponentStatus is deprecated in v1.19+", ""],
  ["v1", "endpoints", "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice", ""],
  [
    "admissionregistration.k8s.io/v1alpha1",
    "mutatingadmissionpolicies",
    "admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy is deprecated in v1.35+, unavailable in v1.38+",
    "1.38",
  ],
  [
    "admissionregistration.k8s.io/v1alpha1",
    "mutatingadmissionpolicybindings",
    "admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding is deprecated in v1.35+, unavailable in v1.38+",
    "1.38",
  ],
  [
    "certificates.k8s.io/v1alpha1",
    "clustertrustbundles",
    "certificates.k8s.io/v1alpha1 ClusterTrustBundle is deprecated in v1.34+, unavailable in v1.37+",
    "1.37",
  ],
  [
    "coordination.k8s.io/v1alpha2",
    "leasecandidates",
    "coordination.k8s.io/v1alpha2 LeaseCandidate is deprecated in v1.35+, unavailable in v1.38+",
    "1.38",
  ],
  [
    "coordination.k8s.io/v1beta1",
    "leasecandidates",
    "coordination.k8s.io/v1beta1 LeaseCandidate is deprecated in v1.36+, unavailable in v1.39+",
    "1.39",
  ],
  [
    "networking.k8s.io/v1beta1",
    "ipaddresses",
    "networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+",
    "1.37",
  ],
  [
    "networking.k8s.io/v1beta1",
    "servicecidrs",
    "networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+",
    "1.37",
  ],
  [
    "resource.k8s.io/v1alpha3",
    "devicetaintrules",
    "resource.k8s.io/v1alpha3 DeviceTaintRule is deprecated in v1.36+, unavailable in v1.39+",
    "1.39",
  ],
  [
    "resource.k8s.io/v1beta1",
    "deviceclasses",
    "resource.k8s.io/v1beta1 DeviceClass is deprecated in v1.35+, unavailable in v1.38+",
    "1.38",
  ],
  [
    "resource.k8s.io/v1beta1",
    "resourceclaims",
    "resource.k8s.io/v1beta1 ResourceClaim is deprecated in v1.35+, unavailable in v1.38+",
    "1.38",
  ],
  [
    "resource.k8s.io/v1beta1",
    "resourceclaimtemplates",
    "resource.k8s.io/v1beta1 ResourceClaimTemplate is deprecated in v1.35+, unavailable in v1.38+",
    "1.38",
  ],
  [
    "resource.k8s.io/v1beta1",
    "resourceslices",
    "resource.k8s.io/v1beta1 ResourceSlice is deprecated in v1.35+, unavailable in v1.38+",
    "1.38",
  ],
  [
    "resource.k8s.io/v1beta2",
    "deviceclasses",
    "resource.k8s.io/v1beta2 DeviceClass is deprecated in v1.36+, unavailable in v1.39+",
    "1.39",
  ],
  [
    "resource.k8s.io/v1beta2",
    "resourceclaims",
    "resource.k8s.io/v1beta2 ResourceClaim is deprecated in v1.36+, unavailable in v1.39+",
    "1.39",
  ],
  [
    "resource.k8s.io/v1beta2",
    "resourceclaimtemplates",
    "resource.k8s.io/v1beta2 ResourceClaimTemplate is deprecated in v1.36+, unavailable in v1.39+",
    "1.39",
  ],
  [
    "resource.k8s.io/v1beta2",
    "resourceslices",
    "resource.k8s.io/v1beta2 ResourceSlice is deprecated in v1.36+, unavailable in v1.39+",
    "1.39",
  ],
  [
    "storage.k8s.io/v1beta1",
    "volumeattributesclasses",
    "storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass",
    "1.37",
  ],
];

test("the table has every deprecated version that can be served", () => {
  const existing = builtinVersions().filter(({ removed }) => removed === undefined);
  const served = parseRuntimeConfig(runtimeConfig, existing);
  const deprecated = builtinDefinitions({ strategies: {}, conversions: builtinConversions, served }).flatMap(
    ({ group, resource, versions }) =>
      versions
        .filter((version) => version.served && version.deprecated !== undefined)
        .map(({ version }) => `${group === "" ? "" : `${group}/`}${version} ${resource}`),
  );
  assert.deepEqual(deprecated.sort(), rows.map(([groupVersion, resource]) => `${groupVersion} ${resource}`).sort());
});

let requests = 0;

/** @returns the warnings of the answer and the annotations of its audit event */
async function answered(
  path: string,
  method = "GET",
  body?: object,
): Promise<{ warnings: string[]; annotations: Record<string, string> }> {
  const id = `deprecation-${requests++}`;
  const answer = await admin.send({ method, path, headers: { "audit-id": id }, ...(body !== undefined && { body }) });
  assert.notEqual(answer.status, 0);
  const warnings = [answer.headers.warning ?? []].flat();
  const event = readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line.includes(`"${id}"`))
    .map((line) => JSON.parse(line))
    .at(-1);
  return { warnings, annotations: event.annotations };
}

for (const [groupVersion, resource, warning, removedIn] of rows) {
  test(`warns about, annotates and counts requests of ${groupVersion} ${resource}`, async () => {
    const root = groupVersion.includes("/") ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
    const { body } = await admin.send({ path: root });
    const { namespaced, verbs } = body.resources.find(({ name }: { name: string }) => name === resource);
    const one = `${root}/${namespaced ? "namespaces/default/" : ""}${resource}/none`;
    for (const [method, path] of [
      ["GET", `${root}/${resource}`],
      ["GET", one],
      ["DELETE", one],
    ] as const) {
      const { warnings, annotations } = await answered(path, method);
      if (!verbs.includes(method.toLowerCase())) {
        assert.deepEqual(warnings, []); // The answer is 405.
        continue;
      }
      assert.deepEqual(warnings, [`299 - "${warning}"`], `${method} ${path}`);
      assert.deepEqual(
        [annotations["k8s.io/deprecated"], annotations["k8s.io/removed-release"] ?? ""],
        ["true", removedIn],
      );
    }
    const [version = "", group = ""] = groupVersion.split("/").reverse();
    const series = `apiserver_requested_deprecated_apis{group="${group}",version="${version}",resource="${resource}",subresource="",removed_release="${removedIn}"} 1\n`;
    assert.ok((await admin.send({ path: "/metrics" })).text.includes(series), series);
  });
}

test("warns about and annotates a watch of a deprecated version", async () => {
  const { warnings, annotations } = await answered("/api/v1/endpoints?watch=1&timeoutSeconds=1");
  assert.equal(warnings.length, 1);
  assert.equal(annotations["k8s.io/deprecated"], "true");
});

for (const kubectl of kubectls()) {
  test(`${kubectl} shows the warning, and fails with --warnings-as-errors`, async () => {
    const { kubeconfigPath, directory: home } = server;
    const run = (...args: string[]): ReturnType<typeof runKubectl> =>
      runKubectl(kubectl, args, { directory: home, kubeconfigPath });
    const shown = await run("get", "endpoints", "-A");
    assert.equal(shown.code, 0);
    assert.match(
      shown.output,
      /^Warning: v1 Endpoints is deprecated in v1\.33\+; use discovery\.k8s\.io\/v1 EndpointSlice$/m,
    );
    assert.notEqual((await run("get", "endpoints", "-A", "--warnings-as-errors")).code, 0);
  });
}

test("a version that is not deprecated has no warning, annotation or metric", async () => {
  const { warnings, annotations } = await answered("/api/v1/configmaps");
  assert.deepEqual([warnings, "k8s.io/deprecated" in annotations], [[], false]);
  assert.ok(
    !(await admin.send({ path: "/metrics" })).text.includes(
      'apiserver_requested_deprecated_apis{group="",version="v1",resource="configmaps"',
    ),
  );
});
