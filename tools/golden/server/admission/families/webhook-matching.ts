/** Which webhooks are called: rules, scope, selectors, match policy and match conditions. Many webhooks see the same requests. */
import type { AdmissionRequest, Scenario, Sent } from "../../../../../test/support/admission-golden.ts";
import {
  applyConfigMap,
  core,
  createConfigMap,
  deleteConfigMap,
  everything,
  type Family,
  mutatingWebhooks,
  namespace,
  onlyNamespace,
  patchConfigMap,
  request,
  updateConfigMap,
  validatingWebhooks,
  webhook,
} from "./builders.ts";
import { definitions, group, widget, widgets } from "./custom-resources.ts";
import { rights } from "./policies.ts";

const merge = "application/merge-patch+json";
const rule = (apiGroups: string[], apiVersions: string[], resources: string[], rest: Sent = {}): Sent => ({
  apiGroups,
  apiVersions,
  resources,
  operations: ["*"],
  ...rest,
});

const rules: Readonly<Record<string, readonly Sent[]>> = {
  all: [everything],
  "no-subresources": [rule(["*"], ["*"], ["*"])],
  core: [rule([""], ["v1"], ["*"])],
  "core-and-subresources": [rule([""], ["v1"], ["*/*"])],
  configmaps: [rule([""], ["v1"], ["configmaps"])],
  "configmaps-any-version": [rule([""], ["*"], ["configmaps"])],
  "configmaps-other-group": [rule(["apps"], ["v1"], ["configmaps"])],
  "configmaps-other-version": [rule([""], ["v1beta1"], ["configmaps"])],
  pods: [rule([""], ["v1"], ["pods"])],
  "pods-all": [rule([""], ["v1"], ["pods", "pods/*"])],
  "pods-subresources": [rule([""], ["v1"], ["pods/*"])],
  "pods-exec": [rule([""], ["v1"], ["pods/exec"])],
  "any-status": [rule(["*"], ["*"], ["*/status"])],
  "any-scale": [rule(["*"], ["*"], ["*/scale"])],
  "scale-of-deployments": [rule(["apps"], ["v1"], ["deployments/scale"])],
  creates: [{ ...everything, operations: ["CREATE"] }],
  updates: [{ ...everything, operations: ["UPDATE"] }],
  deletes: [{ ...everything, operations: ["DELETE"] }],
  connects: [{ ...everything, operations: ["CONNECT"] }],
  "creates-and-deletes": [{ ...everything, operations: ["CREATE", "DELETE"] }],
  "two-rules": [
    rule([""], ["v1"], ["pods"], { operations: ["CREATE"] }),
    rule([""], ["v1"], ["configmaps"], { operations: ["DELETE"] }),
  ],
  cluster: [{ ...everything, scope: "Cluster" }],
  namespaced: [{ ...everything, scope: "Namespaced" }],
  "any-scope": [{ ...everything, scope: "*" }],
  namespaces: [rule([""], ["v1"], ["namespaces"])],
  "namespaces-namespaced": [rule([""], ["v1"], ["namespaces"], { scope: "Namespaced" })],
  widgets: [rule([group], ["v1"], ["widgets"])],
  "widgets-beta": [rule([group], ["v1beta1"], ["widgets"])],
  "widgets-beta-and-status": [rule([group], ["v1beta1"], ["widgets", "widgets/status"])],
  "widgets-unknown-version": [rule([group], ["v7"], ["widgets"])],
  regions: [rule([group], ["*"], ["regions"])],
  scalers: [rule(["autoscaling"], ["v1"], ["horizontalpodautoscalers"])],
  "scalers-v2": [rule(["autoscaling"], ["v2"], ["horizontalpodautoscalers"])],
  "events-of-core": [rule([""], ["v1"], ["events"])],
  "events-of-group": [rule(["events.k8s.io"], ["v1"], ["events"])],
};

function ruleRequests(ns: string): AdmissionRequest[] {
  const scalers = (version: string): string => `/apis/autoscaling/${version}/namespaces/${ns}/horizontalpodautoscalers`;
  const containers = [{ name: "c", image: "i" }];
  const deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
  return [
    createConfigMap(ns, "a"),
    updateConfigMap(ns, "a", { data: { a: "1" } }),
    deleteConfigMap(ns, "a"),
    request(`POST ${core(ns, "pods")}`, { metadata: { name: "a" }, spec: { containers } }),
    request(`PATCH ${core(ns, "pods", "a")}/status`, { status: { message: "m" } }, merge),
    request(`POST ${core(ns, "pods", "a")}/exec?command=ls`),
    request(`GET ${core(ns, "pods", "a")}/portforward?ports=1`),
    request(`POST ${core(ns, "pods", "a")}/eviction?dryRun=All`, { metadata: { name: "a" } }),
    request(`POST ${deployments}`, {
      metadata: { name: "a" },
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers } },
      },
    }),
    request(`PATCH ${deployments}/a/scale`, { spec: { replicas: 2 } }, merge),
    request(`PATCH ${deployments}/a/status`, { status: { replicas: 1 } }, merge),
    request(`POST ${widgets(ns)}`, widget("a", { size: 2 })),
    request(`POST ${widgets(ns, undefined, "v1beta1")}`, widget("b", { size: 3 }, "v1beta1")),
    request(`PATCH ${widgets(ns, "b", "v1beta1")}`, { spec: { size: 4 } }, merge),
    request(`PATCH ${widgets(ns, "a", "v1beta1")}/status`, { status: { size: 4 } }, merge),
    request(`PATCH ${widgets(ns, "a", "v1beta1")}/scale`, { spec: { replicas: 5 } }, merge),
    request(`DELETE ${widgets(ns)}`),
    request(`POST /apis/${group}/v1/regions`, { apiVersion: `${group}/v1`, kind: "Region", metadata: { name: ns } }),
    request(`DELETE /apis/${group}/v1beta1/regions/${ns}`),
    request(`POST ${scalers("v2")}`, {
      metadata: { name: "a" },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" } },
    }),
    request(`PATCH ${scalers("v1")}/a`, { spec: { minReplicas: 2 } }, merge),
    request(`POST /apis/events.k8s.io/v1/namespaces/${ns}/events`, {
      metadata: { name: "a" },
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "example.com/c",
      reportingInstance: "i",
      action: "A",
      reason: "R",
      type: "Normal",
      regarding: { kind: "Pod", namespace: ns, name: "a" },
    }),
    request(`PATCH ${core(ns, "events", "a")}`, { message: "m" }, merge),
    request("POST /api/v1/namespaces", { metadata: { name: `${ns}-created`, labels: { suite: ns } } }),
    request(`PATCH /api/v1/namespaces/${ns}-created`, { metadata: { labels: { a: "b" } } }, merge),
  ];
}

function ruleScenario(matchPolicy: "Equivalent" | "Exact", isMutating: boolean): Scenario {
  const name = `rules-${matchPolicy.toLowerCase()}${isMutating ? "-mutating" : ""}`;
  const letter = isMutating ? "m" : "v";
  const webhooks = Object.entries(rules).map(([label, list]) =>
    webhook(`/${letter}/${label}`, { rules: list, matchPolicy, namespaceSelector: { matchLabels: { suite: name } } }),
  );
  return {
    name,
    setup: [namespace(name, { suite: name }), (isMutating ? mutatingWebhooks : validatingWebhooks)(name, webhooks)],
    answers: {},
    requests: ruleRequests(name),
  };
}

const requirement = (key: string, operator: string, ...values: string[]): Sent => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
});

const selectors: Readonly<Record<string, Sent>> = {
  empty: {},
  equal: { matchLabels: { tier: "a" } },
  two: { matchLabels: { tier: "a", zone: "z" } },
  in: requirement("tier", "In", "a", "b"),
  "not-in": requirement("tier", "NotIn", "a"),
  exists: requirement("tier", "Exists"),
  absent: requirement("tier", "DoesNotExist"),
  both: { matchLabels: { zone: "z" }, ...requirement("tier", "In", "a") },
};

/** Objects and namespaces with different labels; an update adds or removes the label. */
function selectorRequests(scenario: string): AdmissionRequest[] {
  const labeled = (labels: Sent): Sent => ({ metadata: { name: "x", labels } });
  const inTier = `${scenario}-tier-a`;
  const outside = `${scenario}-none`;
  return [inTier, outside].flatMap((ns) => [
    createConfigMap(ns, "plain"),
    request(`POST ${core(ns, "configmaps")}`, labeled({ tier: "a", zone: "z" })),
    request(`PUT ${core(ns, "configmaps", "x")}`, labeled({ tier: "b" })),
    patchConfigMap(ns, "x", { metadata: { labels: { tier: null } } }),
    patchConfigMap(ns, "x", { metadata: { labels: { tier: "a" } } }),
    applyConfigMap(ns, "y", { metadata: { name: "y", labels: { zone: "z" } } }),
    deleteConfigMap(ns, "plain"),
    request(`DELETE ${core(ns, "configmaps")}?labelSelector=tier%3Da`),
    request(`GET ${core(ns, "pods", "absent")}/exec?command=ls`),
  ]);
}

function namespaceRequests(scenario: string): AdmissionRequest[] {
  const name = `${scenario}-created`;
  const path = `/api/v1/namespaces/${name}`;
  return [
    request("POST /api/v1/namespaces", { metadata: { name, labels: { tier: "a" } } }),
    request(`PATCH ${path}`, { metadata: { labels: { tier: "b", zone: "z" } } }, merge),
    request(`PATCH ${path}`, { metadata: { labels: { tier: null } } }, merge),
    request(`PATCH ${path}/status`, { metadata: { annotations: { a: "b" } } }, merge),
    createConfigMap(name, "plain"),
    request(`POST /apis/${group}/v1/regions`, {
      apiVersion: `${group}/v1`,
      kind: "Region",
      metadata: { name, labels: { tier: "a" } },
    }),
    request(`DELETE /apis/${group}/v1/regions/${name}`),
    createConfigMap(`${scenario}-missing`, "plain"),
  ];
}

function selectorScenario(field: "namespaceSelector" | "objectSelector"): Scenario {
  const name = field === "objectSelector" ? "object-selector" : "namespace-selector";
  const webhooks = Object.entries(selectors).map(([label, selector]) =>
    webhook(`/v/${label}`, { rules: [everything], [field]: selector }),
  );
  return {
    name,
    setup: [
      namespace(`${name}-tier-a`, { tier: "a", zone: "z" }),
      namespace(`${name}-none`),
      validatingWebhooks(name, webhooks),
    ],
    answers: {},
    requests: [...selectorRequests(name), ...namespaceRequests(name)],
  };
}

const conditions: Readonly<Record<string, readonly string[]>> = {
  true: ["true"],
  false: ["false"],
  "true-and-false": ["true", "false"],
  name: ['object.metadata.name == "a"'],
  "object-absent": ["object == null"],
  "old-object-absent": ["oldObject == null"],
  "object-data": ['object.data.a == "1"'],
  "object-data-safe": ['has(object.data) && object.data.a == "1"'],
  "old-and-new": ["oldObject.data != object.data"],
  operation: ['request.operation in ["CREATE", "DELETE"]'],
  user: ['request.userInfo.username == "golden-user"'],
  group: ['"system:masters" in request.userInfo.groups'],
  "user-extra": ['request.userInfo.extra.a == ["b"]'],
  resource: ['request.resource.resource == "configmaps" && request.resource.group == ""'],
  "request-kind": ['request.requestKind.kind == "ConfigMap" && request.kind.version == "v1"'],
  "dry-run": ["request.dryRun"],
  "options-kind": ['has(request.options) && request.options.kind == "CreateOptions"'],
  "name-of-request": ['request.name == "a"'],
  namespace: ['request.namespace.startsWith("conditions")'],
  labels: ['object.metadata.?labels.?tier.orValue("") == "a"'],
  "error-and-false": ["object.data.nope == 1", "false"],
  "false-and-error": ["false", "object.data.nope == 1"],
  "error-and-true": ["object.data.nope == 1", "true"],
  "two-errors": ["object.data.nope == 1", "object.data.none == 1"],
  "division-by-zero": ["1 / (object.metadata.name.size() - 1) > 0"],
  authorized: ['authorizer.group("").resource("configmaps").namespace("default").check("get").allowed()'],
  "authorized-request": ["authorizer.requestResource.check(request.operation.lowerAscii()).allowed()"],
  "authorized-path": ['authorizer.path("/healthz").check("get").allowed()'],
  "authorized-service-account": [
    'authorizer.serviceAccount("default", "robot").group("").resource("secrets").check("list").allowed()',
  ],
  "authorizer-reason": ['authorizer.group("").resource("secrets").check("get").reason() == ""'],
  quantity: ['quantity("1Ki").isGreaterThan(quantity("1000"))'],
  url: ['url("https://example.com/x").getHost() == "example.com"'],
};

function conditionScenario(failurePolicy: "Fail" | "Ignore", isMutating: boolean): Scenario {
  const name = `conditions-${failurePolicy.toLowerCase()}${isMutating ? "-mutating" : ""}`;
  const letter = isMutating ? "m" : "v";
  const labelOf = (label: string): string => (failurePolicy === "Fail" ? `${name}-${label}` : name);
  // A failed condition rejects the request, so each webhook has a namespace.
  const webhooks = Object.entries(conditions).map(([label, expressions]) =>
    webhook(`/${letter}/${label}`, {
      failurePolicy,
      namespaceSelector: onlyNamespace(labelOf(label)),
      matchConditions: expressions.map((expression, index) => ({ name: `condition-${index}`, expression })),
    }),
  );
  const namespaces = [...new Set(Object.keys(conditions).map(labelOf))];
  const requestsIn = (ns: string): AdmissionRequest[] => [
    createConfigMap(ns, "a", { data: { a: "1" }, metadata: { name: "a", labels: { tier: "a" } } }),
    updateConfigMap(ns, "a", { data: { a: "2" } }, "?dryRun=All"),
    deleteConfigMap(ns, "a"),
    { ...createConfigMap(ns, "b"), user: ["golden-other", "system:authenticated"] },
  ];
  return {
    name,
    setup: [
      ...namespaces.map((ns) => namespace(ns)),
      (isMutating ? mutatingWebhooks : validatingWebhooks)(name, webhooks),
    ],
    answers: {},
    requests: namespaces.flatMap(requestsIn),
  };
}

export const webhookMatching: Family = {
  setup: [...definitions, ...rights],
  scenarios: [
    ruleScenario("Equivalent", false),
    ruleScenario("Exact", false),
    ruleScenario("Equivalent", true),
    selectorScenario("objectSelector"),
    selectorScenario("namespaceSelector"),
    conditionScenario("Fail", false),
    conditionScenario("Ignore", false),
    conditionScenario("Fail", true),
    conditionScenario("Ignore", true),
  ],
};
