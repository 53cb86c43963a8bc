/** One scenario with many validating policies: each is bound to its own namespace, in which the same requests are sent. */
import type { AdmissionRequest, Scenario, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import {
  createConfigMap,
  deleteConfigMap,
  namespace,
  patchConfigMap,
  updateConfigMap,
  validatingBinding,
  validatingPolicy,
} from "./builders.ts";

export interface PolicyCase {
  /** Fields of the policy. */
  readonly spec: Sent;
  /** Fields of the binding; a list makes several bindings. */
  readonly binding?: Sent | readonly Sent[];
}

/** @param setup objects before the policies, which may use the namespaces */
export function policyScenario(
  name: string,
  cases: Readonly<Record<string, PolicyCase>>,
  { requests = usualRequests, setup = () => [] }: PolicyScenarioOptions = {},
): Scenario {
  const entries = Object.entries(cases).map(([label, policyCase]) => [`${name}-${label}`, policyCase] as const);
  const policies = entries.map(([ns, { spec }]) => validatingPolicy(ns, spec));
  const bindings = entries.flatMap(([ns, { binding = {} }]) =>
    Array.isArray(binding)
      ? binding.map((one, index) => validatingBinding(`${ns}-${index}`, ns, { policyName: ns, ...one }))
      : [validatingBinding(ns, ns, binding as Sent)],
  );
  const before = entries.flatMap(([ns]) => [namespace(ns, { suite: name, tier: "a" }), ...setup(ns)]);
  return {
    name,
    setup: [...before, ...policies, ...bindings],
    answers: {},
    requests: entries.flatMap(([ns]) => requests(ns)),
  };
}

interface PolicyScenarioOptions {
  readonly requests?: (ns: string) => readonly AdmissionRequest[];
  readonly setup?: (ns: string) => readonly SetupStep[];
}

/** Creates with and without data, by two users, an update, a patch and a delete. */
export function usualRequests(ns: string): AdmissionRequest[] {
  const metadata = { name: "a", labels: { tier: "a" } };
  return [
    createConfigMap(ns, "a", { metadata, data: { a: "1", b: "22" } }),
    { ...createConfigMap(ns, "b"), user: ["golden-other", "system:authenticated"] },
    updateConfigMap(ns, "a", { metadata, data: { a: "2" } }),
    patchConfigMap(ns, "a", { data: { c: "3" } }),
    deleteConfigMap(ns, "a"),
  ];
}

/** All users may write ConfigMaps, so that requests of other users reach admission. */
export const rights: readonly SetupStep[] = [
  [
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    { metadata: { name: "golden" }, rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }] },
  ],
  [
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    {
      metadata: { name: "golden" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "golden" },
      subjects: [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "system:authenticated" }],
    },
  ],
];
