/** Remembers which policies can match the requests for a resource, so that others cost no time. */
import type { ServedVersion } from "../../catalog/contract.ts";
import type { AdmissionAttributes, AdmissionOperation } from "../../registry/admission-attributes.ts";
import type { BoundPolicy } from "./contract.ts";

/** Finds the policies whose rules can match a request; names and selectors are not checked. */
export type FindPossible = (
  policies: readonly BoundPolicy[],
  attributes: AdmissionAttributes,
) => readonly BoundPolicy[];

type ByOperation = Partial<Record<AdmissionOperation, readonly BoundPolicy[]>>;

/** The answers for one version of a resource, by subresource. */
interface Answers {
  readonly inNamespaces: Map<string, ByOperation>;
  readonly clusterScoped: Map<string, ByOperation>;
}

/**
 * Creates a function that keeps its answers until the policies or the resources change.
 *
 * @param catalog whose generation changes with the resources
 */
export function possiblePolicies(catalog: { readonly generation: number }): FindPossible {
  let of: readonly BoundPolicy[] = [];
  let generation = -1;
  let found = new Map<ServedVersion, Answers>();
  const answersFor = (version: ServedVersion): Answers => {
    const answers = found.get(version) ?? { inNamespaces: new Map(), clusterScoped: new Map() };
    found.set(version, answers);
    return answers;
  };
  return (policies, attributes) => {
    if (of !== policies || generation !== catalog.generation) {
      of = policies;
      generation = catalog.generation;
      found = new Map();
    }
    const { target, operation, subresource, namespace } = attributes;
    const answers = found.get(target.version) ?? answersFor(target.version);
    const bySubresource = namespace === "" ? answers.clusterScoped : answers.inNamespaces;
    const known = bySubresource.get(subresource)?.[operation];
    if (known !== undefined) return known;
    const possible = findPossible(policies, attributes);
    bySubresource.set(subresource, { ...bySubresource.get(subresource), [operation]: possible });
    return possible;
  };
}

function findPossible(policies: readonly BoundPolicy[], attributes: AdmissionAttributes): readonly BoundPolicy[] {
  return policies.filter(({ policy }) => policy.matcher.mayMatch(attributes));
}
