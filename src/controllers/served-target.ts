import type { Catalog, Resolved, ResourceDefinition } from "../resource/contract.ts";

/**
 * @returns the definition at a served version that has all these verbs, if there is one; at the version that is stored where somebody else would have to
 *   convert its objects, since what looks at metadata alone need not wait for him
 */
export function servedTarget(catalog: Catalog, definition: ResourceDefinition, verbs: readonly string[]): Resolved | undefined {
  const { group, resource, versions, storage, converter } = definition;
  const served = versions.find((version) => version.served && verbs.every((verb) => version.verbs.includes(verb)));
  return served && catalog.find(group, (converter && storage?.version) ?? served.version, resource);
}
