/** Plugins that are off by default and look only at the object: images, extended resources, anti-affinity, external addresses. */
import type { AdmissionRequest, Scenario, Sent } from "../../../../../test/support/admission-golden.ts";
import { otherPlugins } from "../../../../../test/support/admission-replay.ts";
import { core, type Family, mutatingBinding, mutatingPolicy, namespace, request } from "./builders.ts";

const merge = "application/merge-patch+json";
const jsonPatch = "application/json-patch+json";

const container = (fields: Sent = {}): Sent => ({ name: "c", image: "example.com/a", ...fields });
const pod = (name: string, spec: Sent, metadata: Sent = {}): Sent => ({
  metadata: { name, ...metadata },
  spec: { containers: [container()], ...spec },
});
const createPod = (inNamespace: string, name: string, spec: Sent, query = ""): AdmissionRequest =>
  request(`POST ${core(inNamespace, "pods")}${query}`, pod(name, spec));
const scenario = (name: string, requests: (inNamespace: string) => readonly AdmissionRequest[]): Scenario => ({
  name,
  setup: [namespace(name)],
  answers: {},
  requests: requests(name),
});

const policies = [undefined, "Always", "IfNotPresent", "Never"];
const withPolicy = (imagePullPolicy: string | undefined): Sent =>
  imagePullPolicy === undefined ? {} : { imagePullPolicy };
const imageVolume = (pullPolicy: string | undefined): Sent => ({
  name: "v",
  image: { reference: "example.com/v", ...(pullPolicy !== undefined && { pullPolicy }) },
});

const pullPolicies = scenario("pull-policies", (inNamespace) => [
  ...policies.flatMap((policy, index) => [
    createPod(inNamespace, `container-${index}`, { containers: [container(withPolicy(policy))] }),
    createPod(inNamespace, `tag-${index}`, { containers: [container({ image: "a:1", ...withPolicy(policy) })] }),
    createPod(inNamespace, `init-${index}`, { initContainers: [container({ name: "i", ...withPolicy(policy) })] }),
    createPod(inNamespace, `volume-${index}`, { volumes: [imageVolume(policy), { name: "e", emptyDir: {} }] }),
  ]),
  createPod(inNamespace, "dry", { containers: [container(withPolicy("Never"))] }, "?dryRun=All"),
  createPod(inNamespace, "invalid", { containers: [container(withPolicy("Sometimes"))] }),
  createPod(inNamespace, "no-image", { containers: [{ name: "c", imagePullPolicy: "Never" }] }),
  createPod(inNamespace, "no-containers", { containers: [] }),
  request(`POST ${core(inNamespace, "replicationcontrollers")}`, {
    metadata: { name: "template" },
    spec: {
      selector: { a: "b" },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [container(withPolicy("Never"))] } },
    },
  }),
]);

const images = (image: string): Sent[] => [{ op: "replace", path: "/spec/containers/0/image", value: image }];

const imageUpdates = scenario("image-updates", (inNamespace) => {
  const path = core(inNamespace, "pods", "a");
  const two = [container(), container({ name: "d", image: "example.com/d" })];
  return [
    createPod(inNamespace, "a", {
      containers: two,
      initContainers: [container({ name: "i", image: "example.com/i" })],
    }),
    request(`PATCH ${path}`, { metadata: { labels: { a: "b" } } }, merge),
    request(`PATCH ${path}`, images("example.com/new"), jsonPatch),
    request(`PATCH ${path}`, images("example.com/d"), jsonPatch),
    request(`PATCH ${path}`, images("example.com/i"), jsonPatch),
    request(`PATCH ${path}?dryRun=All`, images("example.com/other"), jsonPatch),
    request(`PATCH ${path}`, { spec: { activeDeadlineSeconds: 5 } }, merge),
    request(
      `PATCH ${path}/ephemeralcontainers`,
      { spec: { ephemeralContainers: [container({ name: "e", imagePullPolicy: "Never" })] } },
      "application/strategic-merge-patch+json",
    ),
    request(`PATCH ${path}`, images("example.com/after-ephemeral"), jsonPatch),
    request(`PATCH ${path}/status`, { status: { message: "m" } }, merge),
    request(`DELETE ${path}?gracePeriodSeconds=0`),
  ];
});

const podRule: Sent = { apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE", "UPDATE"] };
const revert = (path: string, value: string, when: string): Sent => ({
  patchType: "JSONPatch",
  jsonPatch: { expression: `${when} ? [JSONPatch{op: "add", path: "${path}", value: "${value}"}] : []` },
});

/** A policy that runs after the plugin changes the pull policies again. */
const reverted: Scenario = {
  name: "reverted-pull-policies",
  setup: [
    namespace("reverted-pull-policies"),
    mutatingPolicy("reverted-pull-policies", {
      matchConstraints: { resourceRules: [podRule] },
      reinvocationPolicy: "IfNeeded", // Otherwise the plugin runs last.
      mutations: [
        revert("/spec/containers/0/imagePullPolicy", "Never", "true"),
        revert("/spec/containers/1/imagePullPolicy", "IfNotPresent", "object.spec.containers.size() > 1"),
        revert("/spec/initContainers/0/imagePullPolicy", "Never", "has(object.spec.initContainers)"),
        revert("/spec/volumes/0/image/pullPolicy", "Never", "has(object.spec.volumes)"),
      ],
    }),
    mutatingBinding("reverted-pull-policies", "reverted-pull-policies"),
  ],
  answers: {},
  requests: [
    createPod("reverted-pull-policies", "one", {}),
    createPod("reverted-pull-policies", "two", { containers: [container(), container({ name: "d" })] }),
    createPod("reverted-pull-policies", "init", { initContainers: [container({ name: "i" })] }),
    createPod("reverted-pull-policies", "volume", { volumes: [imageVolume("Always")] }),
    createPod("reverted-pull-policies", "dry", { volumes: [imageVolume("Always")] }, "?dryRun=All"),
    request(`POST ${core("reverted-pull-policies", "pods")}`, {
      metadata: { generateName: "generated-" },
      spec: { containers: [container()] },
    }),
  ],
};

const device = "example.com/device";
const resources = (names: readonly string[], kind = "limits"): Sent => ({
  resources: { [kind]: Object.fromEntries(names.map((name) => [name, "1"])) },
});
const tolerations: readonly Sent[] = [
  { key: device, operator: "Exists", effect: "NoSchedule" },
  { key: device, operator: "Exists", effect: "NoExecute" },
  { key: device, operator: "Equal", value: "x", effect: "NoSchedule" },
  { key: device, operator: "Exists" },
  { operator: "Exists" },
  { key: device, operator: "Exists", effect: "NoSchedule", tolerationSeconds: 3 },
  { key: "other", operator: "Exists", effect: "NoSchedule" },
];

const extendedResources = scenario("extended-resources", (inNamespace) => [
  ...[
    "example.com/device",
    "kubernetes.io/device",
    "a.kubernetes.io/b",
    "cpu",
    "hugepages-2Mi",
    "requests.example.com/x",
    "x",
    "/",
    "",
  ].map((name, index) => createPod(inNamespace, `name-${index}`, { containers: [container(resources([name]))] })),
  createPod(inNamespace, "requests-only", { containers: [container(resources([device], "requests"))] }),
  createPod(inNamespace, "both", {
    containers: [container({ resources: { limits: { [device]: "2" }, requests: { [device]: "2" } } })],
  }),
  createPod(inNamespace, "zero", { containers: [container({ resources: { limits: { [device]: "0" } } })] }),
  createPod(inNamespace, "several", { containers: [container(resources(["z.com/z", "a.com/z", "a.com/B", device]))] }),
  createPod(inNamespace, "init", {
    containers: [container(resources([device]))],
    initContainers: [container({ name: "i", ...resources(["b.com/b", device]) })],
  }),
  ...tolerations.flatMap((toleration, index) => [
    createPod(inNamespace, `toleration-${index}`, {
      containers: [container(resources([device]))],
      tolerations: [toleration],
    }),
    createPod(inNamespace, `two-tolerations-${index}`, {
      containers: [container(resources([device]))],
      tolerations: [toleration, { key: "last", operator: "Exists" }, toleration],
    }),
  ]),
  createPod(inNamespace, "dry", { containers: [container(resources([device]))] }, "?dryRun=All"),
  request(`PATCH ${core(inNamespace, "pods", "several")}`, { metadata: { labels: { a: "b" } } }, merge),
  request(`PATCH ${core(inNamespace, "pods", "toleration-1")}`, { metadata: { labels: { a: "b" } } }, merge),
  request(`PATCH ${core(inNamespace, "pods", "name-3")}`, { metadata: { labels: { a: "b" } } }, merge),
]);

const term = (topologyKey: string): Sent => ({ topologyKey, labelSelector: { matchLabels: { a: "b" } } });
const hostname = "kubernetes.io/hostname";
const antiAffinity = (podAntiAffinity: Sent): Sent => ({ affinity: { podAntiAffinity } });

const antiAffinities = scenario("anti-affinity", (inNamespace) => {
  const required = (...keys: string[]): Sent =>
    antiAffinity({ requiredDuringSchedulingIgnoredDuringExecution: keys.map(term) });
  const specs: Sent[] = [
    {},
    { affinity: {} },
    antiAffinity({}),
    required(),
    required(hostname),
    required("zone"),
    required(hostname, "zone"),
    required("zone", "region"),
    required(""),
    antiAffinity({ preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term("zone") }] }),
    { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term("zone")] } } },
  ];
  return [
    ...specs.map((spec, index) => createPod(inNamespace, `pod-${index}`, spec)),
    createPod(inNamespace, "dry", required("zone"), "?dryRun=All"),
    request(`POST ${core(inNamespace, "pods")}`, pod("", required("zone"), { generateName: "generated-" })),
    request(`PATCH ${core(inNamespace, "pods", "pod-4")}`, { metadata: { labels: { a: "b" } } }, merge),
    request(`POST ${core(inNamespace, "replicationcontrollers")}`, {
      metadata: { name: "template" },
      spec: {
        selector: { a: "b" },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [container()], ...required("zone") } },
      },
    }),
  ];
});

const service = (name: string, spec: Sent): Sent => ({
  metadata: { name },
  spec: { clusterIP: "None", ports: [{ port: 80 }], ...spec },
});

const externalIps = scenario("external-ips", (inNamespace) => {
  const services = core(inNamespace, "services");
  const patch = (externalIPs: readonly string[] | null, query = ""): AdmissionRequest =>
    request(`PATCH ${services}/plain${query}`, { spec: { externalIPs } }, merge);
  return [
    request(`POST ${services}`, service("a", { externalIPs: ["192.0.2.1"] })),
    request(`POST ${services}`, service("b", { externalIPs: ["x"] })),
    request(`POST ${services}`, service("plain", { externalIPs: [] })),
    request(`POST ${services}?dryRun=All`, service("c", { externalIPs: ["192.0.2.1"] })),
    request(`POST ${services}`, {
      metadata: { generateName: "generated-" },
      spec: service("", { externalIPs: ["192.0.2.1"] }).spec,
    }),
    patch(["192.0.2.1"]),
    patch(["192.0.2.1"], "?dryRun=All"),
    patch(null),
    patch([]),
    request(`PATCH ${services}/plain/status`, { spec: { externalIPs: ["192.0.2.1"] } }, merge),
    request(`PUT ${services}/new`, service("new", { externalIPs: ["192.0.2.1"] })),
    request(
      `PATCH ${services}/applied?fieldManager=applier`,
      { apiVersion: "v1", kind: "Service", ...service("applied", { externalIPs: ["192.0.2.1"] }) },
      "application/apply-patch+yaml",
    ),
    request(`DELETE ${services}/plain`),
  ];
});

export const optionalObjects: Family = {
  plugins: {
    enable: [
      "AlwaysAdmit",
      "AlwaysPullImages",
      "DenyServiceExternalIPs",
      "ExtendedResourceToleration",
      "LimitPodHardAntiAffinityTopology",
    ],
    disable: otherPlugins,
  },
  setup: [],
  scenarios: [pullPolicies, imageUpdates, reverted, extendedResources, antiAffinities, externalIps],
};
