import type { Catalog, Resolved, ResourceDefinition } from "../catalog/contract.ts";

/**
 * Resolves a resource at its first served version with all these verbs. This is the preferred
 * version in discovery, which upstream's controllers use.
 */
export function servedTarget(
  catalog: Catalog,
  definition: ResourceDefinition,
  verbs: readonly string[],
): Resolved | undefined {
  const { group, resource, versions } = definition;
  const served = versions.find((version) => version.served && verbs.every((verb) => version.verbs.includes(verb)));
  return served && catalog.find(group, served.version, resource);
}
