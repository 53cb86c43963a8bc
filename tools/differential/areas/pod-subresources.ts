/** Subresources of pods: binding, eviction, ephemeralcontainers, resize, status. */
import type { Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { kindOf } from "../samples.ts";
import { create, patchTypes, pathOf, writeQuery } from "./steps.ts";

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", labels: { app: "x" } },
  spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "100m", memory: "1Mi" } } }] },
};

/** Writes of the subresources of one pod. */
export const podWrites = (random: Random): Step[] => {
  const kind = kindOf("pods");
  const path = pathOf(kind);
  return [
    create(kind, random.chance(0.7) ? pod : random.pick(kind.samples).object, "first"),
    ...Array.from({ length: 9 }, () => podWrite(path, random)),
  ];
};

function podWrite(path: string, random: Random): Step {
  const roll = random.below(7);
  const uid = random.pick(["{{first.metadata.uid}}", "11111111-0000-0000-0000-000000000000", ""]);
  const metadata = { name: random.chance(0.9) ? "a" : "b", ...(random.chance(0.2) && { uid }) };
  if (roll < 1) return binding(path, metadata, random);
  if (roll < 3) return eviction(path, metadata, uid, random);
  if (roll < 6) return podPatch(path, random.pick(podPatches), random);
  const reads = ["", "/status", "/ephemeralcontainers", "/resize", "/other", "/binding"];
  return { method: "GET", path: `${path}${random.pick(reads)}` };
}

function binding(path: string, metadata: object, random: Random): Step {
  const target = random.pick<object>([
    { kind: "Node", name: "n" },
    { name: "n" },
    { kind: "Pod", name: "n" },
    { name: "" },
    {},
  ]);
  const body = { apiVersion: "v1", kind: "Binding", metadata: { ...metadata, annotations: { a: "b" } }, target };
  return { method: "POST", path: `${path}/binding${writeQuery(random)}`, body };
}

function eviction(path: string, metadata: object, uid: string, random: Random): Step {
  const apiVersion = random.pick(["policy/v1", "policy/v1", "policy/v1beta1", "v1"]);
  const deleteOptions = random.pick<unknown>([
    undefined,
    { gracePeriodSeconds: 0 },
    { preconditions: { uid } },
    { dryRun: ["All"] },
  ]);
  const body = { apiVersion, kind: "Eviction", metadata, deleteOptions };
  return { method: "POST", path: `${path}/eviction${writeQuery(random)}`, body };
}

const podPatches: readonly (readonly [subresource: string, bodies: readonly object[]])[] = [
  [
    "ephemeralcontainers",
    [
      [{ name: "e", image: "i" }],
      [{ name: "c", image: "i" }],
      [{ name: "e", image: "i", ports: [{ containerPort: 1 }] }],
      [{ name: "e", image: "i", targetContainerName: "none" }],
      [{ name: "e" }],
      [],
    ].map((ephemeralContainers) => ({ spec: { ephemeralContainers } })),
  ],
  [
    "resize",
    [
      { requests: { cpu: "200m" } },
      { limits: { cpu: "1" } },
      { requests: { cpu: "-1" } },
      { requests: { "example.com/a": "1" } },
      null,
    ].map((resources) => ({ spec: { containers: [{ name: "c", resources }] } })),
  ],
  [
    "status",
    [
      { phase: "Running" },
      { phase: "Other" },
      { phase: "Succeeded", conditions: [{ type: "Ready", status: "True" }] },
      { conditions: [{ type: "DisruptionTarget", status: "Maybe" }] },
      { podIPs: [{ ip: "1.2.3.4" }, { ip: "1.2.3.5" }] },
      { containerStatuses: [{ name: "c", state: { running: {} }, ready: true }] },
    ].map((status) => ({ status })),
  ],
];

function podPatch(path: string, [subresource, bodies]: (typeof podPatches)[number], random: Random): Step {
  return {
    method: "PATCH",
    path: `${path}/${subresource}${writeQuery(random)}`,
    headers: { "content-type": random.pick([patchTypes.strategic, patchTypes.strategic, patchTypes.merge]) },
    body: random.pick(bodies),
  };
}

/** Evictions within and outside of a budget. */
export const evictions = (random: Random): Step[] => {
  const pods = kindOf("pods");
  const budget = {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "b" },
    spec: { minAvailable: 1, selector: { matchLabels: { app: "x" } } },
  };
  const budgets = "/apis/policy/v1/namespaces/$ns/poddisruptionbudgets";
  const status = {
    disruptionsAllowed: random.below(3),
    currentHealthy: 1,
    desiredHealthy: 1,
    expectedPods: 1,
    observedGeneration: random.below(3),
  };
  const evict: Step = {
    method: "POST",
    path: `${pathOf(pods)}/eviction`,
    body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } },
  };
  return [
    create(pods, pod, "first"),
    { method: "POST", path: budgets, body: budget },
    ...(random.chance(0.8)
      ? [
          {
            method: "PATCH",
            path: `${budgets}/b/status`,
            headers: { "content-type": patchTypes.merge },
            body: { status },
          },
        ]
      : []),
    {
      method: "PATCH",
      path: `${pathOf(pods)}/status`,
      headers: { "content-type": patchTypes.strategic },
      body: {
        status: {
          phase: random.pick(["Running", "Succeeded", "Pending"]),
          conditions: [{ type: "Ready", status: random.pick(["True", "False"]) }],
        },
      },
    },
    ...(random.chance(0.3) ? [{ method: "POST", path: budgets, body: { ...budget, metadata: { name: "c" } } }] : []),
    evict,
    evict,
    { method: "GET", path: `${budgets}/b` },
  ];
};
