/** What services, claims and other objects use. */
import type { Scenario, Sent } from "../../../../../test/support/admission-golden.ts";
import { type Amounts, claim, create, patch, post, ready, remove, service, status, usage } from "./quota-builders.ts";
import { scenario } from "./quota-pods.ts";

const ports = {
  ports: [
    { name: "a", port: 1 },
    { name: "b", port: 2 },
  ],
};
const allServices: Amounts = {
  services: "20",
  "count/services": "20",
  "services.nodeports": "20",
  "services.loadbalancers": "20",
};

const services = scenario("services", (ns) => [
  ...ready(ns, allServices),
  ...[
    service("plain", {}),
    service("external", { type: "ExternalName", externalName: "example.com" }),
    service("node", { type: "NodePort", ...ports }),
    service("balanced", { type: "LoadBalancer", ...ports }),
    service("direct", { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, ...ports }),
    service("headless", { clusterIP: "None" }),
  ].flatMap((body) => [create(ns, "services", body), usage(ns)]),
  ...[
    ["plain", { type: "NodePort" }],
    ["plain", { type: "LoadBalancer" }],
    ["plain", { type: "ClusterIP" }],
    ["node", { ports: [...ports.ports, { name: "c", port: 3 }] }],
    ["node", { ports: [{ name: "a", port: 1 }] }],
    ["direct", { allocateLoadBalancerNodePorts: true }],
  ].flatMap(([name, spec]) => [patch(ns, `services/${name}`, { spec }), usage(ns)]),
  patch(ns, "services/balanced/status", { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } }),
  patch(ns, "services/plain?dryRun=All", { spec: { type: "NodePort" } }),
  remove(ns, "services/node"),
  usage(ns),
]);

const fewServices = scenario("few-services", (ns) => [
  ...Object.keys(allServices).flatMap((name) => [
    ...ready(ns, { [name]: "1" }),
    create(ns, "services?dryRun=All", service("plain", {})),
    create(ns, "services?dryRun=All", service("node", { type: "NodePort", ...ports })),
    create(ns, "services?dryRun=All", service("balanced", { type: "LoadBalancer", ...ports })),
    status(ns, { [name]: "1" }, { [name]: "1" }),
    create(ns, "services?dryRun=All", service("plain", {})),
    create(ns, "services?dryRun=All", service("balanced", { type: "LoadBalancer", ...ports })),
    remove(ns, "resourcequotas/q"),
  ]),
  create(ns, "services", service("s", {})),
  ...ready(ns, { "services.nodeports": "1" }),
  patch(ns, "services/s", { spec: { type: "NodePort" } }),
  patch(ns, "services/s", { spec: { type: "NodePort", ports: ports.ports } }),
  usage(ns),
]);

const gold = ".storageclass.storage.k8s.io/";
const storage: Amounts = {
  ...{ persistentvolumeclaims: "20", "count/persistentvolumeclaims": "20", "requests.storage": "10Gi" },
  ...{ [`gold${gold}persistentvolumeclaims`]: "2", [`gold${gold}requests.storage`]: "3Gi" },
  ...{ [`beta${gold}requests.storage`]: "3Gi" },
};

const claims = scenario("claims", (ns) => [
  ...ready(ns, storage),
  ...[
    claim("plain", "1Gi"),
    claim("empty-class", "1Gi", { storageClassName: "" }),
    claim("gold", "1Gi", { storageClassName: "gold" }),
    claim("beta", "1Gi", { storageClassName: "gold" }, { "volume.beta.kubernetes.io/storage-class": "beta" }),
    claim("fraction", "100.5"),
    claim("milli", "1500m"),
    claim("decimal", "1G"),
    claim("gold-large", "3Gi", { storageClassName: "gold" }),
    claim("gold-2", "1Gi", { storageClassName: "gold" }),
    claim("gold-3", "1Mi", { storageClassName: "gold" }),
    claim("too-large", "1Ti"),
    claim("invalid", "0"),
  ].flatMap((body) => [create(ns, "persistentvolumeclaims", body), usage(ns)]),
  patch(ns, "persistentvolumeclaims/plain/status", {
    status: { phase: "Bound", allocatedResources: { storage: "2Gi" }, capacity: { storage: "1Gi" } },
  }),
  usage(ns),
  patch(ns, "persistentvolumeclaims/plain/status", { status: { allocatedResources: { storage: "100Gi" } } }),
  usage(ns),
  patch(ns, "persistentvolumeclaims/plain", { metadata: { labels: { a: "b" } } }),
  remove(ns, "persistentvolumeclaims/gold"),
  usage(ns),
]);

const attributes = (operator: string, values?: readonly string[]): Sent => ({
  scopeSelector: { matchExpressions: [{ scopeName: "VolumeAttributesClass", operator, ...(values && { values }) }] },
});

const attributeClasses = [
  { scopes: ["VolumeAttributesClass"] },
  attributes("In", ["fast"]),
  attributes("NotIn", ["fast"]),
  attributes("DoesNotExist"),
].map((selection, at) =>
  scenario(`attributes-${at}`, (ns) => [
    ...ready(ns, { persistentvolumeclaims: "3", "requests.storage": "3Gi" }, selection),
    create(ns, "persistentvolumeclaims", claim("none", "1Gi")),
    create(ns, "persistentvolumeclaims", claim("fast", "1Gi", { volumeAttributesClassName: "fast" })),
    create(ns, "persistentvolumeclaims", claim("slow", "1Gi", { volumeAttributesClassName: "slow" })),
    usage(ns),
    patch(ns, "persistentvolumeclaims/slow/status", {
      status: { modifyVolumeStatus: { targetVolumeAttributesClassName: "fast", status: "Pending" } },
    }),
    usage(ns),
    patch(ns, "persistentvolumeclaims/none/status", { status: { currentVolumeAttributesClassName: "fast" } }),
    usage(ns),
  ]),
);

const devices = "/apis/resource.k8s.io/v1";
const deviceClaim = (name: string, requests: readonly Sent[]): Sent => ({
  metadata: { name },
  spec: { devices: { requests } },
});
const exactly = (deviceClassName: string, rest: Sent = {}): Sent => ({
  name: "r",
  exactly: { deviceClassName, ...rest },
});
const either = (name: string, ...alternatives: readonly Sent[]): Sent => ({
  name,
  firstAvailable: alternatives.map((one, index) => ({ name: `s${index}`, ...one })),
});
const perClass = ".deviceclass.resource.k8s.io/devices";

const resourceClaims: Scenario = {
  ...scenario("devices", (ns) => {
    const path = `${devices}/namespaces/${ns}/resourceclaims`;
    const hard = {
      ...{ "count/resourceclaims.resource.k8s.io": "10", [`gpu${perClass}`]: "40", [`nic${perClass}`]: "3" },
      ...{ "requests.example.com/gpu": "40", "requests.deviceclass.resource.kubernetes.io/gpu": "40" },
    };
    return [
      ...ready(ns, hard),
      ...[
        deviceClaim("one", [exactly("gpu")]),
        deviceClaim("three", [exactly("gpu", { allocationMode: "ExactCount", count: 3 })]),
        deviceClaim("all", [exactly("gpu", { allocationMode: "All" })]),
        deviceClaim("either", [
          either("x", { deviceClassName: "gpu", count: 2 }, { deviceClassName: "nic" }, { deviceClassName: "gpu" }),
          either("y", { deviceClassName: "nic" }),
        ]),
        deviceClaim("many", [exactly("gpu", { count: 5 })]),
        deviceClaim("nics", [exactly("nic", { count: 2 })]),
        deviceClaim("none", []),
        deviceClaim("other", [exactly("unknown")]),
      ].flatMap((body) => [post(path, body), usage(ns)]),
      post(`${path}?dryRun=All`, deviceClaim("dry", [exactly("gpu")])),
      { line: `PATCH ${path}/one`, body: { metadata: { labels: { a: "b" } } }, type: "application/merge-patch+json" },
      usage(ns),
    ];
  }),
  setup: [
    ["/api/v1/namespaces", { metadata: { name: "quota-devices" } }],
    [`${devices}/deviceclasses`, { metadata: { name: "gpu" }, spec: { extendedResourceName: "example.com/gpu" } }],
    [`${devices}/deviceclasses`, { metadata: { name: "nic" }, spec: {} }],
  ],
};

const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "image" }] } };
const apps = { selector: { matchLabels: { a: "b" } }, template };

/** Resource, group and version of the path, object. */
const counted: readonly (readonly [name: string, path: string, fields: Sent])[] = [
  ["configmaps", "/api/v1", {}],
  ["count/configmaps", "/api/v1", {}],
  ["secrets", "/api/v1", {}],
  ["count/secrets", "/api/v1", {}],
  ["replicationcontrollers", "/api/v1", { spec: { selector: { a: "b" }, template } }],
  ["resourcequotas", "/api/v1", {}],
  ["count/serviceaccounts", "/api/v1", {}],
  ["count/endpoints", "/api/v1", {}],
  ["count/limitranges", "/api/v1", {}],
  ["count/podtemplates", "/api/v1", { template }],
  ["count/deployments.apps", "/apis/apps/v1", { spec: apps }],
  ["count/replicasets.apps", "/apis/apps/v1", { spec: apps }],
  ["count/statefulsets.apps", "/apis/apps/v1", { spec: { ...apps, serviceName: "s" } }],
  [
    "count/jobs.batch",
    "/apis/batch/v1",
    { spec: { template: { spec: { restartPolicy: "Never", containers: template.spec.containers } } } },
  ],
  ["count/leases.coordination.k8s.io", "/apis/coordination.k8s.io/v1", {}],
  ["count/roles.rbac.authorization.k8s.io", "/apis/rbac.authorization.k8s.io/v1", {}],
  [
    "count/things.quota.example.com",
    "/apis/quota.example.com/v1",
    { kind: "Thing", apiVersion: "quota.example.com/v1" },
  ],
  [
    "count/events",
    "/api/v1",
    { involvedObject: { namespace: "quota-counts-17" }, reason: "r", message: "m", type: "Normal" },
  ],
];

const counts = counted.map(([name, group, fields], at) =>
  scenario(`counts-${at}`, (ns) => {
    const resource = name.replace(/^count\//, "").replace(/\..*/, "");
    const path = `${group}/namespaces/${ns}/${resource}`;
    const object = (objectName: string): Sent => ({ ...fields, metadata: { name: objectName } });
    return [
      ...ready(ns, { [name]: "2" }),
      ...(resource === "resourcequotas" ? [status(ns, { [name]: "2" }, { [name]: "0" })] : []),
      post(path, object("a")),
      usage(ns),
      post(`${path}?dryRun=All`, object("b")),
      { line: `PATCH ${path}/a`, body: { metadata: { labels: { a: "b" } } }, type: "application/merge-patch+json" },
      post(path, object("b")),
      post(path, object("c")),
      usage(ns),
    ];
  }),
);

export const objectScenarios: readonly Scenario[] = [
  ...[services, fewServices, claims, ...attributeClasses],
  ...[resourceClaims, ...counts],
];
