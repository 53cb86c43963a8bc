/** PodNodeSelector and PodTolerationRestriction, with and without their configuration. */
import type { AdmissionRequest, Scenario, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import { otherPlugins } from "../../../../../test/support/admission-replay.ts";
import { core, type Family, mutatingBinding, mutatingPolicy, request } from "./builders.ts";

const merge = "application/merge-patch+json";

const annotatedNamespace = (name: string, annotations: Readonly<Record<string, string>>): SetupStep => [
  "/api/v1/namespaces",
  { metadata: { name, annotations } },
];
const createPod = (inNamespace: string, name: string, spec: Sent, query = ""): AdmissionRequest =>
  request(`POST ${core(inNamespace, "pods")}${query}`, {
    metadata: name === "" ? { generateName: "generated-" } : { name },
    spec: { containers: [{ name: "c", image: "i" }], ...spec },
  });

const selectorKey = "scheduler.alpha.kubernetes.io/node-selector";
/** By namespace: its annotation, if it has one. The names are those of the configuration, or others. */
const selectors: readonly (readonly [namespace: string, annotation: string | undefined])[] = [
  ["selector-none", undefined],
  ["selector-empty", ""],
  ["selector-one", "zone=a"],
  ["selector-two", "zone=a,disk = ssd"],
  ["selector-repeated", "zone=a,zone=b"],
  ["selector-allowed", "zone=a"],
  ["selector-not-allowed", "zone=b"],
  ["selector-only-allowed", undefined],
  ["selector-bad-list", undefined],
  ["selector-exists", "zone"],
  ["selector-not-equal", "zone!=a"],
  ["selector-double", "zone==a"],
  ["selector-no-key", "=a"],
  ["selector-bad-key", "a b=c"],
  ["selector-bad-prefix", "A_/b=c"],
  ["selector-bad-value", "zone=x y"],
  ["selector-no-value", "zone="],
  ["selector-comma", "zone=a,"],
];
const nodeSelectors: readonly (Sent | undefined)[] = [
  undefined,
  {},
  { zone: "a" },
  { zone: "b" },
  { other: "x" },
  { zone: "a", other: "x" },
  { cluster: "x" },
];

const selectorScenario = ([name, annotation]: (typeof selectors)[number]): Scenario => ({
  name,
  setup: [annotatedNamespace(name, annotation === undefined ? {} : { [selectorKey]: annotation })],
  answers: {},
  requests: [
    ...nodeSelectors.map((nodeSelector, index) =>
      createPod(name, `pod-${index}`, nodeSelector === undefined ? {} : { nodeSelector }),
    ),
    createPod(name, "", { nodeSelector: { zone: "b" } }),
    createPod(name, "dry", {}, "?dryRun=All"),
    request(`PATCH ${core(name, "pods", "pod-0")}`, { metadata: { labels: { a: "b" } } }, merge),
  ],
});

/** A policy that runs after the plugin adds a label. */
const changedSelector: Scenario = {
  name: "selector-changed",
  setup: [
    annotatedNamespace("selector-changed", { [selectorKey]: "zone=a" }),
    mutatingPolicy("selector-changed", {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] }],
      },
      reinvocationPolicy: "IfNeeded",
      mutations: [
        {
          patchType: "JSONPatch",
          jsonPatch: { expression: '[JSONPatch{op: "add", path: "/spec/nodeSelector/zone", value: "b"}]' },
        },
      ],
    }),
    mutatingBinding("selector-changed", "selector-changed"),
  ],
  answers: {},
  requests: [createPod("selector-changed", "a", {}), createPod("selector-changed", "b", { nodeSelector: { x: "y" } })],
};

const selectorConfiguration: Sent = {
  podNodeSelectorPluginConfig: {
    clusterDefaultNodeSelector: "cluster=x",
    "selector-allowed": "zone=a,other=x",
    "selector-not-allowed": "zone=a",
    "selector-only-allowed": "zone=a,cluster=x",
    "selector-bad-list": "zone",
  },
};

export const nodeSelectorsConfigured: Family = {
  plugins: {
    enable: ["PodNodeSelector"],
    disable: otherPlugins,
    configurations: { PodNodeSelector: selectorConfiguration },
  },
  setup: [],
  scenarios: [...selectors.map(selectorScenario), changedSelector],
};

const defaultsKey = "scheduler.alpha.kubernetes.io/defaultTolerations";
const allowedKey = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";
const exists = (key: string, fields: Sent = {}): Sent => ({ key, operator: "Exists", ...fields });
const equal = (key: string, value: string, fields: Sent = {}): Sent => ({ key, operator: "Equal", value, ...fields });

/** By namespace: its default and allowed tolerations, as lists or texts. */
const restrictions: Readonly<Record<string, { readonly defaults?: unknown; readonly allowed?: unknown }>> = {
  "toleration-none": {},
  "toleration-defaults": { defaults: [exists("a"), equal("b", "1", { effect: "NoSchedule" })] },
  "toleration-allowed": { allowed: [exists("a"), exists("node.kubernetes.io/memory-pressure")] },
  "toleration-allowed-values": { allowed: [equal("a", "1"), equal("b", "1", { effect: "NoSchedule" })] },
  "toleration-allowed-seconds": { allowed: [exists("a", { effect: "NoExecute", tolerationSeconds: 10 })] },
  "toleration-both": { defaults: [exists("b")], allowed: [exists("a")] },
  "toleration-all": { allowed: [{ operator: "Exists" }] },
  "toleration-empty": { defaults: "", allowed: "" },
  "toleration-empty-lists": { defaults: [], allowed: [] },
  "toleration-null": { defaults: "null", allowed: "null" },
  "toleration-text": { defaults: "x" },
  "toleration-object": { defaults: "{}" },
  "toleration-string": { allowed: '"x"' },
  "toleration-strings": { allowed: '["x"]' },
  "toleration-key": { defaults: '[{"key":1}]' },
  "toleration-seconds": { defaults: '[{"key":"a","tolerationSeconds":"1"}]' },
  "toleration-case": { defaults: '[{"Key":"a","OPERATOR":"Exists"}]' },
  "toleration-unknown": { defaults: '[{"key":"a","operator":"Exists","x":1}]' },
  "toleration-end": { allowed: "[" },
  "toleration-more": { allowed: "[] x" },
  "toleration-invalid": { defaults: [{ key: "a b", operator: "Exists" }] },
};

const resources = { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }] };
const tolerationLists: readonly (readonly Sent[])[] = [
  [],
  [exists("a")],
  [exists("b")],
  [equal("a", "1")],
  [equal("a", "2")],
  [equal("b", "1", { effect: "NoSchedule" })],
  [exists("a", { effect: "NoExecute", tolerationSeconds: 5 })],
  [exists("a", { effect: "NoExecute", tolerationSeconds: 20 })],
  [{ operator: "Exists" }],
  [equal("a", "1"), exists("a"), exists("a", { effect: "NoExecute" })],
  [exists("node.kubernetes.io/memory-pressure")],
  [{ key: "a", value: "1" }],
  [exists("a"), exists("a")],
];

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function tolerationScenario(name: string): Scenario {
  const { defaults, allowed } = restrictions[name] ?? {};
  const annotations = {
    ...(defaults !== undefined && { [defaultsKey]: textOf(defaults) }),
    ...(allowed !== undefined && { [allowedKey]: textOf(allowed) }),
  };
  return {
    name,
    setup: [annotatedNamespace(name, annotations)],
    answers: {},
    requests: [
      ...tolerationLists.map((tolerations, index) => createPod(name, `pod-${index}`, { tolerations })),
      createPod(name, "burstable", resources),
      createPod(name, "burstable-tolerating", { ...resources, tolerations: [exists("a")] }),
      createPod(name, "dry", resources, "?dryRun=All"),
      request(`POST ${core(name, "pods")}`, {
        metadata: { name: "claims-best-effort" },
        spec: resources,
        status: { qosClass: "BestEffort" },
      }),
      request(`PATCH ${core(name, "pods", "pod-1")}`, { metadata: { labels: { a: "b" } } }, merge),
      request(`PATCH ${core(name, "pods", "burstable")}`, { metadata: { labels: { a: "b" } } }, merge),
      request(`PATCH ${core(name, "pods", "pod-1")}`, { spec: { tolerations: [exists("a"), exists("c")] } }, merge),
      request(`PATCH ${core(name, "pods", "pod-1")}/status`, { status: { message: "m" } }, merge),
    ],
  };
}

export const tolerationsConfigured: Family = {
  plugins: {
    enable: ["PodTolerationRestriction"],
    disable: otherPlugins,
    configurations: {
      PodTolerationRestriction: {
        apiVersion: "podtolerationrestriction.admission.k8s.io/v1alpha1",
        kind: "Configuration",
        default: [exists("cluster")],
        whitelist: [exists("cluster"), exists("a"), exists("node.kubernetes.io/memory-pressure")],
      },
    },
  },
  setup: [],
  scenarios: Object.keys(restrictions).map(tolerationScenario),
};

/** No configuration: without annotations, the plugins restrict nothing. */
export const restrictionsWithoutConfiguration: Family = {
  plugins: { enable: ["PodNodeSelector", "PodTolerationRestriction"], disable: otherPlugins },
  setup: [],
  scenarios: [
    ...["selector-none", "selector-one"].map((name) =>
      selectorScenario(selectors.find(([one]) => one === name) as (typeof selectors)[number]),
    ),
    ...["toleration-none", "toleration-both"].map(tolerationScenario),
  ],
};
