/** What pods use, must specify and exceed, and the scopes that they are in. */
import type { AdmissionRequest, Scenario, Sent } from "../../../../../test/support/admission-golden.ts";
import { seededRandom } from "../../../../../test/support/seeded-random.ts";
import { namespace } from "./builders.ts";
import {
  type Amounts,
  container,
  create,
  patch,
  patchByName,
  pod,
  quota,
  ready,
  remove,
  status,
  usage,
} from "./quota-builders.ts";

export const scenario = (name: string, requests: (ns: string) => readonly AdmissionRequest[]): Scenario => {
  const ns = `quota-${name}`;
  return { name: ns, setup: [namespace(ns)], answers: {}, requests: requests(ns) };
};

const small: Amounts = { cpu: "100m", memory: "64Mi" };
const large: Amounts = { cpu: "1", memory: "1Gi" };
const both = (name: string, requests = small, limits = large, rest: Sent = {}): Sent =>
  container(name, requests, limits, rest);
const sidecar: Sent = { restartPolicy: "Always" };

const generous: Amounts = {
  ...{ pods: "1k", "count/pods": "1k", cpu: "1k", memory: "1Ti", "ephemeral-storage": "1Ti" },
  ...{ "requests.cpu": "1k", "requests.memory": "1Ti", "requests.ephemeral-storage": "1Ti" },
  ...{ "limits.cpu": "1k", "limits.memory": "1Ti", "limits.ephemeral-storage": "1Ti" },
  ...{ "hugepages-2Mi": "1Gi", "requests.hugepages-2Mi": "1Gi", "requests.example.com/gpu": "100" },
  ...{ "requests.deviceclass.resource.kubernetes.io/gpu": "100", "count/configmaps": "10" },
};

/** Each has cpu and memory in all containers, or for the pod. */
const measured: readonly Sent[] = [
  { containers: [both("a")] },
  { containers: [both("a"), both("b", { cpu: "0.5", memory: "100M" })] },
  { containers: [container("a", small, large), container("b", large, large)] },
  { containers: [both("a")], initContainers: [both("i", large)] },
  { containers: [both("a")], initContainers: [both("i", { cpu: "10m", memory: "1Mi" })] },
  { containers: [both("a")], initContainers: [both("s", small, large, sidecar)] },
  {
    containers: [both("a")],
    initContainers: [both("s", small, large, sidecar), both("i", large, { cpu: "2", memory: "2Gi" })],
  },
  { containers: [both("a")], initContainers: [both("i", large), both("s", small, large, sidecar)] },
  { containers: [both("a", { ...small, "ephemeral-storage": "1Gi" }, { ...large, "ephemeral-storage": "2Gi" })] },
  { containers: [both("a", { ...small, "hugepages-2Mi": "4Mi" }, { ...large, "hugepages-2Mi": "4Mi" })] },
  { containers: [both("a", { ...small, "example.com/gpu": "2" }, { ...large, "example.com/gpu": "2" })] },
  { containers: [both("a", { ...small, "example.com/other": "2" }, { ...large, "example.com/other": "2" })] },
  { containers: [both("a", small, { ...large, "example.com/gpu": "3" })] },
  { containers: [container("a", undefined, large)] },
  { containers: [container("a", small)], resources: { requests: { cpu: "2", memory: "2Gi" }, limits: { cpu: "3" } } },
  { containers: [container("a")], resources: { limits: { cpu: "3", memory: "3Gi" } } },
  { containers: [container("a")], resources: { requests: { cpu: "250m" } } },
  { containers: [both("a", { cpu: "1500m", memory: "1500M" }, { cpu: "1500m", memory: "1500M" })] },
  { containers: [both("a", { cpu: "0.001", memory: "1e6" }, { cpu: "1e3m", memory: "1.5Gi" })] },
  { containers: [both("a")], activeDeadlineSeconds: 100 },
  { containers: [both("a", { cpu: "0", memory: "0" }, large)] },
  { containers: [both("a")], restartPolicy: "Never" },
];

const measures = scenario("measured", (ns) => [
  ...ready(ns, generous),
  ...measured.flatMap((spec, index) => [create(ns, "pods", pod(`p${index}`, spec)), usage(ns)]),
  create(ns, "pods", { metadata: { generateName: "generated-" }, spec: measured[0] }),
  usage(ns),
]);

const needs = ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory", "ephemeral-storage"];
const lacking: readonly Sent[] = [
  { containers: [container("a")] },
  { containers: [container("b"), container("a", small), container("c", undefined, large)] },
  { containers: [container("a", { cpu: "1" }, { cpu: "1" })], initContainers: [container("i", { memory: "1Mi" })] },
  { containers: [container("a", small, large)], initContainers: [container("s", undefined, undefined, sidecar)] },
];

const missing = scenario("missing", (ns) => [
  ...needs.flatMap((name) => [
    ...ready(ns, { [name]: "100Gi" }),
    ...lacking.map((spec, index) => create(ns, "pods?dryRun=All", pod(`p${index}`, spec))),
    remove(ns, "resourcequotas/q"),
  ]),
  ...ready(ns, Object.fromEntries(needs.map((name) => [name, "100Gi"]))),
  ...lacking.map((spec, index) => create(ns, "pods", pod(`p${index}`, spec))),
  usage(ns),
]);

const exceeding: Amounts = {
  ...{ cpu: "100m", memory: "64Mi", "requests.cpu": "50m", "limits.memory": "512Mi", "limits.cpu": "999m" },
  ...{ "requests.memory": "1k", "ephemeral-storage": "1", "requests.ephemeral-storage": "1Ki", "hugepages-2Mi": "2Mi" },
  ...{ "requests.hugepages-2Mi": "2Mi", "requests.example.com/gpu": "1", pods: "0", "count/pods": "0" },
};
const everything: Sent = {
  containers: [
    container(
      "a",
      { ...small, "ephemeral-storage": "1Gi", "hugepages-2Mi": "4Mi", "example.com/gpu": "2" },
      { ...large, "ephemeral-storage": "2Gi", "hugepages-2Mi": "4Mi", "example.com/gpu": "2" },
    ),
  ],
};

const exceeded = scenario("exceeded", (ns) => [
  ...Object.entries(exceeding).flatMap(([name, amount]) => [
    ...ready(ns, { [name]: amount }),
    create(ns, "pods?dryRun=All", pod("p", everything)),
    status(ns, { [name]: amount }, { [name]: "1" }),
    create(ns, "pods?dryRun=All", pod("p", everything)),
    remove(ns, "resourcequotas/q"),
  ]),
  ...ready(ns, exceeding),
  create(ns, "pods", pod("p", everything)),
  usage(ns),
]);

const affinity = (kind: string, term: Sent): Sent => ({
  affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone", ...term }] } },
});
const weighted = (kind: string, term: Sent): Sent => ({
  affinity: {
    [kind]: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: "zone", ...term } },
      ],
    },
  },
});

const inScopes: readonly Sent[] = [
  {},
  { activeDeadlineSeconds: 10 },
  { containers: [both("a")] },
  { containers: [both("a", large, large)], activeDeadlineSeconds: 1 },
  { priorityClassName: "high" },
  { priorityClassName: "low", containers: [both("a")] },
  affinity("podAffinity", {}),
  affinity("podAffinity", { namespaces: ["other"] }),
  affinity("podAntiAffinity", { namespaceSelector: {} }),
  weighted("podAffinity", { namespaceSelector: { matchLabels: { a: "b" } } }),
  weighted("podAntiAffinity", { namespaces: ["other"] }),
];

const matching = (scopeName: string, operator: string, values?: readonly string[]): Sent => ({
  scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values && { values }) }] },
});

const selections: readonly Sent[] = [
  { scopes: ["Terminating"] },
  { scopes: ["NotTerminating"] },
  { scopes: ["BestEffort"] },
  { scopes: ["NotBestEffort"] },
  { scopes: ["PriorityClass"] },
  { scopes: ["CrossNamespacePodAffinity"] },
  { scopes: ["NotTerminating", "BestEffort"] },
  matching("PriorityClass", "In", ["high", "medium"]),
  matching("PriorityClass", "NotIn", ["high"]),
  matching("PriorityClass", "Exists"),
  matching("PriorityClass", "DoesNotExist"),
  matching("Terminating", "Exists"),
  matching("CrossNamespacePodAffinity", "Exists"),
  { scopes: ["NotBestEffort"], ...matching("PriorityClass", "In", ["low"]) },
];

const scopes = selections.map((selection, at) =>
  scenario(`scopes-${at}`, (ns) => [
    ...ready(ns, { pods: "3" }, selection),
    ...inScopes.map((spec, index) => create(ns, "pods", pod(`p${index}`, spec))),
    usage(ns),
  ]),
);

const updates = scenario("updates", (ns) => [
  ...ready(ns, { pods: "5", "requests.cpu": "1", "requests.memory": "1Gi" }, { scopes: ["NotTerminating"] }, "long"),
  ...ready(ns, { pods: "2", "requests.cpu": "250m" }, { scopes: ["Terminating"] }, "short"),
  create(ns, "pods", pod("a", { containers: [both("a")] })),
  create(ns, "pods", pod("b", { containers: [both("a")] })),
  create(ns, "pods", pod("c", { containers: [both("a")] })),
  patch(ns, "pods/a", { metadata: { labels: { a: "b" } } }),
  patch(ns, "pods/a", { spec: { activeDeadlineSeconds: 10 } }),
  usage(ns, "long"),
  usage(ns, "short"),
  patch(ns, "pods/a", { spec: { activeDeadlineSeconds: 5 } }),
  patch(ns, "pods/b?dryRun=All", { spec: { activeDeadlineSeconds: 10 } }),
  usage(ns, "short"),
  patch(ns, "pods/b", { spec: { activeDeadlineSeconds: 10 } }),
  patch(ns, "pods/c", { spec: { activeDeadlineSeconds: 10 } }),
  usage(ns, "short"),
  patch(ns, "pods/a/status", { status: { phase: "Succeeded" } }),
  usage(ns, "short"),
  remove(ns, "pods/b?gracePeriodSeconds=0"),
  usage(ns, "short"),
]);

const resized = (requests: Amounts, limits: Amounts): Sent => ({
  spec: { containers: [{ name: "a", resources: { requests, limits } }] },
});

const resizes = scenario("resize", (ns) => [
  ...ready(ns, { pods: "5", "requests.cpu": "1", "limits.cpu": "4", "requests.memory": "1Gi" }),
  create(ns, "pods", pod("a", { containers: [both("a"), both("b")] })),
  usage(ns),
  patchByName(ns, "pods/a/resize", resized({ cpu: "500m" }, { cpu: "2" })),
  usage(ns),
  patchByName(ns, "pods/a/resize?dryRun=All", resized({ cpu: "800m" }, { cpu: "2" })),
  patchByName(ns, "pods/a/resize", resized({ cpu: "2" }, { cpu: "2" })),
  usage(ns),
  patchByName(ns, "pods/a/resize", resized({ cpu: "100m" }, { cpu: "1" })),
  usage(ns),
  patchByName(ns, "pods/a/status", {
    status: {
      containerStatuses: [
        {
          ...{ name: "a", image: "image", imageID: "id", ready: true, restartCount: 0, started: true },
          ...{ allocatedResources: { cpu: "700m", memory: "64Mi" } },
          resources: { requests: { cpu: "600m", memory: "64Mi" }, limits: { cpu: "3", memory: "1Gi" } },
        },
      ],
    },
  }),
  usage(ns),
  patchByName(ns, "pods/a/resize", resized({ cpu: "650m" }, { cpu: "3" })),
  usage(ns),
  patchByName(ns, "pods/a/resize", resized({ cpu: "900m" }, { cpu: "3" })),
  usage(ns),
  patchByName(ns, "pods/a/resize", resized({ cpu: "901m" }, { cpu: "3500m" })),
  usage(ns),
]);

const unknown = scenario("unknown", (ns) => [
  quota(ns, { pods: "1", "requests.cpu": "1" }),
  create(ns, "pods", pod("a", { containers: [both("a")] })),
  status(ns, { pods: "1", "requests.cpu": "1" }, undefined),
  create(ns, "pods", pod("b", { containers: [both("a")] })),
  create(ns, "pods?dryRun=All", pod("b", { containers: [both("a")] })),
  create(ns, "pods", pod("b", {})),
  status(ns, { pods: "1", "requests.cpu": "1" }, { pods: "0" }),
  create(ns, "pods", pod("b", { containers: [both("a")] })),
  status(ns, { pods: "2" }, { pods: "0" }),
  create(ns, "pods", pod("b", { containers: [both("a")] })),
  usage(ns),
  status(ns, { pods: "2", "count/secrets": "1" }, { pods: "1" }),
  create(ns, "pods", pod("c", { containers: [both("a")] })),
  create(ns, "secrets", { metadata: { name: "s" } }),
  usage(ns),
  status(ns, { pods: "2" }, { pods: "1", "requests.cpu": "1" }),
  create(ns, "pods", pod("d", { containers: [both("a")] })),
  create(ns, "pods", pod("e", { containers: [both("a")] })),
  usage(ns),
]);

const several = scenario("several", (ns) => [
  ...ready(ns, { pods: "3" }, {}, "a"),
  ...ready(ns, { "requests.cpu": "250m", "count/pods": "10" }, {}, "b"),
  ...ready(ns, { pods: "1" }, { scopes: ["BestEffort"] }, "c"),
  ...["1", "2", "3"].map((name) => create(ns, "pods", pod(name, { containers: [both("a")] }))),
  create(ns, "pods", pod("4", {})),
  usage(ns, "a"),
  usage(ns, "b"),
  usage(ns, "c"),
  create(ns, "pods", pod("invalid", { containers: [both("a", { cpu: "1" }, { cpu: "10m" })] })),
  create(ns, "pods", pod("Invalid!", { containers: [both("a", { cpu: "10m" }, {})] })),
  remove(ns, "resourcequotas/b"),
  create(ns, "pods", pod("5", {})),
  create(ns, "pods", pod("6", {})),
  usage(ns, "a"),
  usage(ns, "c"),
]);

const conflict = scenario("conflict", (ns) => [
  ...ready(ns, { pods: "3" }),
  create(ns, "pods", pod("a", {})),
  create(ns, "pods", pod("a", {})),
  usage(ns),
]);

const seed = 20260407;

/** Random pods against random quotas; the seed is fixed. */
const random = scenario(`random-${seed}`, (ns) => {
  const draw = seededRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[draw(from.length)] as T;
  const amount = (): Amounts => ({
    cpu: pick(["10m", "0.25", "1", "1500m"]),
    memory: pick(["1Mi", "100M", "1Gi", "1e7"]),
  });
  const containers = (prefix: string, count: number): Sent[] =>
    Array.from({ length: count }, (_, index) => {
      const requests = amount();
      return container(
        `${prefix}${index}`,
        requests,
        pick([undefined, requests]),
        prefix === "i" ? pick([{}, sidecar]) : {},
      );
    });
  const hard = { pods: "30", "requests.cpu": "12", "requests.memory": "8Gi" };
  return [
    ...ready(ns, hard),
    ...Array.from({ length: 40 }, (_, index) => {
      const spec = { initContainers: containers("i", draw(3)), containers: containers("c", 1 + draw(2)) };
      return [create(ns, `pods${pick(["", "", "", "?dryRun=All"])}`, pod(`p${index}`, spec)), usage(ns)];
    }).flat(),
  ];
});

export const podScenarios: readonly Scenario[] = [
  ...[measures, missing, exceeded, ...scopes],
  ...[updates, resizes, unknown, several, conflict, random],
];
