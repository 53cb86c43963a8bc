import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../test/support/memory-registry.ts";
import { ApiError } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { loopbackUser } from "../apimachinery/system-user.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { WriteRequest } from "../registry/contract.ts";
import { createActions } from "./subresources.ts";

const pods: Place = ["/pods", "ns"];
let cluster: MemoryRegistry;

before(async () => {
  cluster = await openMemoryRegistry();
  await cluster.create(["/namespaces", ""], { metadata: { name: "ns" } });
});
after(() => cluster.close());

const createPod = (name: string, spec: object = { containers: [{ name: "c", image: "i" }] }): Promise<KubeObject> =>
  cluster.create(pods, { metadata: { name, labels: { app: "a" } }, spec });

async function act(key: string, name: string, body: KubeObject): Promise<void> {
  const target = cluster.registry.catalog.find("", "v1", "pods") as Resolved;
  const common = {
    namespace: "ns",
    subresource: key.split("/")[2] ?? "",
    user: loopbackUser,
    dryRun: false,
    warnings: [],
  };
  const request: WriteRequest = { target, name, ...common, fieldManager: "test", userAgent: "test" };
  await createActions[key]?.(cluster.registry, request, body, async () => {});
}

/** The pod `p` is bound to node `n`. */
const errorRows: [what: string, key: string, name: string, body: KubeObject, want: RegExp][] = [
  [
    "a binding without a name",
    "/pods/binding",
    "p",
    { metadata: {}, target: { name: "n" } },
    /^400 name in URL does not match name in Binding object$/,
  ],
  ["a binding of no pod", "/bindings", "", { metadata: {}, target: { name: "n" } }, /^400 Name parameter required\.$/],
  [
    "a binding of another pod of the name",
    "/pods/binding",
    "p",
    { metadata: { name: "p", uid: "u" }, target: { name: "n" } },
    /^409 Operation cannot be fulfilled on pods "p": StorageError: .*: UID in precondition: u, UID in object meta: /,
  ],
  [
    "a binding of another version",
    "/bindings",
    "",
    { metadata: { name: "p", resourceVersion: "1" }, target: { name: "n" } },
    /^409 .*: ResourceVersion in precondition: 1, ResourceVersion in object meta: \d+$/,
  ],
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
  [
    "binding: no pod",
    "/bindings",
    "",
    { metadata: { name: "none" }, target: { name: "n" } },
    /^404 pods "none" not found$/,
  ],
  ["eviction: no pod", "/pods/eviction", "none", { metadata: { name: "none" } }, /^404 pods "none" not found$/],
];

test("binding sets the node of a pod once", async () => {
  await createPod("p");
  await act("/pods/binding", "p", {
    metadata: { name: "p", annotations: { a: "b" }, labels: { l: "m" } },
    target: { kind: "Node", name: "n" },
  });
  const pod = await cluster.find(pods, "p");
  assert.equal(pod?.spec.nodeName, "n");
  assert.deepEqual([pod?.metadata.annotations, pod?.metadata.labels], [{ a: "b" }, { app: "a", l: "m" }]);
  assert.equal(pod?.status.conditions[0].type, "PodScheduled");
  for (const [what, key, name, body, want] of errorRows) {
    const error = await act(key, name, body).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof ApiError, what);
    assert.match(`${error.status.code} ${error.message}`, want, what);
  }
});

test("an eviction checks the disruption budget of a running pod", async () => {
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
        object.status = {
          observedGeneration: 1,
          disruptionsAllowed,
          desiredHealthy: 1,
          currentHealthy: 1,
          expectedPods: 1,
        };
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
