/** Mutating policies, webhooks and validating policies that see each other's changes. */
import type { Scenario, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import {
  applyConfigMap,
  createConfigMap,
  mutatingBinding,
  mutatingPolicy,
  mutatingWebhooks,
  namespace,
  onlyNamespace,
  updateConfigMap,
  validatingBinding,
  validatingPolicy,
  validatingWebhooks,
  webhook,
} from "./builders.ts";
import { patches } from "./mutations.ts";

const metadata = { name: "a", labels: { tier: "a" } };

/** Policies and webhooks that see each other's changes. The names of the policies give their order. */
function orderScenario(
  name: string,
  setup: (ns: string) => readonly SetupStep[],
  answers: Scenario["answers"],
): Scenario {
  const ns = `order-${name}`;
  return {
    name: ns,
    setup: [namespace(ns, { tier: "a" }), ...setup(ns)],
    answers,
    requests: [
      createConfigMap(ns, "a", { metadata, data: { a: "1" } }),
      updateConfigMap(ns, "a", { metadata, data: { a: "2" } }),
      applyConfigMap(ns, "b", { metadata: { name: "b", labels: { tier: "b" } }, data: { a: "1" } }),
    ],
  };
}

const append = (letter: string): Sent =>
  patches(
    `[JSONPatch{op: "add", path: "/data/calls", value: (has(object.data.calls) ? object.data.calls : "") + "${letter}"}]`,
  );
const appending = (ns: string, letter: string, reinvocationPolicy: string): SetupStep[] => [
  mutatingPolicy(`${ns}-${letter}`, { reinvocationPolicy, mutations: [append(letter)] }),
  mutatingBinding(`${ns}-${letter}`, ns),
];
const once = (ns: string, letter: string, reinvocationPolicy: string): SetupStep[] => [
  mutatingPolicy(`${ns}-${letter}`, {
    reinvocationPolicy,
    matchConditions: [{ name: "once", expression: `!('${letter}' in object.data)` }],
    mutations: [patches(`[JSONPatch{op: "add", path: "/data/${letter}", value: string(object.data.size())}]`)],
  }),
  mutatingBinding(`${ns}-${letter}`, ns),
];
const hook = (ns: string, rest: Sent = {}): SetupStep =>
  mutatingWebhooks(ns, [webhook("/m/hook", { namespaceSelector: onlyNamespace(ns), ...rest })]);
const last = (ns: string): SetupStep =>
  validatingWebhooks(ns, [webhook("/v/last", { namespaceSelector: onlyNamespace(ns) })]);
const hookPatch = { "/m/hook": [{ patch: [{ op: "add", path: "/data/hook", value: "1" }] }] };

export const mutatingOrders: readonly Scenario[] = [
  orderScenario("one-never", (ns) => appending(ns, "x", "Never"), {}),
  orderScenario("one-if-needed", (ns) => appending(ns, "x", "IfNeeded"), {}),
  orderScenario("once-never", (ns) => once(ns, "x", "Never"), {}),
  orderScenario("once-if-needed", (ns) => once(ns, "x", "IfNeeded"), {}),
  orderScenario("with-hook-never", (ns) => [...appending(ns, "x", "Never"), hook(ns), last(ns)], hookPatch),
  orderScenario("with-hook-if-needed", (ns) => [...appending(ns, "x", "IfNeeded"), hook(ns), last(ns)], hookPatch),
  orderScenario("with-hook-no-change", (ns) => [...appending(ns, "x", "IfNeeded"), hook(ns), last(ns)], {}),
  orderScenario(
    "with-hook-both-if-needed",
    (ns) => [...once(ns, "x", "IfNeeded"), hook(ns, { reinvocationPolicy: "IfNeeded" }), last(ns)],
    hookPatch,
  ),
  orderScenario("hook-denies", (ns) => [...once(ns, "x", "Never"), hook(ns)], {
    "/m/hook": [{ response: { allowed: false, status: { message: "no" } } }],
  }),
  orderScenario(
    "validated",
    (ns) => [
      ...once(ns, "x", "Never"),
      hook(ns),
      validatingPolicy(ns, {
        validations: [{ expression: "!('x' in object.data)", messageExpression: "'x is ' + object.data.x" }],
      }),
      validatingBinding(ns, ns, { validationActions: ["Warn", "Audit"] }),
      last(ns),
    ],
    hookPatch,
  ),
  orderScenario(
    "policy-before-webhook",
    (ns) => [
      validatingPolicy(ns, { validations: [{ expression: "false" }] }),
      validatingBinding(ns, ns),
      last(ns),
      hook(ns),
    ],
    {},
  ),
  orderScenario(
    "two-bindings",
    (ns) => [
      mutatingPolicy(ns, { mutations: [append("x")] }),
      mutatingBinding(`${ns}-1`, ns, { policyName: ns }),
      mutatingBinding(`${ns}-2`, ns, { policyName: ns }),
    ],
    {},
  ),
];
