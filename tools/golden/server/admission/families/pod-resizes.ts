/** Resizes of pods: what the node has, where it runs, and the features that it declares. */
import type { AdmissionRequest, Scenario, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import { seededRandom } from "../../../../../test/support/seeded-random.ts";
import { type Family, namespace, request } from "./builders.ts";
import { account, createPod, patchPod, pick, pod, present, recordedElsewhere } from "./pods.ts";

const nodes = "/api/v1/nodes";
const node = (name: string, status: Sent, labels: Sent = {}): SetupStep => [
  nodes,
  { metadata: { name, labels }, status },
];
const allocatable = { cpu: "2", memory: "2Gi", pods: "10" };
const podLevel = "InPlacePodLevelResourcesVerticalScaling";
const initLevel = "InPlacePodVerticalScalingInitContainers";

const allNodes: readonly SetupStep[] = [
  node("resize-linux", { allocatable, declaredFeatures: [podLevel, initLevel] }, { "kubernetes.io/os": "linux" }),
  node("resize-unlabeled", { allocatable, declaredFeatures: [podLevel] }),
  node("resize-windows", { allocatable, declaredFeatures: [podLevel, initLevel] }, { "kubernetes.io/os": "windows" }),
  node("resize-bare", {}, { "kubernetes.io/os": "linux" }),
  node("resize-plain", { allocatable }, { "kubernetes.io/os": "linux" }),
];
const nodeNames = [
  "resize-linux",
  "resize-unlabeled",
  "resize-windows",
  "resize-bare",
  "resize-plain",
  "missing",
  undefined,
];

const container = (name: string, requests: Sent, fields: Sent = {}): Sent => ({
  name,
  image: "example.com/i",
  resources: { requests },
  ...fields,
});
const small = { cpu: "100m", memory: "100Mi" };

type Kind = "simple" | "init" | "sidecar" | "pod-level" | "two";
const specs: Readonly<Record<Kind, Sent>> = {
  simple: { containers: [container("c", small)] },
  init: { initContainers: [container("init", small)], containers: [container("c", small)] },
  sidecar: {
    initContainers: [container("init", small, { restartPolicy: "Always" })],
    containers: [container("c", small)],
  },
  "pod-level": { containers: [container("c", small)], resources: { requests: { cpu: "300m", memory: "300Mi" } } },
  two: { containers: [container("c", small), container("d", small)] },
};
const kinds = Object.keys(specs) as Kind[];

const resizeOf = (requests: Sent): Sent => ({ spec: { containers: [{ name: "c", resources: { requests } }] } });
const initResizeOf = (requests: Sent): Sent => ({
  spec: { initContainers: [{ name: "init", resources: { requests } }] },
});
const podResizeOf = (requests: Sent): Sent => ({ spec: { resources: { requests } } });
const resize = (inNamespace: string, name: string, patch: Sent, query = ""): AdmissionRequest =>
  patchPod(inNamespace, name, patch, `/resize${query}`);

function resizesOf(inNamespace: string, kind: Kind, name: string): AdmissionRequest[] {
  const amounts: readonly Sent[] = [
    { cpu: "200m" },
    { cpu: "2" },
    { cpu: "2001m" },
    { memory: "1Gi" },
    { cpu: "5", memory: "5Gi" },
    { memory: "2147483648500m" },
  ];
  const own = amounts.flatMap((requests) => {
    if (kind === "init" || kind === "sidecar") return [resizeOf(requests), initResizeOf(requests)];
    if (kind !== "pod-level") return [resizeOf(requests)];
    // Upstream reports several resources in random order.
    return Object.keys(requests).length > 1 ? [podResizeOf(requests)] : [podResizeOf(requests), resizeOf(requests)];
  });
  return [
    ...own.map((patch) => resize(inNamespace, name, patch, "?dryRun=All")),
    ...own.slice(0, 1).map((patch) => resize(inNamespace, name, patch)),
  ];
}

const scenario = (name: string, kind: Kind): Scenario => ({
  name,
  setup: [namespace(name), account(name, "default"), ...allNodes],
  answers: {},
  requests: nodeNames.flatMap((nodeName, row) => [
    createPod(name, pod(`p-${row}`, present({ automountServiceAccountToken: false, nodeName, ...specs[kind] }))),
    ...resizesOf(name, kind, `p-${row}`),
  ]),
});

const runtimeClasses = "/apis/node.k8s.io/v1/runtimeclasses";
const others: Scenario = {
  name: "resize-others",
  setup: [
    namespace("resize-others"),
    account("resize-others", "default"),
    ...allNodes,
    [runtimeClasses, { metadata: { name: "overhead" }, handler: "h", overhead: { podFixed: { cpu: "1" } } }],
  ],
  answers: {},
  requests: [
    createPod(
      "resize-others",
      pod("heavy", { nodeName: "resize-linux", runtimeClassName: "overhead", ...specs.simple }),
    ),
    resize("resize-others", "heavy", resizeOf({ cpu: "1" })),
    resize("resize-others", "heavy", resizeOf({ cpu: "1001m" })),
    createPod("resize-others", pod("p", { nodeName: "resize-windows", ...specs.simple })),
    resize("resize-others", "p", resizeOf(small)),
    resize("resize-others", "p", { spec: {} }),
    patchPod("resize-others", "p", { metadata: { labels: { a: "b" } } }),
    patchPod("resize-others", "p", { spec: { containers: [{ name: "c", image: "example.com/j" }] } }),
    patchPod("resize-others", "p", { spec: { containers: [{ name: "c", resources: { requests: { cpu: "5" } } }] } }),
    request(
      `PATCH ${nodes}/resize-windows`,
      { metadata: { labels: { "kubernetes.io/os": "linux" } } },
      "application/merge-patch+json",
    ),
    resize("resize-others", "p", resizeOf({ cpu: "300m" })),
    request(`DELETE ${nodes}/resize-windows`),
    resize("resize-others", "p", resizeOf({ cpu: "400m" })),
    patchPod("resize-others", "p", { spec: { activeDeadlineSeconds: 5 } }),
    resize("resize-others", "missing", resizeOf({ cpu: "400m" })),
  ],
};

const random = seededRandom(20260104);
const randomScenario: Scenario = {
  name: "resize-random",
  setup: [namespace("resize-random"), account("resize-random", "default"), ...allNodes],
  answers: {},
  requests: Array.from({ length: 30 }).flatMap((_none, row) => {
    const [kind, name] = [pick(random, kinds), `p-${row}`];
    const nodeName = pick(random, nodeNames);
    const amounts = present({
      cpu: pick(random, [undefined, "50m", "1", "1900m", "2500m", "0.1"]),
      memory: pick(random, [undefined, "1Mi", "1Gi", "3Gi", "1999999999"]),
    });
    const ofContainers = [resizeOf(amounts), initResizeOf(amounts)];
    const patches = kind === "pod-level" ? [podResizeOf(amounts)] : [...ofContainers, podResizeOf(amounts)];
    return [
      createPod("resize-random", pod(name, present({ nodeName, ...specs[kind] }))),
      resize("resize-random", name, pick(random, patches)),
    ];
  }),
};

const scenarios = [...kinds.map((kind) => scenario(`resize-${kind}`, kind)), others, randomScenario];

export const podResizes: Family = { plugins: { disable: recordedElsewhere }, setup: [], scenarios };

/** The features of nodes are not checked. */
export const podResizesWithoutGates: Family = {
  plugins: {
    disable: recordedElsewhere,
    featureGates:
      "ExtendWebSocketsToKubelet=false,InPlacePodLevelResourcesVerticalScaling=false,InPlacePodVerticalScalingInitContainers=false,NodeDeclaredFeatures=false,RestartAllContainersOnContainerExits=false",
  },
  setup: [],
  scenarios: [
    scenario("resize-simple", "simple"),
    scenario("resize-sidecar", "sidecar"),
    scenario("resize-init", "init"),
  ],
};
