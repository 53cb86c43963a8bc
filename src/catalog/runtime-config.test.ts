import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinVersions } from "./builtin-definitions.ts";
import { parseRuntimeConfig } from "./runtime-config.ts";

const known = builtinVersions();
const parse = (text: string) => parseRuntimeConfig(text, known);

const rows: [text: string, version: string, resource: string, served: boolean][] = [
  ["", "/v1", "pods", true],
  ["", "apps/v1", "deployments", true],
  ["", "networking.k8s.io/v1beta1", "ipaddresses", false],
  ["", "internal.apiserver.k8s.io/v1alpha1", "storageversions", false],
  ["", "apps/v1", "nothing", false],
  ["apps/v1=false", "apps/v1", "deployments", false],
  ["apps/v1=false", "batch/v1", "jobs", true],
  ["networking.k8s.io/v1beta1", "networking.k8s.io/v1beta1", "ipaddresses", true],
  ["networking.k8s.io/v1beta1=true", "networking.k8s.io/v1beta1", "ipaddresses", true],
  ["networking.k8s.io/v1beta1=1", "networking.k8s.io/v1beta1", "ipaddresses", true],
  ["networking.k8s.io/v1beta1/ipaddresses", "networking.k8s.io/v1beta1", "ipaddresses", true],
  ["networking.k8s.io/v1beta1/ipaddresses", "networking.k8s.io/v1beta1", "servicecidrs", false],
  ["apps/v1=false,apps/v1/deployments=true", "apps/v1", "deployments", true],
  ["apps/v1/deployments=true,apps/v1=false", "apps/v1", "deployments", true],
  ["apps/v1/deployments=true,apps/v1=false", "apps/v1", "daemonsets", false],
  ["api/all=false,apps/v1", "apps/v1", "deployments", true],
  ["api/all=false,apps/v1", "/v1", "pods", false],
  ["api/all=false,v1", "/v1", "pods", true],
  ["api/v1/pods=false,v1/secrets=false", "/v1", "pods", false],
  ["api/v1/pods=false,v1/secrets=false", "/v1", "secrets", false],
  ["api/all=false,api/v1=true", "/v1", "pods", true],
  ["api/all=false,api/ga=true", "/v1", "pods", true],
  ["api/ga=false", "/v1", "pods", false],
  ["api/beta=true", "networking.k8s.io/v1beta1", "servicecidrs", true],
  ["api/beta=true", "resource.k8s.io/v1beta1", "resourceclaims", true],
  ["api/beta=true,networking.k8s.io/v1beta1=false", "networking.k8s.io/v1beta1", "servicecidrs", false],
  ["api/alpha=true", "coordination.k8s.io/v1alpha2", "leasecandidates", true],
  [" api/alpha = true , ", "coordination.k8s.io/v1alpha2", "leasecandidates", true],
  ["apps/v1/nope", "apps/v1", "nope", false],
  ["extensions/v1beta1=true", "extensions/v1beta1", "ingresses", false],
  ["policy/v1beta1=true,batch/v1beta1", "policy/v1", "poddisruptionbudgets", true],
  ["api/legacy=false", "/v1", "pods", true],
  ["api/all=true", "storagemigration.k8s.io/v1beta1", "storageversionmigrations", true],
];
for (const [text, groupVersion, resource, served] of rows) {
  test(`--runtime-config=${text}: ${groupVersion}/${resource} is ${served ? "" : "not "}served`, () => {
    const [group = "", version = ""] = groupVersion.split("/");
    assert.equal(parse(text).serves(group, version, resource), served);
  });
}

const errors: [text: string, message: string][] = [
  ["api/all=false", "invalid runtime-config with only api/all=false"],
  ["apps/v1=maybe", 'invalid value of apps/v1: maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax'],
  ["apps", "runtime-config invalid key apps"],
  ["apps/v1/deployments/status", "runtime-config invalid key apps/v1/deployments/status"],
  ["example.com/v1", "unknown api groups example.com/v1"],
  ["foo/v1=true,apps/v9,bar/v2", "unknown api groups bar/v2,foo/v1"],
  ["api/all=1", "invalid value api/all=1"],
  ["api/beta", "invalid value api/beta="],
  ["=true", "runtime-config invalid key "],
  ["apps/__internal", "group version apps/__internal that has not been registered"],
  ["apps/v9", "group version apps/v9 that has not been registered"],
  ["api/v2", "unknown api groups api/v2"],
  [
    "apps/v1/Deployment",
    'invalid key apps/v1/Deployment: group/version/resource and resource is always lowercase plural, not "Deployment"',
  ],
];
for (const [text, message] of errors) {
  test(`--runtime-config=${text} is rejected`, () => assert.throws(() => parse(text), { message }));
}
