/** One scenario with many mutating policies: each is bound to its own namespace, in which the same requests are sent. */
import type { AdmissionRequest, Scenario, Sent } from "../../../../../test/support/admission-golden.ts";
import { mutatingBinding, mutatingPolicy, namespace } from "./builders.ts";

export interface MutatingCase {
  readonly spec: Sent;
  readonly binding?: Sent;
}

export const applies = (expression: string): Sent => ({
  patchType: "ApplyConfiguration",
  applyConfiguration: { expression },
});
export const patches = (expression: string): Sent => ({ patchType: "JSONPatch", jsonPatch: { expression } });
export const apply = (expression: string, rest: Sent = {}): MutatingCase => ({
  spec: { mutations: [applies(expression)], ...rest },
});
export const patch = (expression: string, rest: Sent = {}): MutatingCase => ({
  spec: { mutations: [patches(expression)], ...rest },
});

/** One scenario with a policy for each case, each in its namespace. */
export function mutatingScenario(
  name: string,
  cases: Readonly<Record<string, MutatingCase>>,
  requests: (ns: string) => readonly AdmissionRequest[],
): Scenario {
  const entries = Object.entries(cases).map(([label, one]) => [`${name}-${label}`, one] as const);
  return {
    name,
    setup: [
      ...entries.map(([ns]) => namespace(ns, { suite: name, tier: "a" })),
      ...entries.map(([ns, { spec }]) => mutatingPolicy(ns, spec)),
      ...entries.map(([ns, { binding = {} }]) => mutatingBinding(ns, ns, binding)),
    ],
    answers: {},
    requests: entries.flatMap(([ns]) => requests(ns)),
  };
}
