/** Adds the kinds of CustomResourceDefinitions to the catalog, and removes them. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { MutableCatalog, ResourceDefinition } from "../../catalog/contract.ts";

export interface InstalledKinds {
  /**
   * Adds the kind to the catalog, or replaces it when the definition has changed. Watches of the
   * kind continue when the only change is that its definition is being deleted.
   * @returns whether the kind is in the catalog
   */
  install(definition: KubeObject): boolean;
  /** @returns the kind of the named definition; undefined when it is not in the catalog */
  find(name: string): ResourceDefinition | undefined;
  /** Removes the kind of the named definition from the catalog. */
  remove(name: string): void;
}

interface Installed {
  readonly definition: ResourceDefinition;
  /** {@link stateOf} the CustomResourceDefinition. */
  readonly state: string;
  readonly isTerminating: boolean;
}

interface InstalledKindsOptions {
  readonly catalog: MutableCatalog;
  readonly customDefinition: (definition: KubeObject) => ResourceDefinition | undefined;
  /** Ends the watches of a kind that was removed or replaced, and drops its cached objects. */
  readonly release: (definition: ResourceDefinition) => void;
}

export function installedKinds({ catalog, customDefinition, release }: InstalledKindsOptions): InstalledKinds {
  const installed = new Map<string, Installed>();
  const remove = (name: string): void => {
    const existing = installed.get(name);
    if (existing === undefined) return;
    installed.delete(name);
    catalog.remove(existing.definition.group, existing.definition.resource);
    release(existing.definition);
  };
  return {
    remove,
    find: (name) => installed.get(name)?.definition,
    install(definition) {
      const name = definition.metadata.name as string;
      const state = stateOf(definition);
      const isTerminating = definition.metadata.deletionTimestamp !== undefined;
      const existing = installed.get(name);
      if (existing?.state === state && existing.isTerminating === isTerminating) return true;
      if (existing?.state !== state) remove(name);
      const created = customDefinition(definition);
      if (created === undefined || isBuiltIn(catalog, created)) return false;
      catalog.add(created);
      installed.set(name, { definition: created, state, isTerminating });
      return true;
    },
  };
}

/** Returns a text that changes when the kind has to be replaced. */
function stateOf({ metadata, status }: KubeObject): string {
  const { plural, singular, kind, listKind, shortNames, categories } = status?.acceptedNames ?? {};
  const names = [plural, singular, kind, listKind, shortNames, categories];
  return JSON.stringify([metadata.uid, metadata.generation, names]);
}

/** Definitions must not replace built-in kinds, which the catalog lists first. */
function isBuiltIn(catalog: MutableCatalog, { group, resource, kind }: ResourceDefinition): boolean {
  for (const one of catalog.definitions()) {
    if (one.custom) return false;
    if (one.group === group && (one.resource === resource || one.kind === kind)) return true;
  }
  return false;
}
