/** LimitRanges: defaults and bounds of containers, pods and claims, with every relation of request, limit and bound. */
import type { AdmissionRequest, Scenario, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import { otherPlugins } from "../../../../../test/support/admission-replay.ts";
import { seededRandom } from "../../../../../test/support/seeded-random.ts";
import { core, type Family, namespace, request } from "./builders.ts";

const mergePatch = "application/merge-patch+json";
const applyPatch = "application/apply-patch+yaml";

const limitRange = (inNamespace: string, name: string, limits: readonly Sent[]): SetupStep => [
  core(inNamespace, "limitranges"),
  { metadata: { name }, spec: { limits } },
];

const container = (name: string, resources: Sent = {}, rest: Sent = {}): Sent => ({
  name,
  image: "example.com/image",
  resources,
  ...rest,
});

const pod = (name: string, spec: Sent): Sent => ({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec });

const createPod = (inNamespace: string, name: string, spec: Sent, query = ""): AdmissionRequest =>
  request(`POST ${core(inNamespace, "pods")}${query}`, pod(name, spec));

/** The requests and limits of one resource, for each combination of two amounts or none. */
function combinations(resource: string, amounts: readonly string[]): Sent[] {
  const each = [undefined, ...amounts];
  return each.flatMap((requested) =>
    each.map((limit) => ({
      ...(requested !== undefined && { requests: { [resource]: requested } }),
      ...(limit !== undefined && { limits: { [resource]: limit } }),
    })),
  );
}

/** Pods with one container each, in a namespace with one LimitRange. */
function withResources(name: string, limits: Sent, resources: readonly Sent[]): Scenario {
  return {
    name,
    setup: [namespace(name), limitRange(name, "limits", [limits])],
    answers: {},
    requests: resources.map((each, index) =>
      createPod(name, `pod-${index}`, { containers: [container("main", each)] }),
    ),
  };
}

const cpu = combinations("cpu", ["50m", "100m", "1500m"]);
const bounds: readonly Scenario[] = [
  withResources("container-min", { type: "Container", min: { cpu: "100m" } }, cpu),
  withResources("container-max", { type: "Container", max: { cpu: "1" } }, cpu),
  withResources("container-ratio", { type: "Container", maxLimitRequestRatio: { cpu: "2" } }, [
    ...combinations("cpu", ["0", "300m", "600m"]),
    { requests: { cpu: "128m" }, limits: { cpu: "257m" } },
    { requests: { cpu: "129m" }, limits: { cpu: "128" } },
    { requests: { cpu: "128" }, limits: { cpu: "257" } },
    { requests: { cpu: "300m" }, limits: { cpu: "700m" } },
    { requests: { cpu: "1n" }, limits: { cpu: "1" } },
  ]),
  withResources(
    "container-ratio-fraction",
    { type: "Container", maxLimitRequestRatio: { memory: "1500m" } },
    combinations("memory", ["64Mi", "96Mi", "97Mi"]),
  ),
  withResources(
    "container-defaults",
    { type: "Container", default: { cpu: "500m", memory: "256Mi" }, defaultRequest: { cpu: "250m", memory: "128Mi" } },
    [...cpu, { requests: { cpu: "1" }, limits: { memory: "1Gi" } }, { claims: [] }],
  ),
  withResources("container-default-limit", { type: "Container", default: { cpu: "500m" } }, cpu),
  withResources("container-default-request", { type: "Container", defaultRequest: { cpu: "100m" } }, cpu),
  withResources("container-max-huge", { type: "Container", max: { memory: "9e15" } }, [
    ...combinations("memory", ["9000000000000000", "9000000000000001", "9e15", "8Pi"]),
    { limits: { memory: "9000000000000000001m" } },
  ]),
  withResources(
    "container-extended",
    { type: "Container", max: { "example.com/gpu": "2" }, min: { "example.com/gpu": "1" } },
    ["1", "2", "3"].map((amount) => ({ limits: { "example.com/gpu": amount } })),
  ),
  withResources("pod-min", { type: "Pod", min: { cpu: "100m" } }, cpu),
  withResources("pod-max", { type: "Pod", max: { cpu: "1" } }, cpu),
  withResources(
    "pod-ratio",
    { type: "Pod", maxLimitRequestRatio: { cpu: "3" } },
    combinations("cpu", ["0", "100m", "400m"]),
  ),
  withResources("other-type", { type: "example.com/Custom", max: { cpu: "1m" } }, cpu.slice(0, 3)),
  withResources("written-forms", { type: "Container", min: { memory: "1.5Gi" }, max: { memory: "2.500G" } }, [
    { limits: { memory: "1500M" } },
    { limits: { memory: "0.5Gi" } },
    { limits: { memory: "3.0Gi" } },
    { limits: { memory: "3e9" } },
    { requests: { memory: "1.6G" }, limits: { memory: "2.4G" } },
  ]),
];

const sidecar = { restartPolicy: "Always" };
const both = (cpu: string, memory: string): Sent => ({ requests: { cpu, memory }, limits: { cpu, memory } });

/** The sum of containers, sidecars, init containers and the resources of the pod. */
const shapes: readonly Sent[] = [
  { containers: [container("a", both("300m", "1Gi")), container("b", both("300m", "1Gi"))] },
  { containers: [container("a", both("300m", "1Gi")), container("b", both("900m", "3Gi"))] },
  { containers: [container("a", both("300m", "1Gi"))], initContainers: [container("i", both("900m", "512Mi"))] },
  { containers: [container("a", both("300m", "1Gi"))], initContainers: [container("i", both("1200m", "512Mi"))] },
  {
    containers: [container("a", both("300m", "1Gi"))],
    initContainers: [container("s", both("300m", "1Gi"), sidecar), container("i", both("800m", "1.500Gi"))],
  },
  {
    containers: [container("a", both("800m", "1Gi"))],
    initContainers: [container("s", both("300m", "1.500Gi"), sidecar)],
  },
  { containers: [container("a", both("100m", "1Gi"))], initContainers: [container("i", both("1.500", "1Gi"))] },
  { containers: [container("a")], resources: both("500m", "1Gi") },
  { containers: [container("a")], resources: both("2", "1Gi") },
  { containers: [container("a")], resources: { requests: { cpu: "50m" } } },
  { containers: [container("a", both("1200m", "1Gi"))], resources: both("1300m", "1Gi") },
  { containers: [container("a"), container("b", { requests: { cpu: "900m", memory: "100Mi" } })] },
  { containers: [container("a")], initContainers: [container("s", {}, sidecar), container("i")] },
];

const podSums: Scenario = {
  name: "pod-sums",
  setup: [
    namespace("pod-sums"),
    limitRange("pod-sums", "limits", [
      { type: "Pod", min: { cpu: "100m" }, max: { cpu: "1", memory: "2Gi" }, maxLimitRequestRatio: { cpu: "2" } },
    ]),
  ],
  answers: {},
  requests: shapes.map((shape, index) => createPod("pod-sums", `pod-${index}`, shape)),
};

const containerShapes: Scenario = {
  name: "container-shapes",
  setup: [
    namespace("container-shapes"),
    limitRange("container-shapes", "limits", [
      {
        type: "Container",
        min: { cpu: "100m" },
        max: { cpu: "1", memory: "2Gi" },
        default: { cpu: "800m" },
        defaultRequest: { cpu: "400m", memory: "64Mi" },
        maxLimitRequestRatio: { memory: "32" },
      },
      { type: "Pod", max: { cpu: "3" } },
    ]),
  ],
  answers: {},
  requests: shapes.map((shape, index) => createPod("container-shapes", `pod-${index}`, shape)),
};

const claim = (name: string, storage: string, rest: Sent = {}): Sent => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name, ...rest },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
});

const claimLimits = (name: string, limits: readonly Sent[]): Scenario => ({
  name,
  setup: [namespace(name), limitRange(name, "limits", limits)],
  answers: {},
  requests: [
    ...["1", "500Mi", "1Gi", "5Gi", "10Gi", "11Gi", "1.5e10", "0.5Gi"].map((storage, index) =>
      request(`POST ${core(name, "persistentvolumeclaims")}`, claim(`claim-${index}`, storage)),
    ),
    request(`POST ${core(name, "persistentvolumeclaims")}?dryRun=All`, claim("dry", "20Gi")),
    request(
      `PATCH ${core(name, "persistentvolumeclaims", "applied")}?fieldManager=applier`,
      claim("applied", "20Gi"),
      applyPatch,
    ),
    request(`POST ${core(name, "persistentvolumeclaims")}`, {
      metadata: { generateName: "generated-" },
      spec: claim("", "20Gi").spec,
    }),
  ],
});

const claims: readonly Scenario[] = [
  claimLimits("claim-min", [{ type: "PersistentVolumeClaim", min: { storage: "1Gi" } }]),
  claimLimits("claim-max", [{ type: "PersistentVolumeClaim", max: { storage: "10Gi" } }]),
  claimLimits("claim-range", [
    { type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "10Gi" } },
    { type: "Container", max: { cpu: "1" } },
  ]),
];

/** Updates of what was stored before the LimitRange, subresources, other kinds. */
function later(name: string): Scenario {
  const main = { containers: [container("main", { requests: { cpu: "2" }, limits: { cpu: "2" } })] };
  const pods = core(name, "pods");
  const claimPath = core(name, "persistentvolumeclaims", "large");
  const resize = (requested: string, limit: string): AdmissionRequest =>
    request(
      `PATCH ${pods}/old/resize`,
      { spec: { containers: [{ name: "main", resources: { requests: { cpu: requested }, limits: { cpu: limit } } }] } },
      "application/strategic-merge-patch+json",
    );
  const limits = [
    { type: "Container", max: { cpu: "1" }, default: { memory: "1Gi" } },
    { type: "PersistentVolumeClaim", max: { storage: "10Gi" } },
  ];
  return {
    name,
    setup: [namespace(name), [pods, pod("old", main)], [core(name, "persistentvolumeclaims"), claim("large", "20Gi")]],
    answers: {},
    requests: [
      request(`POST ${core(name, "limitranges")}`, { metadata: { name: "limits" }, spec: { limits } }),
      createPod(name, "new", main),
      createPod(name, "new", { containers: [container("main")] }, "?dryRun=All"),
      request(`PATCH ${pods}/old`, { metadata: { labels: { a: "b" } } }, mergePatch),
      request(`PATCH ${pods}/old/status`, { status: { message: "changed" } }, mergePatch),
      request(
        `PATCH ${pods}/old/ephemeralcontainers`,
        { spec: { ephemeralContainers: [{ name: "debug", image: "example.com/image" }] } },
        "application/strategic-merge-patch+json",
      ),
      resize("1", "2"),
      resize("500m", "1"),
      resize("1", "1500m"),
      resize("2", "2"),
      request(`PATCH ${claimPath}`, { metadata: { labels: { a: "b" } } }, mergePatch),
      request(`PATCH ${claimPath}/status`, { status: { phase: "Bound" } }, mergePatch),
      request(`PATCH ${claimPath}?dryRun=All`, { metadata: { finalizers: ["example.com/hold"] } }, mergePatch),
      request(`PATCH ${pods}/old/status`, { metadata: { finalizers: ["example.com/hold"] } }, mergePatch),
      request(`PATCH ${pods}/old`, { metadata: { finalizers: ["example.com/hold"] } }, mergePatch),
      request(`DELETE ${pods}/old?gracePeriodSeconds=0`),
      resize("2500m", "3"),
      request(`PATCH ${core(name, "limitranges", "limits")}`, { spec: { limits: [limits[0]] } }, mergePatch),
      request(`PATCH ${claimPath}`, { metadata: { finalizers: ["example.com/hold"] } }, mergePatch),
      request(`DELETE ${claimPath}`),
      request(`PATCH ${core(name, "limitranges", "limits")}`, { spec: { limits } }, mergePatch),
      request(`PATCH ${claimPath}`, { metadata: { labels: { c: "d" } } }, mergePatch),
      request(`PATCH ${claimPath}`, { metadata: { finalizers: null } }, mergePatch),
      request(`POST ${core(name, "podtemplates")}`, { metadata: { name: "template" }, template: { spec: main } }),
      request(`PATCH ${pods}/applied?fieldManager=applier`, pod("applied", main), applyPatch),
      request(
        `PATCH ${pods}/applied?fieldManager=applier`,
        pod("applied", { containers: [container("main")] }),
        applyPatch,
      ),
      request(`POST ${pods}`, {
        metadata: { generateName: "generated-", annotations: { "kubernetes.io/limit-ranger": "mine", a: "b" } },
        spec: { containers: [container("main")] },
      }),
      request(`POST ${pods}`, { metadata: { generateName: "generated-" }, spec: main }),
    ],
  };
}

/** Two LimitRanges; one sets defaults, both have bounds. */
const several: Scenario = {
  name: "several",
  setup: [
    namespace("several"),
    limitRange("several", "first", [{ type: "Container", max: { cpu: "1" }, default: { cpu: "1" } }]),
    limitRange("several", "second", [{ type: "Pod", max: { memory: "1Gi" } }]),
  ],
  answers: {},
  requests: [both("1", "1Gi"), both("2", "1Gi"), both("1", "2Gi"), { limits: { memory: "1Gi" } }].map((each, index) =>
    createPod("several", `pod-${index}`, { containers: [container("main", each)] }),
  ),
};

/** Errors about several resources of a pod have the random order of a Go map. */
function onlyOf(resource: string, resources: Sent): Sent {
  const kept = Object.entries(resources).filter(([, list]) => Object.hasOwn(list, resource));
  return Object.fromEntries(kept.map(([field, list]) => [field, { [resource]: list[resource] }]));
}

const randomScenarios = 8;
const podsOfRandom = 14;

/** Random LimitRanges and valid pods, with several bounds violated at once. */
function randomOf(seed: number): Scenario {
  const random = seededRandom(seed);
  const name = `random-${seed}`;
  const pick = <Value>(list: readonly Value[]): Value => list[random(list.length)] as Value;
  const amounts = (cpu: readonly string[], memory: readonly string[]): Sent => ({
    ...(random(3) > 0 && { cpu: pick(cpu) }),
    ...(random(3) > 0 && { memory: pick(memory) }),
  });
  const small = ["50m", "0.1", "100m", "200m"];
  const large = ["1", "1500m", "2", "2.5"];
  const item = (type: string): Sent => ({
    type,
    ...(random(3) === 0 && { min: { cpu: pick(small), memory: "64Mi" } }),
    ...(random(2) === 0 && { max: { cpu: pick(large), memory: pick(["1Gi", "2Gi"]) } }),
    ...(random(3) === 0 && { maxLimitRequestRatio: { cpu: pick(["1", "2", "3.5"]) } }),
  });
  /** Requests are not larger than limits, so that the pod is valid. */
  const any = (): Sent => ({
    ...(random(4) > 0 && { requests: amounts(small, ["64Mi", "100M"]) }),
    ...(random(3) > 0 && { limits: amounts(large, ["100M", "1Gi", "1.5Gi", "2e9", "3G"]) }),
  });
  const spec = (): Sent => {
    const ofPod = random(4) === 0;
    const resources = (): Sent => (ofPod ? {} : any());
    return {
      containers: ["a", "b"].slice(random(2)).map((each) => container(each, resources())),
      ...(random(3) === 0 && {
        initContainers: ["i", "j"].map((each) => container(each, resources(), random(2) === 0 ? sidecar : {})),
      }),
      ...(ofPod && { resources: onlyOf(pick(["cpu", "memory"]), any()) }),
    };
  };
  return {
    name,
    setup: [namespace(name), limitRange(name, "limits", [item("Container"), item("Pod")])],
    answers: {},
    requests: Array.from({ length: podsOfRandom }, (_, index) => createPod(name, `pod-${index}`, spec())),
  };
}

export const limitRanger: Family = {
  plugins: { disable: otherPlugins.filter((name) => name !== "LimitRanger") },
  setup: [],
  scenarios: [
    ...bounds,
    podSums,
    containerShapes,
    ...claims,
    later("later"),
    several,
    ...Array.from({ length: randomScenarios }, (_, index) => randomOf(index + 1)),
  ],
};
