/** The plugin ResourceQuota, without and with a configuration. */
import type { Scenario, Sent } from "../../../../../test/support/admission-golden.ts";
import { otherPlugins } from "../../../../../test/support/admission-replay.ts";
import type { Family } from "./builders.ts";
import { claim, container, create, pod, ready, service, usage } from "./quota-builders.ts";
import { objectScenarios } from "./quota-objects.ts";
import { podScenarios, scenario } from "./quota-pods.ts";

const disable = otherPlugins.filter((name) => name !== "ResourceQuota");

const things: readonly [string, Sent] = [
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  {
    metadata: { name: "things.quota.example.com" },
    spec: {
      group: "quota.example.com",
      names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  },
];

export const resourceQuota: Family = {
  plugins: { disable },
  setup: [things],
  scenarios: [...podScenarios, ...objectScenarios],
};

const limited = (rest: Sent): Sent => ({
  apiVersion: "apiserver.config.k8s.io/v1",
  kind: "ResourceQuotaConfiguration",
  limitedResources: [
    { resource: "persistentvolumeclaims", matchContains: [".storageclass.storage.k8s.io/requests.storage"] },
    { resource: "services", matchContains: ["loadbalancers"] },
    { apiGroup: "apps", resource: "deployments", matchContains: ["count/"] },
    {
      resource: "pods",
      matchContains: ["requests.example.com/"],
      matchScopes: [{ scopeName: "PriorityClass", operator: "In", values: ["cluster-services", "other"] }],
    },
    { resource: "pods", matchScopes: [{ scopeName: "CrossNamespacePodAffinity", operator: "Exists" }] },
    { resource: "persistentvolumeclaims", matchScopes: [{ scopeName: "VolumeAttributesClass", operator: "Exists" }] },
  ],
  ...rest,
});

const foreign = {
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone", namespaces: ["other"] }] },
};
const deployment: Sent = {
  metadata: { name: "d" },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [container("a")] } },
  },
};

const limitedWrites = (ns: string) => [
  create(ns, "pods", pod("plain", {})),
  create(ns, "pods", pod("critical", { priorityClassName: "cluster-services" })),
  create(ns, "pods", pod("other", { priorityClassName: "other", affinity: foreign })),
  create(ns, "pods", pod("third", { priorityClassName: "third" })),
  create(ns, "pods", pod("foreign", { affinity: foreign })),
  create(
    ns,
    "pods",
    pod("gpu", { containers: [container("a", { "example.com/gpu": "1" }, { "example.com/gpu": "1" })] }),
  ),
  create(ns, "persistentvolumeclaims", claim("plain", "1Gi")),
  create(ns, "persistentvolumeclaims", claim("gold", "1Gi", { storageClassName: "gold" })),
  create(ns, "persistentvolumeclaims", claim("fast", "1Gi", { volumeAttributesClassName: "fast" })),
  create(ns, "services", service("plain", {})),
  create(ns, "services", service("balanced", { type: "LoadBalancer" })),
  { line: `POST /apis/apps/v1/namespaces/${ns}/deployments`, body: deployment },
];

const limitedScenarios: readonly Scenario[] = [
  scenario("limited-none", limitedWrites),
  scenario("limited-covered", (ns) => [
    ...ready(
      ns,
      { pods: "10" },
      {
        scopeSelector: {
          matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["cluster-services"] }],
        },
      },
      "critical",
    ),
    ...ready(ns, { pods: "10" }, { scopes: ["CrossNamespacePodAffinity"] }, "foreign"),
    ...ready(ns, { persistentvolumeclaims: "10" }, { scopes: ["VolumeAttributesClass"] }, "fast"),
    ...ready(ns, {
      ...{ "requests.example.com/gpu": "3", "gold.storageclass.storage.k8s.io/requests.storage": "10Gi" },
      ...{ "services.loadbalancers": "1", "count/deployments.apps": "1" },
    }),
    ...limitedWrites(ns),
    create(ns, "services", service("second", { type: "LoadBalancer" })),
    usage(ns),
    usage(ns, "critical"),
    usage(ns, "foreign"),
    usage(ns, "fast"),
  ]),
  scenario("limited-other", (ns) => [...ready(ns, { pods: "10", services: "10" }), ...limitedWrites(ns), usage(ns)]),
];

export const resourceQuotaLimited: Family = {
  plugins: { disable, configurations: { ResourceQuota: limited({}) } },
  setup: [],
  scenarios: limitedScenarios,
};
