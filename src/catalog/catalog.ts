/** Finds resource definitions by path, kind and name, and the store of a resource. */
import { methodNotAllowed } from "../apimachinery/errors.ts";
import type {
  MutableCatalog,
  Resolved,
  Resource,
  ResourceDefinition,
  ResourceStore,
  ServedVersion,
} from "./contract.ts";
import { convertedVersion } from "./converted-version.ts";

/** A definition and, after its first use, the installed resource. */
interface Slot {
  readonly definition: ResourceDefinition;
  resource: Resource | undefined;
  /** Results of lookups by version. */
  readonly resolved: Map<string, Resolved>;
}

/** A version of a definition. */
interface VersionSlot {
  readonly slot: Slot;
  readonly version: string;
}

/** Definitions by `group/resource`, `group/version/resource` and `group/version/kind`. */
interface Index {
  readonly slots: ReadonlyMap<string, Slot>;
  readonly versions: ReadonlyMap<string, VersionSlot>;
  readonly kinds: ReadonlyMap<string, VersionSlot>;
  insert(definition: ResourceDefinition): void;
  drop(group: string, resource: string): Slot | undefined;
}

function createIndex(): Index {
  const slots = new Map<string, Slot>();
  const versions = new Map<string, VersionSlot>();
  const kinds = new Map<string, VersionSlot>();
  return {
    slots,
    versions,
    kinds,
    insert(definition) {
      const { group, resource, kind } = definition;
      const slot: Slot = { definition, resource: undefined, resolved: new Map() };
      slots.set(`${group}/${resource}`, slot);
      for (const { version } of definition.versions) {
        versions.set(`${group}/${version}/${resource}`, { slot, version });
        kinds.set(`${group}/${version}/${kind}`, { slot, version });
      }
    },
    drop(group, resource) {
      const slot = slots.get(`${group}/${resource}`);
      if (slot === undefined) return undefined;
      slots.delete(`${group}/${resource}`);
      for (const { version } of slot.definition.versions) {
        versions.delete(`${group}/${version}/${resource}`);
        kinds.delete(`${group}/${version}/${slot.definition.kind}`);
      }
      return slot;
    },
  };
}

/**
 * Creates the catalog.
 *
 * @param definitions in discovery order
 * @param install installs a definition; called at most once for each, when it is first used
 */
export function openCatalog(
  definitions: readonly ResourceDefinition[],
  install: (definition: ResourceDefinition) => Resource,
): MutableCatalog {
  const index = createIndex();
  let ordered: readonly ResourceDefinition[] = definitions;
  let generation = 0;

  const resourceOf = (slot: Slot): Resource => {
    slot.resource ??= install(slot.definition);
    return slot.resource;
  };
  const resolve = (found: VersionSlot | undefined): Resolved | undefined => {
    if (found === undefined) return undefined;
    const { slot, version } = found;
    const cached = slot.resolved.get(version);
    if (cached !== undefined) return cached;
    const served = slot.definition.versions.find((one) => one.version === version);
    if (served === undefined) return undefined;
    const resource = atVersion(resourceOf(slot), served);
    const converted = convertedVersion(resource, served);
    const resolved: Resolved = { resource, version: served, ...(converted !== undefined && { converted }) };
    slot.resolved.set(version, resolved);
    return resolved;
  };

  const drop = (group: string, resource: string): Slot | undefined => {
    const slot = index.drop(group, resource);
    if (slot !== undefined) ordered = ordered.filter((one) => one !== slot.definition);
    return slot;
  };

  for (const definition of definitions) index.insert(definition);
  return {
    find: (group, version, resource) => resolve(index.versions.get(`${group}/${version}/${resource}`)),
    findServed(group, version, resource) {
      const found = resolve(index.versions.get(`${group}/${version}/${resource}`));
      return found?.version.served === true ? found : undefined;
    },
    findKind: (group, version, kind) => resolve(index.kinds.get(`${group}/${version}/${kind}`)),
    findResource(group, resource) {
      const slot = index.slots.get(`${group}/${resource}`);
      return slot?.definition.versions.some(({ served }) => served) ? resourceOf(slot) : undefined;
    },
    definitions: () => ordered,
    get generation() {
      return generation;
    },
    add(definition) {
      const replaced = drop(definition.group, definition.resource);
      index.insert(definition);
      ordered = [...ordered, definition].sort(inDiscoveryOrder);
      generation += 1;
      return replaced?.resource;
    },
    remove(group, resource) {
      const slot = drop(group, resource);
      if (slot !== undefined) generation += 1;
      return slot?.resource;
    },
  };
}

function atVersion(resource: Resource, { strategy }: ServedVersion): Resource {
  return strategy === undefined ? resource : { ...resource, definition: { ...resource.definition, strategy } };
}

/** Sorts custom resources by name after the built-in ones, whose order the stable sort keeps. */
function inDiscoveryOrder(a: ResourceDefinition, b: ResourceDefinition): number {
  if (a.custom !== b.custom) return a.custom ? 1 : -1;
  if (!a.custom) return 0;
  return compare(a.group, b.group) || compare(a.resource, b.resource);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * The store of a resource.
 * @throws ApiError 405 for resources that store nothing
 */
export function storeOf(resource: Resource): ResourceStore {
  if (resource.store === undefined) throw methodNotAllowed();
  return resource.store;
}
