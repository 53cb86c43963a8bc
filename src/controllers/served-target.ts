import type { Catalog, Resolved, ResourceDefinition } from "../catalog/contract.ts";

/** @returns the definition at the first served version that has all these verbs: the one that discovery prefers, which upstream's controllers work at */
export function servedTarget(
  catalog: Catalog,
  definition: ResourceDefinition,
  verbs: readonly string[],
): Resolved | undefined {
  const { group, resource, versions } = definition;
  const served = versions.find((version) => version.served && verbs.every((verb) => version.verbs.includes(verb)));
  return served && catalog.find(group, served.version, resource);
}
