/** CEL over values whose types are known only when an expression runs, as the warnings of a policy. */
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { bindingOf, settled } from "./policies.ts";

const place = "/apis/admissionregistration.k8s.io/v1";
const maps = "/api/v1/namespaces/$ns/configmaps";
const own = { matchLabels: { "kubernetes.io/metadata.name": "$ns" } };
const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];
/** Of one policy. */
const expressionsMax = 8;

export const expressions: Area = {
  name: "expressions",
  make(random) {
    const validations = Array.from({ length: expressionsMax }, () => ({ expression: expression(random) }));
    const spec = {
      failurePolicy: random.pick(["Fail", "Fail", "Ignore"]),
      matchConstraints: { namespaceSelector: own, resourceRules: rules },
      validations,
    };
    const policies = `${place}/validatingadmissionpolicies`;
    // Each alone first: one that does not compile rejects the whole policy.
    const alone = validations.map((one): Step => {
      const body = { metadata: { name: "$ns-t" }, spec: { ...spec, validations: [one] } };
      return { method: "POST", path: `${policies}?dryRun=All`, body };
    });
    return [
      ...alone,
      { method: "POST", path: policies, body: { metadata: { name: "$ns-p" }, spec } },
      bindingOf("validating", { policyName: "$ns-p", validationActions: random.pick([["Warn"], ["Deny"], ["Warn"]]) }),
      ...settled("Validating", false),
      ...["a", "b", "c"].map((name): Step => ({ method: "POST", path: maps, body: objectNamed(name, random) })),
    ];
  },
};

function objectNamed(name: string, random: Random): object {
  return {
    metadata: {
      name,
      ...(random.chance(0.6) && { labels: { a: "1", b: random.pick(["", "x", "10"]) } }),
      ...(random.chance(0.6) && { finalizers: random.pick([["x/a"], ["x/b", "x/a"], ["x/a", "x/a"]]) }),
      ...(random.chance(0.4) && { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u" }] }),
    },
    ...(random.chance(0.8) && { data: random.pick<object>([{}, { a: "1" }, { a: "b", c: "3" }]) }),
    ...(random.chance(0.3) && { immutable: random.chance(0.5) }),
    ...(random.chance(0.3) && { binaryData: { z: "YQ==" } }),
  };
}

const scalars = [
  "1",
  "-1",
  "2u",
  "1.5",
  "2.0",
  "double('NaN')",
  "9223372036854775807",
  "'a'",
  "'ä€'",
  "''",
  "b'a'",
  "true",
  "null",
  "duration('90s')",
  "timestamp('2020-01-01T01:00:00+01:00')",
  "quantity('1500m')",
  "ip('10.0.0.1')",
  "cidr('10.0.0.0/8')",
  "url('https://a/b?c=d')",
  "semver('1.2.3')",
  "type(1)",
  "optional.of(1)",
  "optional.none()",
];
const lists = ["[1, 2]", "['b', 'a', 'b']", "[]", "[1, 'a']", "[[1], [2, [3]]]", "[1.5, 2]", "[null]", "[true, false]"];
const others = [
  "{'a': 1}",
  "{1: 'a'}",
  "object",
  "object.metadata",
  "object.data",
  "object.metadata.finalizers",
  "object.metadata.labels",
  "object.metadata.ownerReferences",
  "object.immutable",
  "request.userInfo.groups",
  "request.operation",
  "namespaceObject.metadata.labels",
  "oldObject",
  "variables",
];

function value(random: Random): string {
  const roll = random.below(10);
  if (roll < 4) return `dyn(${random.pick(scalars)})`;
  if (roll < 7) return `dyn(${random.pick(lists)})`;
  return random.pick(others);
}

const operators = ["==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "in", "&&", "||"];
/** `x` and `y` are values, `i` is a small number. */
const calls = [
  "x.size()",
  "size(x)",
  "x.distinct()",
  "x.reverse()",
  "x.sort()",
  "x.flatten()",
  "x.flatten(i)",
  "x.first()",
  "x.last()",
  "x.slice(0, i)",
  "x.sum()",
  "x.min()",
  "x.max()",
  "x.isSorted()",
  "x.indexOf(y)",
  "x.lastIndexOf(y)",
  "x[i]",
  "x[?i]",
  "x[?'a']",
  "x['a']",
  "x.a",
  "x.?a.orValue(y)",
  "has(x.a)",
  "string(x)",
  "int(x)",
  "uint(x)",
  "double(x)",
  "bool(x)",
  "bytes(x)",
  "type(x)",
  "duration(x)",
  "timestamp(x)",
  "-x",
  "!x",
  "x.startsWith('a')",
  "x.contains(y)",
  "x.matches('^a')",
  "x.charAt(i)",
  "x.split('')",
  "x.join(',')",
  "x.replace('a', 'b')",
  "x.lowerAscii()",
  "x.trim()",
  "x.substring(i)",
  "x.find('a')",
  "x.findAll('a')",
  "x.format([y])",
  "'%s %d'.format([x, y])",
  "x.all(e, e != y)",
  "x.exists(e, e == y)",
  "x.exists_one(e, e == y)",
  "x.map(e, e)",
  "x.filter(e, e == y)",
  "x.all(k, v, k != y)",
  "x.getSeconds()",
  "x.getHours('Europe/Paris')",
  "x.isGreaterThan(y)",
  "x.compareTo(y)",
  "x.asInteger()",
  "x.add(y)",
  "x.family()",
  "x.containsIP(y)",
  "x.containsCIDR(y)",
  "x.getHost()",
  "x.major()",
  "x.hasValue()",
  "x.value()",
  "x.or(optional.of(y))",
  "quantity(x)",
  "isQuantity(x)",
  "isIP(x)",
  "ip(x)",
  "sets.contains(x, y)",
  "sets.intersects(x, y)",
  "x ? y : x",
  "[x, y]",
  "{x: y}",
  "[x] + [y]",
  "x + [y]",
] as const;

function expression(random: Random): string {
  const part = (): string => (random.chance(0.4) ? `(${term(random)})` : value(random));
  return random.chance(0.75) ? `${part()} ${random.pick(operators.slice(0, 6))} ${part()}` : `dyn(${term(random)})`;
}

function term(random: Random): string {
  if (random.chance(0.3)) return `${value(random)} ${random.pick(operators)} ${value(random)}`;
  const call = random.pick(calls);
  const parts: Readonly<Record<string, string>> = {
    x: value(random),
    y: value(random),
    i: String(random.below(4) - 1),
  };
  // The letters of functions are not alone.
  return call.replace(/(?<![\w'])[xyi](?![\w'])/g, (name) => parts[name] ?? name);
}
