/**
 * Maps kinds to resources, with the spellings that upstream's mapper accepts.
 * Source: k8s.io/client-go@v0.36.0/restmapper/discovery.go.
 */
import type { Catalog } from "../../../catalog/contract.ts";

/** The resource of a kind. */
export interface Mapping {
  readonly resource: string;
  readonly namespaced: boolean;
}

/**
 * @returns a function that finds the resource of a served kind. As upstream's, it accepts the kind
 *   in lower case, and guesses resources for kinds of lists
 */
export function kindMapper(
  catalog: Pick<Catalog, "definitions" | "generation">,
): (group: string, version: string, kind: string) => Mapping | undefined {
  let mappings: ReadonlyMap<string, Mapping> = new Map();
  let generation: number | undefined;
  return (group, version, kind) => {
    if (generation !== catalog.generation) {
      mappings = mappingsOf(catalog);
      generation = catalog.generation;
    }
    return mappings.get(`${group}/${version}/${kind}`);
  };
}

function mappingsOf(catalog: Pick<Catalog, "definitions">): ReadonlyMap<string, Mapping> {
  const mappings = new Map<string, Mapping>();
  for (const { group, resource, kind, namespaced, versions } of catalog.definitions()) {
    for (const { version, served } of versions) {
      if (!served) continue;
      const add = (name: string, mapping: Mapping): void => void mappings.set(`${group}/${version}/${name}`, mapping);
      add(kind.toLowerCase(), { resource, namespaced });
      add(kind, { resource, namespaced });
      add(`${kind}List`, { resource: `${kind.toLowerCase()}lists`, namespaced });
      add("List", { resource: "lists", namespaced: false });
    }
  }
  return mappings;
}
