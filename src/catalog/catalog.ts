/** Every definition by the names that paths and kinds use. */
import type { MutableCatalog, Resolved, Resource, ResourceDefinition, ServedVersion } from "./contract.ts";
import { convertedVersion } from "./converted-version.ts";

/** A definition and, once somebody asked for it, the resource made of it. */
interface Slot {
  readonly definition: ResourceDefinition;
  resource: Resource | undefined;
  /** By version. */
  readonly resolved: Map<string, Resolved>;
}

/**
 * @param definitions in discovery order
 * @param install makes a definition ready; called once for each, when it is first asked for
 */
export function openCatalog(
  definitions: readonly ResourceDefinition[],
  install: (definition: ResourceDefinition) => Resource,
): MutableCatalog {
  const slots = new Map<string, Slot>();
  const versions = new Map<string, Resolving>();
  const kinds = new Map<string, Resolving>();
  let ordered: readonly ResourceDefinition[] = definitions;
  let generation = 0;

  const insert = (definition: ResourceDefinition): void => {
    const slot: Slot = { definition, resource: undefined, resolved: new Map() };
    slots.set(`${definition.group}/${definition.resource}`, slot);
    for (const { version } of definition.versions) {
      versions.set(`${definition.group}/${version}/${definition.resource}`, { slot, version });
      kinds.set(`${definition.group}/${version}/${definition.kind}`, { slot, version });
    }
  };
  const drop = (group: string, resource: string): Slot | undefined => {
    const slot = slots.get(`${group}/${resource}`);
    if (slot === undefined) return undefined;
    slots.delete(`${group}/${resource}`);
    for (const { version } of slot.definition.versions) {
      versions.delete(`${group}/${version}/${resource}`);
      kinds.delete(`${group}/${version}/${slot.definition.kind}`);
    }
    ordered = ordered.filter((one) => one !== slot.definition);
    return slot;
  };
  const resourceOf = (slot: Slot): Resource => {
    slot.resource ??= install(slot.definition);
    return slot.resource;
  };
  const resolve = (found: Resolving | undefined): Resolved | undefined => {
    if (found === undefined) return undefined;
    const { slot, version } = found;
    const known = slot.resolved.get(version);
    if (known !== undefined) return known;
    const served = slot.definition.versions.find((one) => one.version === version);
    if (served === undefined) return undefined;
    const resource = atVersion(resourceOf(slot), served);
    const converted = convertedVersion(resource, served);
    const resolved: Resolved = { resource, version: served, ...(converted !== undefined && { converted }) };
    slot.resolved.set(version, resolved);
    return resolved;
  };

  for (const definition of definitions) insert(definition);
  return {
    find: (group, version, resource) => resolve(versions.get(`${group}/${version}/${resource}`)),
    findServed(group, version, resource) {
      const found = resolve(versions.get(`${group}/${version}/${resource}`));
      return found?.version.served === true ? found : undefined;
    },
    findKind: (group, version, kind) => resolve(kinds.get(`${group}/${version}/${kind}`)),
    findResource(group, resource) {
      const slot = slots.get(`${group}/${resource}`);
      return slot?.definition.versions.some(({ served }) => served) ? resourceOf(slot) : undefined;
    },
    definitions: () => ordered,
    get generation() {
      return generation;
    },
    add(definition) {
      const before = drop(definition.group, definition.resource);
      insert(definition);
      ordered = [...ordered, definition].sort(byPlace);
      generation += 1;
      return before?.resource;
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

interface Resolving {
  readonly slot: Slot;
  readonly version: string;
}

/** Custom resources follow the built-in ones, by name; sorting is stable and keeps the order of the built-in ones. */
function byPlace(a: ResourceDefinition, b: ResourceDefinition): number {
  if (a.custom !== b.custom) return a.custom ? 1 : -1;
  if (!a.custom) return 0;
  return compare(a.group, b.group) || compare(a.resource, b.resource);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
