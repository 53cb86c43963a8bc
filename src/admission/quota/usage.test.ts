/** What objects use that the recorded requests of the plugin do not cover: ended pods, and claims of pods. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFeatureGates } from "../../apimachinery/feature-gates.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { formatAmounts } from "./amounts.ts";
import type { ClaimRelations } from "./contract.ts";
import { createEvaluators } from "./evaluators.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const { gates } = parseFeatureGates("");
const noRelations: ClaimRelations = {
  extendedResourceOf: () => undefined,
  hasClassFor: () => false,
  podOf: () => undefined,
};

function usageOf(resource: string, object: KubeObject, relations = noRelations): Record<string, string> {
  const [group = "", name = ""] = resource.split("/");
  const evaluator = createEvaluators({ clock: { now: () => now }, gates, relations }).of(group, name);
  assert.ok(evaluator);
  return formatAmounts(evaluator.usageOf(object));
}

const container = { name: "a", resources: { requests: { cpu: "1", "example.com/gpu": "1" } } };
const ended = { "count/pods": "1" };
const running = { cpu: "1", pods: "1", "count/pods": "1", "requests.cpu": "1", "requests.example.com/gpu": "1" };
const deleted = (at: string): KubeObject["metadata"] => ({ deletionTimestamp: at, deletionGracePeriodSeconds: 30 });

const podRows: [what: string, metadata: KubeObject["metadata"], status: object, want: Record<string, string>][] = [
  ["without a phase", {}, {}, running],
  ["that runs", {}, { phase: "Running" }, running],
  ["that succeeded", {}, { phase: "Succeeded" }, ended],
  ["that failed", {}, { phase: "Failed" }, ended],
  ["in its grace period", deleted("2025-12-31T23:59:30Z"), {}, running],
  ["whose grace period is over", deleted("2025-12-31T23:59:29Z"), {}, ended],
];
for (const [what, metadata, status, want] of podRows)
  test(`a pod ${what} uses ${Object.keys(want).length} resources`, () => {
    assert.deepEqual(usageOf("/pods", { metadata, spec: { containers: [container] }, status }), want);
  });

const resized = (spec: string, status: string, allocated: string, reason?: string): KubeObject => ({
  metadata: {},
  spec: { containers: [{ name: "a", resources: { requests: { cpu: spec } } }] },
  status: {
    conditions: reason === undefined ? [] : [{ type: "PodResizePending", status: "True", reason }],
    containerStatuses: [
      { name: "a", allocatedResources: { cpu: allocated }, resources: { requests: { cpu: status } } },
    ],
  },
});
const resizeRows: [spec: string, status: string, allocated: string, reason: string | undefined, want: string][] = [
  ["1", "2", "3", undefined, "3"],
  ["3", "2", "1", undefined, "3"],
  ["1", "3", "2", "Deferred", "3"],
  ["3", "1", "2", "Infeasible", "2"],
];
for (const [spec, status, allocated, reason, want] of resizeRows)
  test(`a pod that requests ${spec}, has ${status} and ${allocated} allocated uses ${want} (${reason})`, () => {
    assert.equal(usageOf("/pods", resized(spec, status, allocated, reason))["requests.cpu"], want);
  });

const pod: KubeObject = { metadata: {}, spec: { containers: [container] } };
const claim: KubeObject = {
  metadata: {},
  spec: { devices: { requests: [{ exactly: { deviceClassName: "gpu", allocationMode: "ExactCount", count: 3 } }] } },
};
const counted = { "count/resourceclaims.resource.k8s.io": "1", "gpu.deviceclass.resource.k8s.io/devices": "3" };
const implicit = "requests.deviceclass.resource.kubernetes.io/gpu";
const ofClass = { ...noRelations, extendedResourceOf: () => "example.com/gpu" };

const claimRows: [what: string, relations: ClaimRelations, want: Record<string, string>][] = [
  ["of a plain device class", noRelations, { ...counted, [implicit]: "3" }],
  ["of a class with an extended resource", ofClass, { ...counted, [implicit]: "3", "requests.example.com/gpu": "3" }],
  [
    "of a pod that is charged for one of three",
    { ...ofClass, podOf: () => pod },
    { ...counted, [implicit]: "3", "requests.example.com/gpu": "2" },
  ],
];
for (const [what, relations, want] of claimRows)
  test(`a claim ${what} uses its devices once`, () => {
    assert.deepEqual(usageOf("resource.k8s.io/resourceclaims", claim, relations), want);
  });

test("quotas do not count events", () => {
  const evaluators = createEvaluators({ clock: { now: () => now }, gates, relations: noRelations });
  assert.deepEqual([evaluators.of("", "events"), evaluators.of("events.k8s.io", "events")], [undefined, undefined]);
});
