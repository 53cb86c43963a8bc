/** Remembers which policies can match the requests for a resource, so that others cost no time. */
import type { ServedVersion } from "../../catalog/contract.ts";
import type { AdmissionAttributes } from "../contract.ts";
import type { BoundPolicy } from "./contract.ts";

/** Finds the policies whose rules can match a request; names and selectors are not checked. */
export type FindPossible = (
  policies: readonly BoundPolicy[],
  attributes: AdmissionAttributes,
) => readonly BoundPolicy[];

/**
 * Creates a function that keeps its answers until the policies or the resources change.
 *
 * @param catalog whose generation changes with the resources
 */
export function possiblePolicies(catalog: { readonly generation: number }): FindPossible {
  let of: readonly BoundPolicy[] = [];
  let generation = -1;
  let found = new Map<ServedVersion, Map<string, readonly BoundPolicy[]>>();
  return (policies, attributes) => {
    if (of !== policies || generation !== catalog.generation) {
      [of, generation] = [policies, catalog.generation];
      found = new Map();
    }
    const { target, operation, subresource, namespace } = attributes;
    const byKind = found.get(target.version) ?? new Map<string, readonly BoundPolicy[]>();
    found.set(target.version, byKind);
    const key = `${operation} ${namespace === "" ? "" : "namespaced"} ${subresource}`;
    const possible = byKind.get(key) ?? policies.filter(({ policy }) => policy.matcher.mayMatch(attributes));
    byKind.set(key, possible);
    return possible;
  };
}
