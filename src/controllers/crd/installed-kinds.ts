/** Which kinds of definitions are in the catalogue. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { MutableCatalog, ResourceDefinition } from "../../catalog/contract.ts";

export interface InstalledKinds {
  /**
   * Puts the kind into the catalogue, in the place of what it was before; nothing happens where nothing changed. The watches of a kind go on when
   * all that is new is that its definition is to go.
   * @returns whether it is there
   */
  install(definition: KubeObject): boolean;
  /** @param name of the definition @returns undefined where its kind is not in the catalogue */
  find(name: string): ResourceDefinition | undefined;
  /** @param name of the definition */
  remove(name: string): void;
}

interface Installed {
  readonly definition: ResourceDefinition;
  /** Of what it was made from. */
  readonly state: string;
  readonly isTerminating: boolean;
}

export interface InstalledKindsOptions {
  readonly catalog: MutableCatalog;
  readonly customDefinition: (definition: KubeObject) => ResourceDefinition | undefined;
  /** Ends the watches of a kind that has gone, or is another one now, and forgets what was known of its objects. */
  readonly release: (definition: ResourceDefinition) => void;
}

export function installedKinds({ catalog, customDefinition, release }: InstalledKindsOptions): InstalledKinds {
  const installed = new Map<string, Installed>();
  const remove = (name: string): void => {
    const known = installed.get(name);
    if (known === undefined) return;
    installed.delete(name);
    catalog.remove(known.definition.group, known.definition.resource);
    release(known.definition);
  };
  return {
    remove,
    find: (name) => installed.get(name)?.definition,
    install(definition) {
      const name = definition.metadata.name as string;
      const state = stateOf(definition);
      const isTerminating = definition.metadata.deletionTimestamp !== undefined;
      const known = installed.get(name);
      if (known?.state === state && known.isTerminating === isTerminating) return true;
      if (known?.state !== state) remove(name);
      const made = customDefinition(definition);
      if (made === undefined || isBuiltIn(catalog, made)) return false;
      catalog.add(made);
      installed.set(name, { definition: made, state, isTerminating });
      return true;
    },
  };
}

/** What it is made of is another one with every generation. */
function stateOf({ metadata, status }: KubeObject): string {
  return JSON.stringify([metadata.uid, metadata.generation, status?.acceptedNames]);
}

/** A definition cannot take the place of what the server has itself. */
function isBuiltIn(catalog: MutableCatalog, { group, resource, kind }: ResourceDefinition): boolean {
  return catalog
    .definitions()
    .some((one) => !one.custom && one.group === group && (one.resource === resource || one.kind === kind));
}
