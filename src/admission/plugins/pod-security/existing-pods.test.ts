/** The limits of the evaluation of existing pods; its warnings are in the recorded requests. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { ResourceStore } from "../../../catalog/contract.ts";
import { latest } from "../../../lib/pod-security/levels.ts";
import { existingPodWarnings } from "./existing-pods.ts";

const uidOf = (owner: string): object[] =>
  owner === "" ? [] : [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: owner, uid: owner, controller: true }];

const pod = (name: string, { owner = "", hostPID = false, runtimeClassName = "" } = {}): KubeObject =>
  ({
    metadata: { name, ownerReferences: uidOf(owner) },
    spec: { hostPID, containers: [{ name: "a" }], ...(runtimeClassName !== "" && { runtimeClassName }) },
  }) as unknown as KubeObject;

/** A store of pods in the order of their names. */
function storeOf(pods: readonly KubeObject[]): ResourceStore {
  const snapshot = { range: () => pods.values(), count: () => pods.length };
  return {
    cache: { ready: async () => {}, current: async () => snapshot },
    keyOf: () => "",
    decode: (entry: KubeObject) => entry,
  } as unknown as ResourceStore;
}

/** @param msPerRead how much the time advances with each check of the clock */
async function warnings(pods: readonly KubeObject[], { msPerRead = 0, endsAt = 1e9 } = {}): Promise<string[]> {
  let now = 0;
  const clock = { now: () => (now += msPerRead) } as unknown as Parameters<typeof existingPodWarnings>[0]["clock"];
  const enforce = { level: "baseline", version: latest } as const;
  const exemptRuntimeClasses = new Set(["exempt"]);
  return existingPodWarnings({ store: storeOf(pods), namespace: "ns", enforce, exemptRuntimeClasses, clock, endsAt });
}

const many = (count: number, fields: Parameters<typeof pod>[1] = {}): KubeObject[] =>
  Array.from({ length: count }, (_, index) => pod(`pod-${String(index).padStart(5, "0")}`, fields));
const violation = 'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"';
const partly = (checked: number, total: number): string =>
  `new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`;

test("reports nothing for pods that are allowed", async () => assert.deepEqual(await warnings(many(3000)), []));

test("evaluates at most 3000 pods", async () => {
  const pods = [...many(3000), pod("z", { hostPID: true })];
  assert.deepEqual(await warnings(pods), [partly(3000, 3001)]);
});

test("evaluates one pod of each controller before further pods", async () => {
  const pods = [...many(5000, { owner: "a" }), pod("z", { owner: "b", hostPID: true })];
  assert.deepEqual(await warnings(pods), [partly(3000, 5001), violation, "z: host namespaces"]);
});

test("does not count pods with an exempt runtime class", async () => {
  const pods = [...many(10, { runtimeClassName: "exempt", hostPID: true }), ...many(3000)];
  assert.deepEqual(await warnings(pods), []);
});

test("stops after a second", async () => {
  const [first, ...others] = await warnings(many(100, { hostPID: true }), { msPerRead: 100 });
  assert.deepEqual([first, ...others], [partly(10, 100), violation, "pod-00000 (and 9 other pods): host namespaces"]);
});

test("stops after half of the remaining time of the request", async () => {
  assert.deepEqual(await warnings(many(100), { msPerRead: 100, endsAt: 1100 }), [partly(5, 100)]);
});

test("evaluates one pod when the time is over", async () => {
  assert.deepEqual(await warnings(many(2), { msPerRead: 100, endsAt: 0 }), [partly(1, 2)]);
});
