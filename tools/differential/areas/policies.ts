/** Validating and mutating admission policies with bindings and parameters, for the namespace of the sequence. */
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { kindOf } from "../samples.ts";
import { changedSample, query, writeQuery } from "./steps.ts";

type Json = Record<string, unknown>;

const place = "/apis/admissionregistration.k8s.io/v1";
const core = "/api/v1/namespaces/$ns";
const own = { matchLabels: { "kubernetes.io/metadata.name": "$ns" } };
const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] }];

export const policies: Area = {
  name: "policies",
  make(random) {
    if (random.chance(0.3)) return dryPolicies(random);
    const type = random.chance(0.6) ? "Validating" : "Mutating";
    const steps: Step[] = [
      {
        method: "POST",
        path: `${core}/configmaps`,
        body: { metadata: { name: "params" }, data: { limit: "3", name: "x" } },
      },
    ];
    const params = random.chance(0.4);
    steps.push(...policy(type, params, random), ...settled(type, params));
    for (let times = 6 + random.below(6); times > 0; times--) steps.push(operation(random));
    return steps;
  },
};

const expressions = [
  "object.data.size() < 3",
  "has(object.data) && 'a' in object.data",
  "object.metadata.name.startsWith('a')",
  "!has(oldObject.data) || object.data == oldObject.data",
  "request.operation == 'CREATE'",
  "object.data['missing'] == 'x'",
  "int(object.data['a']) > 1",
  "request.userInfo.username == 'kubernetes-admin'",
  "namespaceObject.metadata.name == request.namespace",
  "variables.small",
  "authorizer.group('').resource('pods').namespace('default').check('get').allowed()",
  "object.metadata.?labels['a'].orValue('') != 'bad'",
  "quantity(object.data['a']).isGreaterThan(quantity('1'))",
  "params.data.limit == '3'",
  "params == null || object.data.size() < int(params.data.limit)",
];
const mutations = [
  {
    patchType: "ApplyConfiguration",
    applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'added': 'yes'}}}" },
  },
  { patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{data: {'x': object.metadata.name}}" } },
  {
    patchType: "ApplyConfiguration",
    applyConfiguration: { expression: "Object{data: {'x': object.data['missing']}}" },
  },
  {
    patchType: "JSONPatch",
    jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'added': 'yes'}}]" },
  },
  {
    patchType: "JSONPatch",
    jsonPatch: {
      expression:
        "[JSONPatch{op: 'test', path: '/data/a', value: '1'}, JSONPatch{op: 'replace', path: '/data/a', value: '2'}]",
    },
  },
  {
    patchType: "JSONPatch",
    jsonPatch: {
      expression:
        "has(object.data) ? [JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('b~/c'), value: 'd'}] : []",
    },
  },
];

function policy(type: string, hasParams: boolean, random: Random): Step[] {
  const resource = `${type.toLowerCase()}admissionpolic`;
  const isValidating = type === "Validating";
  const usable = expressions.filter((one) => hasParams || !one.startsWith("params"));
  const validation = (): Json => ({
    expression: random.pick(usable),
    ...(random.chance(0.3) && { message: "not so" }),
    ...(random.chance(0.3) && { messageExpression: "'name is ' + object.metadata.name" }),
    ...(random.chance(0.3) && {
      reason: random.pick(["Forbidden", "Invalid", "Unauthorized", "RequestEntityTooLarge"]),
    }),
  });
  const spec = {
    failurePolicy: random.pick(["Fail", "Fail", "Ignore"]),
    matchConstraints: { namespaceSelector: own, resourceRules: rules },
    variables: [{ name: "small", expression: "!has(object.data) || object.data.size() < 2" }],
    ...(hasParams && { paramKind: { apiVersion: "v1", kind: "ConfigMap" } }),
    ...(random.chance(0.3) && {
      matchConditions: [
        { name: "m", expression: random.pick(["object.metadata.name != 'c'", "object.data['z'] == 'z'", "true"]) },
      ],
    }),
    ...(isValidating
      ? {
          validations: Array.from({ length: 1 + random.below(3) }, validation),
          ...(random.chance(0.3) && { auditAnnotations: [{ key: "k", valueExpression: "'v'" }] }),
        }
      : {
          reinvocationPolicy: random.pick(["Never", "IfNeeded"]),
          mutations: Array.from({ length: 1 + random.below(2) }, () => random.pick(mutations)),
        }),
  };
  const paramRef = {
    name: random.pick(["params", "params", "none"]),
    namespace: random.pick(["$ns", undefined]),
    parameterNotFoundAction: random.pick(["Deny", "Allow"]),
  };
  const binding = {
    policyName: "$ns-p",
    ...(isValidating && {
      validationActions: random.pick([["Deny"], ["Deny"], ["Warn"], ["Audit", "Warn"], ["Deny", "Audit"]]),
    }),
    ...(hasParams && { paramRef }),
    ...(random.chance(0.2) && { matchResources: { objectSelector: { matchLabels: { a: "b" } } } }),
  };
  return [
    { method: "POST", path: `${place}/${resource}ies`, body: { metadata: { name: "$ns-p" }, spec } },
    { method: "POST", path: `${place}/${resource}ybindings`, body: { metadata: { name: "$ns-b" }, spec: binding } },
  ];
}

/** A binding of the policy of a sequence. */
export function bindingOf(type: "validating" | "mutating", spec: Json): Step {
  return {
    method: "POST",
    path: `${place}/${type}admissionpolicybindings`,
    body: { metadata: { name: "$ns-b" }, spec },
  };
}

/** A policy that is created last, and denies a marker, shows when the earlier ones are active. */
export function settled(type: string, hasParams: boolean): Step[] {
  const isValidating = type === "Validating";
  const resource = `${place}/${type.toLowerCase()}admissionpolic`;
  const marked = { namespaceSelector: own, objectSelector: { matchLabels: { marker: "yes" } }, resourceRules: rules };
  const failing = "[JSONPatch{op: 'test', path: '/metadata/name', value: 'none'}]";
  const mutation = {
    patchType: "JSONPatch",
    jsonPatch: { expression: hasParams ? `params == null ? [] : ${failing}` : failing },
  };
  const rest = isValidating
    ? { validations: [{ expression: hasParams ? "params == null" : "false" }] }
    : { reinvocationPolicy: "Never", mutations: [mutation] };
  // Parameters arrive later than policies.
  const paramKind = hasParams ? { paramKind: { apiVersion: "v1", kind: "ConfigMap" } } : {};
  const paramRef = hasParams
    ? { paramRef: { name: "params", namespace: "$ns", parameterNotFoundAction: "Allow" } }
    : {};
  const spec = { failurePolicy: "Fail", matchConstraints: marked, ...paramKind, ...rest };
  const probe = { metadata: { name: "marker", labels: { marker: "yes" } } };
  return [
    { method: "POST", path: `${resource}ies`, body: { metadata: { name: "$ns-q" }, spec }, silent: true },
    {
      method: "POST",
      path: `${resource}ybindings`,
      body: {
        metadata: { name: "$ns-q" },
        spec: { policyName: "$ns-q", ...paramRef, ...(isValidating && { validationActions: ["Deny"] }) },
      },
      silent: true,
    },
    {
      method: "POST",
      path: `${core}/configmaps?dryRun=All`,
      body: probe,
      until: isValidating ? 422 : 403,
      silent: true,
    },
  ];
}

const datas: readonly unknown[] = [
  undefined,
  { a: "1" },
  { a: "2", b: "x" },
  { a: "b" },
  { a: "1", b: "2", c: "3" },
  {},
];

function operation(random: Random): Step {
  const name = random.pick(["a", "ab", "b", "c"]);
  const body = {
    metadata: { name, ...(random.chance(0.4) && { labels: { a: random.pick(["b", "bad"]) } }) },
    data: random.pick(datas),
  };
  const roll = random.below(8);
  if (roll < 4) return { method: "POST", path: `${core}/configmaps${writeQuery(random)}`, body };
  if (roll < 6) return { method: "PUT", path: `${core}/configmaps/${name}${writeQuery(random)}`, body };
  if (roll < 7)
    return {
      method: "PATCH",
      path: `${core}/configmaps/${name}${query("fieldManager=m&force=true")}`,
      headers: { "content-type": "application/apply-patch+yaml" },
      body: { apiVersion: "v1", kind: "ConfigMap", ...body },
    };
  return { method: "GET", path: `${core}/configmaps/${name}` };
}

/** Policies that are checked and not stored. */
function dryPolicies(random: Random): Step[] {
  return Array.from({ length: 8 }, (): Step => {
    const kind = kindOf(
      random.pick([
        "validatingadmissionpolicies",
        "mutatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicybindings",
      ]),
    );
    const body = changedSample(random.pick(kind.samples), kind, "create", random, { unchanged: 0.1 });
    return { method: "POST", path: `${kind.collection}${writeQuery(random, { isDry: true })}`, body };
  });
}
