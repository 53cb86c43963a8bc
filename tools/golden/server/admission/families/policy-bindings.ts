/** How policies apply: actions, bindings, parameters, match constraints and match conditions. */
import type { AdmissionRequest, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import { configMapRule, core, createConfigMap, type Family, onlyNamespace, request } from "./builders.ts";
import { definitions, group, widget, widgets } from "./custom-resources.ts";
import { type PolicyCase, policyScenario, rights, usualRequests } from "./policies.ts";

const denies: Sent = { validations: [{ expression: "request.operation == 'DELETE'", message: "only deletes" }] };
const breaks: Sent = { validations: [{ expression: "object.data.none == ''" }] };

const actions: Readonly<Record<string, readonly string[]>> = {
  deny: ["Deny"],
  warn: ["Warn"],
  audit: ["Audit"],
  "warn-audit": ["Warn", "Audit"],
  "deny-audit": ["Deny", "Audit"],
};

const actionCases: Record<string, PolicyCase> = Object.fromEntries(
  Object.entries(actions).flatMap(([label, validationActions]) => [
    [label, { spec: denies, binding: { validationActions } }],
    [`${label}-error`, { spec: breaks, binding: { validationActions } }],
    [`${label}-ignored`, { spec: { ...breaks, failurePolicy: "Ignore" }, binding: { validationActions } }],
  ]),
);

const bindingCases: Readonly<Record<string, PolicyCase>> = {
  none: { spec: denies, binding: [] },
  "warn-and-deny": { spec: denies, binding: [{ validationActions: ["Warn"] }, { validationActions: ["Deny"] }] },
  "other-policy": { spec: denies, binding: [{ policyName: "absent" }] },
  "two-failures-warn": {
    spec: {
      validations: [
        { expression: "false", message: "one" },
        { expression: "1 > 2", reason: "Forbidden" },
      ],
    },
    binding: { validationActions: ["Warn", "Audit"] },
  },
  "narrower-object": {
    spec: denies,
    binding: {
      matchResources: {
        namespaceSelector: onlyNamespace("bindings-narrower-object"),
        objectSelector: { matchLabels: { tier: "a" } },
      },
    },
  },
  "narrower-names": {
    spec: denies,
    binding: {
      matchResources: {
        namespaceSelector: onlyNamespace("bindings-narrower-names"),
        resourceRules: [{ ...configMapRule, resourceNames: ["a"] }],
      },
    },
  },
};

const rule = (resources: string[], rest: Sent = {}): Sent => ({ ...configMapRule, resources, ...rest });
const constrained = (matchConstraints: Sent): PolicyCase => ({
  spec: {
    matchConstraints: { resourceRules: [configMapRule], ...matchConstraints },
    validations: [{ expression: "false", message: "matched" }],
  },
  binding: { validationActions: ["Warn"] },
});

const matchCases: Readonly<Record<string, PolicyCase>> = {
  all: constrained({}),
  creates: constrained({ resourceRules: [rule(["configmaps"], { operations: ["CREATE"] })] }),
  updates: constrained({ resourceRules: [rule(["configmaps"], { operations: ["UPDATE"] })] }),
  names: constrained({ resourceRules: [rule(["configmaps"], { resourceNames: ["b"] })] }),
  "exclude-names": constrained({ excludeResourceRules: [rule(["configmaps"], { resourceNames: ["b"] })] }),
  "exclude-all": constrained({ excludeResourceRules: [configMapRule] }),
  "exclude-deletes": constrained({ excludeResourceRules: [rule(["configmaps"], { operations: ["DELETE"] })] }),
  "object-selector": constrained({ objectSelector: { matchLabels: { tier: "a" } } }),
  "object-selector-absent": constrained({
    objectSelector: { matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] },
  }),
  "namespace-selector": constrained({ namespaceSelector: { matchLabels: { tier: "a" } } }),
  "namespace-selector-other": constrained({ namespaceSelector: { matchLabels: { tier: "b" } } }),
  "other-resource": constrained({ resourceRules: [rule(["secrets"])] }),
  "scope-cluster": constrained({ resourceRules: [rule(["*"], { scope: "Cluster" })] }),
  "scope-namespaced": constrained({ resourceRules: [rule(["*"], { scope: "Namespaced" })] }),
};

const condition = (failurePolicy: string, ...expressions: readonly string[]): PolicyCase => ({
  spec: {
    failurePolicy,
    matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
    validations: [{ expression: "false", message: "matched" }],
  },
  binding: { validationActions: ["Deny"] },
});

const conditionCases: Readonly<Record<string, PolicyCase>> = {
  false: condition("Fail", "false"),
  true: condition("Fail", "true"),
  "true-false": condition("Fail", "true", "false"),
  error: condition("Fail", "object.data.none == ''"),
  "error-ignored": condition("Ignore", "object.data.none == ''"),
  "error-and-false": condition("Fail", "object.data.none == ''", "false"),
  "two-errors": condition("Fail", "object.data.none == ''", "object.data.nothing == ''"),
  user: condition("Fail", "request.userInfo.username != 'golden-user'"),
  authorizer: condition("Fail", "authorizer.group('').resource('secrets').check('get').allowed()"),
  namespace: condition("Fail", "namespaceObject.metadata.labels.tier == 'a'"),
};

const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
const limited: Sent = {
  paramKind,
  validations: [
    {
      expression: "object == null || object.metadata.name in params.data",
      messageExpression: "'allowed: ' + params.data.map(k, k).join(',')",
    },
  ],
};
/** The order of several parameters differs, so the message is the same for all. */
const limitedByAll: Sent = {
  paramKind,
  validations: [
    {
      expression: "object == null || object.metadata.name in params.?data.orValue({})",
      message: "no parameter allows it",
    },
  ],
};
const withParams = (paramRef: Sent, spec: Sent = limited): PolicyCase => ({ spec, binding: { paramRef } });
const named = (name: string, rest: Sent = {}): Sent => ({ name, parameterNotFoundAction: "Deny", ...rest });
const selected = (matchLabels: Sent, rest: Sent = {}): Sent => ({
  selector: { matchLabels },
  parameterNotFoundAction: "Deny",
  ...rest,
});
const customKind = (kind: string, version = "v1"): Sent => ({ apiVersion: `${group}/${version}`, kind });

/** The error concerns all requests that match the policy, in any namespace, so the policy matches only one. */
const withoutKind = (label: string, failurePolicy: string): PolicyCase =>
  withParams(named("x"), {
    paramKind: { apiVersion: "absent.example.com/v1", kind: "Absent" },
    failurePolicy,
    matchConstraints: { resourceRules: [configMapRule], namespaceSelector: onlyNamespace(`params-${label}`) },
    validations: [{ expression: "params.spec.x == 1" }],
  });

const paramCases: Readonly<Record<string, PolicyCase>> = {
  named: withParams(named("allow-a", { namespace: "params" })),
  "named-other": withParams(named("allow-b", { namespace: "params" })),
  "own-namespace": withParams(named("own")),
  "absent-deny": withParams(named("absent", { namespace: "params" })),
  "absent-allow": withParams({ name: "absent", namespace: "params", parameterNotFoundAction: "Allow" }),
  "absent-namespace": withParams(named("x", { namespace: "absent" })),
  "absent-deny-ignored": withParams(named("absent", { namespace: "params" }), { ...limited, failurePolicy: "Ignore" }),
  selected: withParams(selected({ for: "a" }, { namespace: "params" })),
  "selected-two": withParams(selected({ set: "yes" }, { namespace: "params" }), limitedByAll),
  "selected-none-deny": withParams(selected({ for: "nobody" }, { namespace: "params" })),
  "selected-none-allow": withParams({
    selector: { matchLabels: { for: "nobody" } },
    namespace: "params",
    parameterNotFoundAction: "Allow",
  }),
  "selected-all": withParams({ selector: {}, namespace: "params", parameterNotFoundAction: "Deny" }, limitedByAll),
  "selected-own-namespace": withParams({ selector: {}, parameterNotFoundAction: "Deny" }),
  "no-reference": { spec: { paramKind, validations: [{ expression: "params == null" }] } },
  "reference-without-kind": withParams(named("allow-a", { namespace: "params" }), {
    validations: [{ expression: "false" }],
  }),
  "field-absent": withParams(named("empty", { namespace: "params" })),
  "kind-absent": withoutKind("kind-absent", "Fail"),
  "kind-absent-ignored": withoutKind("kind-absent-ignored", "Ignore"),
  custom: withParams(named("limits", { namespace: "params" }), {
    paramKind: customKind("Widget"),
    validations: [
      {
        expression: "object == null || object.data.size() <= params.spec.size",
        messageExpression: "'at most ' + string(params.spec.size)",
      },
    ],
  }),
  "custom-beta": withParams(named("limits", { namespace: "params" }), {
    paramKind: customKind("Widget", "v1beta1"),
    validations: [{ expression: "params.apiVersion.endsWith('v1')", messageExpression: "string(params.apiVersion)" }],
  }),
  "custom-status": withParams(named("limits", { namespace: "params" }), {
    paramKind: customKind("Widget"),
    validations: [{ expression: "has(params.status)", messageExpression: "string(params.spec.color)" }],
  }),
  cluster: withParams(named("params"), {
    paramKind: customKind("Region"),
    validations: [{ expression: "params.spec.color == 'green'", messageExpression: "'color ' + params.spec.color" }],
  }),
  "cluster-with-namespace": withParams(named("params", { namespace: "params" }), {
    paramKind: customKind("Region"),
    validations: [{ expression: "params.spec.color == 'green'" }],
  }),
  "two-bindings": {
    spec: limited,
    binding: [
      { paramRef: named("allow-a", { namespace: "params" }) },
      { paramRef: named("allow-b", { namespace: "params" }), validationActions: ["Warn"] },
    ],
  },
  "params-in-everything": withParams(named("allow-a", { namespace: "params" }), {
    paramKind,
    matchConditions: [{ name: "c", expression: "has(params.data) && request.operation != 'DELETE'" }],
    variables: [{ name: "v", expression: "params.data.size()" }],
    validations: [{ expression: "variables.v > 5", messageExpression: "string(variables.v) + params.metadata.name" }],
    auditAnnotations: [{ key: "param", valueExpression: "string(params.metadata.name)" }],
  }),
};

const parameter = (inNamespace: string, name: string, data: Sent, labels: Sent = {}): SetupStep => [
  core(inNamespace, "configmaps"),
  { metadata: { name, labels }, data },
];

const parameters: readonly SetupStep[] = [
  ["/api/v1/namespaces", { metadata: { name: "params" } }],
  parameter("params", "allow-a", { a: "1" }, { for: "a", set: "yes" }),
  parameter("params", "allow-b", { b: "1" }, { for: "b", set: "yes" }),
  parameter("params", "empty", {}),
  [widgets("params"), widget("limits", { size: 1, color: "red" })],
  [
    `/apis/${group}/v1/regions`,
    { apiVersion: `${group}/v1`, kind: "Region", metadata: { name: "params" }, spec: { color: "red" } },
  ],
];

/** Parameters that change between requests take effect at once only for a server that reads them, so they are written before. */
const ownParameter = (ns: string): SetupStep[] => [parameter(ns, "own", { a: "1" })];

const otherKinds = (ns: string): AdmissionRequest[] => [
  ...usualRequests(ns),
  request(`POST ${core(ns, "secrets")}`, { metadata: { name: "a" }, data: { a: "MQ==" } }),
  createConfigMap(ns, "dry", {}, "?dryRun=All"),
  request(`DELETE ${core(ns, "configmaps")}`),
];

export const policyBindings: Family = {
  setup: [...definitions, ...rights, ...parameters],
  scenarios: [
    policyScenario("actions", actionCases),
    policyScenario("bindings", bindingCases),
    policyScenario("match", matchCases, { requests: otherKinds }),
    policyScenario("conditions", conditionCases),
    policyScenario("params", paramCases, { setup: ownParameter }),
  ],
};
