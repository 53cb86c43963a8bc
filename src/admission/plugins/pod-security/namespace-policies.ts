/** The policies of namespaces, parsed once for each set of labels in the watch cache. */
import { type ParsedPolicy, type Policy, parsePolicy } from "../../../lib/pod-security/policy.ts";
import type { Namespaces } from "../../matching/namespaces.ts";
import type { PodSecurity } from "./contract.ts";

type Labels = ReadonlyMap<string, string>;

/** Returns a function that reads the policy of the namespace of a request. */
export function namespacePolicies(namespaces: Namespaces, defaults: Policy): PodSecurity["policyOf"] {
  // An entry of the watch cache keeps its map of labels, and a policy lives as long as its entry.
  const parsed = new WeakMap<Labels, ParsedPolicy>();
  const policyOf = (labels: Labels): ParsedPolicy => {
    let policy = parsed.get(labels);
    if (policy === undefined) {
      policy = parsePolicy((label) => labels.get(label), defaults);
      parsed.set(labels, policy);
    }
    return policy;
  };
  return async (attributes) => policyOf(await namespaces.labels(attributes));
}
