import type { Catalog, Resolved, ResourceDefinition } from "../resource/contract.ts";

/** @returns the definition at a served version that has all these verbs, if there is one */
export function servedTarget(catalog: Catalog, { group, resource, versions }: ResourceDefinition, verbs: readonly string[]): Resolved | undefined {
  const served = versions.find((version) => version.served && verbs.every((verb) => version.verbs.includes(verb)));
  return served && catalog.find(group, served.version, resource);
}
