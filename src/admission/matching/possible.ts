/** Remembers which policies or webhooks can match the requests for a resource, so that others cost no time. */
import type { ServedVersion } from "../../catalog/contract.ts";
import type { AdmissionAttributes, AdmissionOperation } from "../../registry/admission-attributes.ts";
import type { Matcher } from "./contract.ts";

/**
 * Finds those of a list whose rules can match a request; names and selectors are not checked.
 *
 * @returns without waiting, so that writes that nothing can match do not wait either
 */
export type FindPossible<T> = (list: readonly T[], attributes: AdmissionAttributes) => readonly T[];

type ByOperation<T> = Partial<Record<AdmissionOperation, readonly T[]>>;

/** The answers for one version of a resource, by subresource. */
interface Answers<T> {
  readonly inNamespaces: Map<string, ByOperation<T>>;
  readonly clusterScoped: Map<string, ByOperation<T>>;
}

/**
 * Creates a function that keeps its answers until the list or the resources change.
 *
 * @param catalog whose generation changes with the resources
 */
export function findPossible<T>(
  catalog: { readonly generation: number },
  matcherOf: (one: T) => Pick<Matcher, "mayMatch">,
): FindPossible<T> {
  let of: readonly T[] = [];
  let generation = -1;
  let found = new Map<ServedVersion, Answers<T>>();
  const answersFor = (version: ServedVersion): Answers<T> => {
    const answers = found.get(version) ?? { inNamespaces: new Map(), clusterScoped: new Map() };
    found.set(version, answers);
    return answers;
  };
  return (list, attributes) => {
    if (of !== list || generation !== catalog.generation) {
      of = list;
      generation = catalog.generation;
      found = new Map();
    }
    const { target, operation, subresource, namespace } = attributes;
    const answers = found.get(target.version) ?? answersFor(target.version);
    const bySubresource = namespace === "" ? answers.clusterScoped : answers.inNamespaces;
    const known = bySubresource.get(subresource)?.[operation];
    if (known !== undefined) return known;
    const possible = list.filter((one) => matcherOf(one).mayMatch(attributes));
    bySubresource.set(subresource, { ...bySubresource.get(subresource), [operation]: possible });
    return possible;
  };
}
