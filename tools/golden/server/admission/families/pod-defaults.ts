/** Priority, tolerations, taints of nodes, runtime classes and topology labels. */
import type { AdmissionRequest, Scenario, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import { seededRandom } from "../../../../../test/support/seeded-random.ts";
import { core, type Family, namespace, request } from "./builders.ts";
import {
  account,
  applyPod,
  createPod,
  pairs,
  patchPod,
  pick,
  pod,
  present,
  recordedElsewhere,
  replacePod,
} from "./pods.ts";

/** A scenario in a namespace of its own, with the account `default`. */
const scenario = (name: string, setup: readonly SetupStep[], requests: readonly AdmissionRequest[]): Scenario => ({
  name,
  setup: [namespace(name), account(name, "default"), ...setup],
  answers: {},
  requests,
});

/** Without a token, so that answers are short. */
const plain = (name: string, spec: Sent = {}, metadata: Sent = {}): Sent =>
  pod(name, { automountServiceAccountToken: false, ...spec }, metadata);

const classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
const priorityClass = (name: string, fields: Sent): Sent => ({ metadata: { name }, ...fields });
const merge = "application/merge-patch+json";

const priorityRows: readonly Sent[] = [
  {},
  { priorityClassName: "" },
  { priorityClassName: "low" },
  { priorityClassName: "polite" },
  { priorityClassName: "missing" },
  { priorityClassName: "system-node-critical" },
  { priorityClassName: "system-cluster-critical" },
  { priorityClassName: "a/b" },
  { priority: 0 },
  { priority: 5 },
  { priority: -3 },
  { priorityClassName: "low", priority: -3 },
  { priorityClassName: "low", priority: 0 },
  { preemptionPolicy: "Never" },
  { preemptionPolicy: "PreemptLowerPriority" },
  { preemptionPolicy: "Sometimes" },
  { priorityClassName: "polite", preemptionPolicy: "Never" },
  { priorityClassName: "polite", preemptionPolicy: "PreemptLowerPriority" },
  { priorityClassName: "polite", priority: 7, preemptionPolicy: "Never" },
  { priorityClassName: "polite", priority: 8, preemptionPolicy: "PreemptLowerPriority" },
];
const priorityPods = (prefix: string): AdmissionRequest[] =>
  priorityRows.map((spec, row) => createPod("pod-priority", plain(`${prefix}-${row}`, spec)));
const priority = scenario(
  "pod-priority",
  [
    [classes, priorityClass("low", { value: -3 })],
    [classes, priorityClass("polite", { value: 7, preemptionPolicy: "Never" })],
  ],
  [
    ...priorityPods("none"),
    request(`POST ${classes}`, priorityClass("usual", { value: 100, globalDefault: true, preemptionPolicy: "Never" })),
    ...priorityPods("usual"),
    request(`POST ${classes}`, priorityClass("second", { value: 5, globalDefault: true })),
    request(`POST ${classes}?dryRun=All`, priorityClass("second", { value: 5, globalDefault: true })),
    request(`POST ${classes}`, priorityClass("third", { value: 5 })),
    request(`PATCH ${classes}/third`, { globalDefault: true }, merge),
    request(`PATCH ${classes}/third`, { description: "x" }, merge),
    request(`PATCH ${classes}/usual`, { description: "x" }, merge),
    request(`PATCH ${classes}/usual`, { value: 101 }, merge),
    request(`PUT ${classes}/usual`, priorityClass("usual", { value: 100, preemptionPolicy: "Never" })),
    createPod("pod-priority", plain("none-again")),
    request(`PATCH ${classes}/third`, { globalDefault: true }, merge),
    createPod("pod-priority", plain("third")),
    request(`DELETE ${classes}/third`),
    createPod("pod-priority", plain("third-again", { priorityClassName: "third" })),
    createPod("pod-priority", plain("none-last")),
    request(`POST ${classes}`, priorityClass("system-mine", { value: 1 })),
    request(`POST ${classes}`, priorityClass("too-high", { value: 2_000_000_000 })),
  ],
);

const priorityUpdates = scenario(
  "pod-priority-updates",
  [],
  [
    createPod("pod-priority-updates", plain("p", { priorityClassName: "system-node-critical" })),
    replacePod("pod-priority-updates", plain("p", { priorityClassName: "system-node-critical" })),
    replacePod("pod-priority-updates", plain("p", {})),
    replacePod("pod-priority-updates", plain("p", { priorityClassName: "system-cluster-critical" })),
    patchPod("pod-priority-updates", "p", { spec: { priority: 7 } }),
    patchPod("pod-priority-updates", "p", { spec: { priority: null } }),
    patchPod("pod-priority-updates", "p", { spec: { preemptionPolicy: null } }),
    patchPod("pod-priority-updates", "p", { spec: { preemptionPolicy: "Never" } }),
    patchPod("pod-priority-updates", "p", { spec: { priorityClassName: null } }),
    patchPod("pod-priority-updates", "p", { metadata: { labels: { a: "b" } } }),
    patchPod("pod-priority-updates", "p", { status: { phase: "Running" } }, "/status"),
    applyPod("pod-priority-updates", plain("applied", { priorityClassName: "system-node-critical" })),
    applyPod(
      "pod-priority-updates",
      plain("applied", { priorityClassName: "system-node-critical" }, { labels: { a: "b" } }),
    ),
  ],
);

const notReady = "node.kubernetes.io/not-ready";
const unreachable = "node.kubernetes.io/unreachable";
const tolerationRows: readonly Sent[] = [
  ...pairs([notReady, unreachable], ["NoExecute", undefined, "NoSchedule"]).map(([key, effect]) =>
    present({ key, effect, operator: "Exists" }),
  ),
  { operator: "Exists" },
  { operator: "Exists", effect: "NoExecute" },
  { operator: "Exists", effect: "NoSchedule" },
  { operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 },
  { key: "other", operator: "Exists" },
  { key: notReady, operator: "Equal", value: "x", effect: "NoExecute" },
  { key: notReady, value: "x" },
  { key: notReady, operator: "Exists", effect: "NoExecute", tolerationSeconds: 0 },
  { key: unreachable, operator: "Exists", effect: "NoExecute", tolerationSeconds: -1 },
  { key: "", operator: "Equal" },
];
const tolerationSeconds = scenario(
  "pod-tolerations",
  [],
  [
    createPod("pod-tolerations", plain("none")),
    createPod("pod-tolerations", plain("empty", { tolerations: [] })),
    ...tolerationRows.map((toleration, row) =>
      createPod("pod-tolerations", plain(`p-${row}`, { tolerations: [toleration] })),
    ),
    createPod(
      "pod-tolerations",
      plain("both", { tolerations: [notReady, unreachable].map((key) => ({ key, operator: "Exists" })) }),
    ),
    createPod(
      "pod-tolerations",
      plain("mirror", { nodeName: "n" }, { annotations: { "kubernetes.io/config.mirror": "x" } }),
    ),
    replacePod("pod-tolerations", plain("none")),
    patchPod("pod-tolerations", "none", { spec: { tolerations: null } }),
    patchPod("pod-tolerations", "none", { spec: { tolerations: [{ key: "more", operator: "Exists" }] } }),
    patchPod("pod-tolerations", "both", { metadata: { labels: { a: "b" } } }),
    patchPod("pod-tolerations", "both", { spec: { tolerations: null } }),
    patchPod("pod-tolerations", "both", { status: { phase: "Running" } }, "/status"),
    createPod("pod-tolerations", plain("dry"), "?dryRun=All"),
    applyPod("pod-tolerations", plain("applied", { tolerations: [{ key: "more", operator: "Exists" }] })),
    applyPod("pod-tolerations", plain("applied", { tolerations: [] })),
  ],
);

const nodes = "/api/v1/nodes";
const node = (name: string, fields: Sent = {}): Sent => ({ metadata: { name }, ...fields });
const taintRows: readonly Sent[] = [
  {},
  { spec: {} },
  { spec: { taints: [] } },
  { spec: { taints: [{ key: notReady, effect: "NoSchedule" }] } },
  { spec: { taints: [{ key: notReady, effect: "NoSchedule", value: "x" }] } },
  { spec: { taints: [{ key: notReady, effect: "NoExecute" }] } },
  { spec: { taints: [{ key: "other", effect: "NoSchedule" }] } },
  { spec: { taints: [{ key: "other", effect: "Bad" }] } },
];
const taints = scenario(
  "node-taints",
  [],
  [
    ...taintRows.map((fields, row) => request(`POST ${nodes}`, node(`taint-${row}`, fields))),
    request(`POST ${nodes}?dryRun=All`, node("taint-dry")),
    request(`PUT ${nodes}/taint-0`, node("taint-0")),
    request(`PATCH ${nodes}/taint-3`, { spec: { taints: null } }, merge),
    request(`PATCH ${nodes}/taint-0/status`, { status: { phase: "Running" } }, merge),
    request(
      `PATCH ${nodes}/taint-applied?fieldManager=m`,
      { apiVersion: "v1", kind: "Node", ...node("taint-applied") },
      "application/apply-patch+yaml",
    ),
  ],
);

const runtimeClasses = "/apis/node.k8s.io/v1/runtimeclasses";
const runtimeClass = (name: string, fields: Sent): SetupStep => [
  runtimeClasses,
  { metadata: { name }, handler: "h", ...fields },
];
const heavy = { cpu: "250m", memory: "1Gi" };
const gpu = { key: "gpu", operator: "Exists", effect: "NoSchedule" };
const allRuntimeClasses = [
  runtimeClass("plain", {}),
  runtimeClass("heavy", { overhead: { podFixed: heavy } }),
  runtimeClass("light", { overhead: {} }),
  runtimeClass("placed", { scheduling: { nodeSelector: { zone: "a", disk: "ssd" }, tolerations: [gpu] } }),
  runtimeClass("selects", { scheduling: { nodeSelector: { zone: "a" } } }),
  runtimeClass("tolerates", {
    scheduling: {
      tolerations: [gpu, { key: "x", operator: "Equal", value: "1", effect: "NoExecute", tolerationSeconds: 60 }],
    },
  }),
  runtimeClass("empty", { scheduling: {} }),
  runtimeClass("both", { overhead: { podFixed: { cpu: "1" } }, scheduling: { nodeSelector: { zone: "b" } } }),
];
const runtimeNames = ["plain", "heavy", "light", "placed", "selects", "tolerates", "empty", "both"];
const overheads = [undefined, {}, heavy, { cpu: "0.25", memory: "1024Mi" }, { cpu: "250m" }, { cpu: "1" }];
const overheadRows: readonly Sent[] = pairs([undefined, ...runtimeNames, "missing"], overheads).map(
  ([runtimeClassName, overhead]) => present({ runtimeClassName, overhead }),
);
const selectors = [undefined, {}, { zone: "a" }, { zone: "c" }, { other: "x" }];
const selectorRows: readonly Sent[] = pairs(["placed", "selects", "both", "empty"], selectors).map(
  ([runtimeClassName, nodeSelector]) => present({ runtimeClassName, nodeSelector }),
);
const tolerationLists: readonly (readonly Sent[])[] = [
  [gpu],
  [{ operator: "Exists" }],
  [{ key: "gpu", operator: "Exists" }],
  [{ key: "gpu", operator: "Equal", value: "a", effect: "NoSchedule" }],
  [{ key: "x", operator: "Equal", value: "1", effect: "NoExecute" }],
  [{ key: "x", operator: "Equal", value: "1", effect: "NoExecute", tolerationSeconds: 5 }],
  [{ key: "x", operator: "Equal", value: "1", effect: "NoExecute", tolerationSeconds: 600 }],
  [{ key: "x", value: "1", effect: "NoExecute", tolerationSeconds: 60 }],
  [{ key: "x", operator: "Exists", effect: "NoExecute" }],
  [gpu, gpu, { key: "gpu", operator: "Equal", value: "a", effect: "NoSchedule" }],
];
const tolerationClassRows: readonly Sent[] = pairs(["tolerates", "selects", "plain"], tolerationLists).map(
  ([runtimeClassName, tolerations]) => ({ runtimeClassName, tolerations }),
);
const runtime = scenario("pod-runtime", allRuntimeClasses, [
  ...[...overheadRows, ...selectorRows, ...tolerationClassRows].map((spec, row) =>
    createPod("pod-runtime", plain(`p-${row}`, spec)),
  ),
  createPod("pod-runtime", plain("unnamed", { runtimeClassName: "" })),
  createPod("pod-runtime", plain("slash", { runtimeClassName: "a/b" })),
  createPod("pod-runtime", plain("heavy", { runtimeClassName: "heavy" })),
  patchPod("pod-runtime", "heavy", { spec: { overhead: { cpu: "1" } } }),
  patchPod("pod-runtime", "heavy", { spec: { overhead: null } }),
  patchPod("pod-runtime", "heavy", { metadata: { labels: { a: "b" } } }),
  request(`PATCH ${runtimeClasses}/heavy`, { overhead: { podFixed: { cpu: "2" } } }, merge),
  patchPod("pod-runtime", "heavy", { metadata: { labels: { a: "c" } } }),
  createPod("pod-runtime", plain("heavier", { runtimeClassName: "heavy" })),
  request(`DELETE ${runtimeClasses}/heavy`),
  patchPod("pod-runtime", "heavy", { metadata: { labels: { a: "d" } } }),
  createPod("pod-runtime", plain("heaviest", { runtimeClassName: "heavy" })),
]);

const zone = "topology.kubernetes.io/zone";
const region = "topology.kubernetes.io/region";
const labeled = (name: string, labels: Sent): SetupStep => [nodes, { metadata: { name, labels } }];
const binding = (name: string, fields: Sent = {}): Sent => ({ metadata: { name }, ...fields });
const bind = (name: string, body: Sent): AdmissionRequest =>
  request(`POST ${core("pod-topology", "pods", name)}/binding`, body);
const topologyLabels = [undefined, { [zone]: "mine" }, { [zone]: "mine", [region]: "mine", a: "b" }];
const topology = scenario(
  "pod-topology",
  [
    labeled("topology-both", { [zone]: "z1", [region]: "r1", "topology.kubernetes.io/rack": "7", a: "n" }),
    labeled("topology-zone", { [zone]: "z2" }),
    labeled("topology-none", {}),
  ],
  [
    ...pairs(["topology-both", "topology-zone", "topology-none", "missing", undefined], topologyLabels).map(
      ([nodeName, labels], row) =>
        createPod("pod-topology", plain(`p-${row}`, present({ nodeName }), present({ labels }))),
    ),
    ...["one", "two", "three", "four", "five"].map((name) =>
      createPod("pod-topology", plain(name, {}, { labels: { [zone]: "mine" } })),
    ),
    bind("one", binding("one", { target: { kind: "Node", name: "topology-both" } })),
    bind("two", binding("two", { target: { name: "topology-both" } })),
    bind("three", {
      metadata: { name: "three", labels: { [zone]: "bound", x: "y" } },
      target: { kind: "Node", name: "topology-zone" },
    }),
    bind("four", { metadata: { name: "four", labels: { x: "y" } }, target: { kind: "Node", name: "missing" } }),
    bind("five", binding("five", { target: { kind: "Pod", name: "topology-both" } })),
    request(
      `POST ${core("pod-topology", "bindings")}`,
      binding("five", { target: { kind: "Node", name: "topology-both" } }),
    ),
    ...["one", "two", "three", "four", "five"].map((name) => request(`GET ${core("pod-topology", "pods", name)}`)),
    patchPod("pod-topology", "one", { metadata: { labels: { [zone]: "changed" } } }),
    request(`PATCH ${nodes}/topology-both`, { metadata: { labels: { [zone]: "z9" } } }, merge),
    patchPod("pod-topology", "one", { metadata: { labels: { other: "changed" } } }),
    createPod("pod-topology", plain("later", { nodeName: "topology-both" })),
  ],
);

const random = seededRandom(20260102);
const randomPods = 60;
function randomPod(row: number): Sent {
  const spec = present({
    priorityClassName: pick(random, [undefined, undefined, "system-node-critical", "missing"]),
    priority: pick(random, [undefined, undefined, undefined, 0, 2_000_001_000]),
    runtimeClassName: pick(random, [undefined, ...runtimeNames]),
    overhead: pick(random, [undefined, undefined, undefined, ...overheads]),
    nodeSelector: pick(random, selectors),
    nodeName: pick(random, [undefined, "topology-zone"]),
    tolerations: pick(random, [undefined, ...tolerationLists, ...tolerationRows.map((one) => [one])]),
  });
  return plain(`p-${row}`, spec);
}
const randomScenario = scenario(
  "pod-defaults-random",
  [...allRuntimeClasses, labeled("topology-zone", { [zone]: "z2" })],
  Array.from({ length: randomPods }, (_none, row) => createPod("pod-defaults-random", randomPod(row))),
);

export const podDefaults: Family = {
  plugins: { disable: recordedElsewhere },
  setup: [],
  scenarios: [priority, priorityUpdates, tolerationSeconds, taints, runtime, topology, randomScenario],
};

/** The same pods without the labels of their nodes. */
export const podDefaultsWithoutGates: Family = {
  plugins: { disable: recordedElsewhere, featureGates: "PodTopologyLabelsAdmission=false" },
  setup: [],
  scenarios: [topology],
};
