import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ApiError } from "../api/errors.ts";
import type { KubeObject } from "../api/object.ts";
import { loopbackUser } from "../api/system-user.ts";
import type { WriteRequest } from "../registry/contract.ts";
import type { Resolved } from "../resource/contract.ts";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../testing/memory-registry.ts";
import { createActions, refuseConnect } from "./subresources.ts";

const pods: Place = ["/pods", "ns"];
let cluster: MemoryRegistry;

before(async () => {
  cluster = await openMemoryRegistry();
  await cluster.create(["/namespaces", ""], { metadata: { name: "ns" } });
});
after(() => cluster.close());

const createPod = (name: string): Promise<KubeObject> =>
  cluster.create(pods, { metadata: { name, labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } });

async function act(key: string, name: string, body: KubeObject): Promise<void> {
  const target = cluster.registry.catalog.find("", "v1", "pods") as Resolved;
  const common = { namespace: "ns", subresource: key.split("/")[2] ?? "", user: loopbackUser, dryRun: false, warnings: [] };
  const request: WriteRequest = { target, name, ...common, fieldManager: "test", userAgent: "test" };
  await createActions[key]?.(cluster.registry, request, body);
}

/** Rows after a pod `p` was bound to node `n`. */
const refusalRows: [what: string, key: string, name: string, body: KubeObject, want: RegExp][] = [
  [
    "binding: has a node",
    "/pods/binding",
    "p",
    { metadata: { name: "p" }, target: { name: "m" } },
    /^409 .* "p": pod p is already assigned to node "n"$/,
  ],
  [
    "binding: another name",
    "/pods/binding",
    "p",
    { metadata: { name: "q" }, target: { name: "n" } },
    /^400 name in URL does not match name in Binding object$/,
  ],
  ["binding: no target", "/pods/binding", "p", { metadata: { name: "p" } }, /^500 target.name: Required value$/],
  ["binding: no pod", "/bindings", "", { metadata: { name: "none" }, target: { name: "n" } }, /^404 pods "none" not found$/],
  ["eviction: no pod", "/pods/eviction", "none", { metadata: { name: "none" } }, /^404 pods "none" not found$/],
];

test("binding gives a pod its node, once", async () => {
  await createPod("p");
  await act("/pods/binding", "p", { metadata: { name: "p", annotations: { a: "b" } }, target: { kind: "Node", name: "n" } });
  const pod = await cluster.find(pods, "p");
  assert.equal(pod?.spec.nodeName, "n");
  assert.deepEqual(pod?.metadata.annotations, { a: "b" });
  assert.equal(pod?.status.conditions[0].type, "PodScheduled");
  for (const [what, key, name, body, want] of refusalRows) {
    const error = await act(key, name, body).then(
      () => undefined,
      (refusal: unknown) => refusal,
    );
    assert.ok(error instanceof ApiError, what);
    assert.match(`${error.status.code} ${error.message}`, want, what);
  }
});

test("an eviction asks the budget of a running pod", async () => {
  await createPod("e");
  await act("/pods/binding", "e", { metadata: { name: "e" }, target: { name: "n" } });
  await cluster.change(
    pods,
    "e",
    (object) => {
      object.status.phase = "Running";
      object.status.conditions.push({ type: "Ready", status: "True" });
    },
    "status",
  );
  const budgets: Place = ["policy/poddisruptionbudgets", "ns"];
  await cluster.create(budgets, { metadata: { name: "b" }, spec: { selector: { matchLabels: { app: "a" } } } });
  const allow = (disruptionsAllowed: number): Promise<void> =>
    cluster.change(
      budgets,
      "b",
      (object) => {
        object.status = { observedGeneration: 1, disruptionsAllowed, desiredHealthy: 1, currentHealthy: 1, expectedPods: 1 };
      },
      "status",
    );

  await allow(0);
  await assert.rejects(act("/pods/eviction", "e", { metadata: { name: "e" } }), ({ status }: ApiError) => {
    assert.equal(status.code, 429);
    assert.deepEqual(status.details?.causes, [
      { reason: "DisruptionBudget", message: "The disruption budget b needs 1 healthy pods and has 1 currently" },
    ]);
    return true;
  });
  await allow(1);
  await act("/pods/eviction", "e", { metadata: { name: "e" } });
  assert.notEqual((await cluster.find(pods, "e"))?.metadata.deletionTimestamp, undefined);
  const budget = await cluster.find(budgets, "b");
  assert.deepEqual([budget?.status.disruptionsAllowed, Object.keys(budget?.status.disruptedPods)], [0, ["e"]]);
});

const connectRows: [resource: string, name: string, want: RegExp][] = [
  ["pods", "none", /pods "none" not found/],
  ["pods", "idle", /pod idle does not have a host assigned/],
  ["pods", "p", /this server has no connection to nodes/],
];

test("connections are refused for what they lack", async () => {
  await createPod("idle");
  for (const [resource, name, want] of connectRows) {
    await assert.rejects(refuseConnect(cluster.registry, { resource, namespace: "ns", name }), want);
  }
});
