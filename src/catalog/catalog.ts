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

/** A version of a definition. */
interface DefinedVersion {
  readonly definition: ResourceDefinition;
  readonly version: ServedVersion;
}

/** Definitions by `group/resource`, `group/version/resource` and `group/version/kind`. */
class Index {
  readonly definitions: Map<string, ResourceDefinition>;
  readonly versions: Map<string, DefinedVersion>;
  readonly kinds: Map<string, DefinedVersion>;

  /** @param from is copied */
  constructor(from?: Index) {
    this.definitions = new Map(from?.definitions);
    this.versions = new Map(from?.versions);
    this.kinds = new Map(from?.kinds);
  }

  insert(definition: ResourceDefinition): void {
    const { group, resource, kind } = definition;
    this.definitions.set(`${group}/${resource}`, definition);
    for (const version of definition.versions) {
      const defined = { definition, version };
      this.versions.set(`${group}/${version.version}/${resource}`, defined);
      this.kinds.set(`${group}/${version.version}/${kind}`, defined);
    }
  }

  drop(group: string, resource: string): ResourceDefinition | undefined {
    const definition = this.definitions.get(`${group}/${resource}`);
    if (definition === undefined) return undefined;
    this.definitions.delete(`${group}/${resource}`);
    for (const { version } of definition.versions) {
      this.versions.delete(`${group}/${version}/${resource}`);
      this.kinds.delete(`${group}/${version}/${definition.kind}`);
    }
    return definition;
  }
}

/** Servers with the same definitions begin with copies of one index. */
const indexes = new WeakMap<readonly ResourceDefinition[], Index>();

function indexOf(definitions: readonly ResourceDefinition[]): Index {
  const known = indexes.get(definitions);
  if (known !== undefined) return new Index(known);
  const index = new Index();
  for (const definition of definitions) index.insert(definition);
  indexes.set(definitions, index);
  return new Index(index);
}

/**
 * Creates the catalog.
 *
 * @param definitions in discovery order; the array must not change
 * @param install installs a definition; called at most once for each, when it is first used
 */
export function openCatalog(
  definitions: readonly ResourceDefinition[],
  install: (definition: ResourceDefinition) => Resource,
): MutableCatalog {
  const index = indexOf(definitions);
  const builtin = definitions.filter(({ custom, versions }) => !custom && versions.some(({ served }) => served));
  const builtinGroups = new Set(builtin.map(({ group }) => group));
  const { resources, resourceOf, resolve } = usedResources(install);
  let ordered: readonly ResourceDefinition[] = definitions;
  let generation = 0;

  /** @returns the resource, if it was used */
  const drop = (group: string, resource: string): { readonly used: Resource | undefined } | undefined => {
    const definition = index.drop(group, resource);
    if (definition === undefined) return undefined;
    ordered = ordered.toSpliced(ordered.indexOf(definition), 1);
    const used = resources.get(definition);
    resources.delete(definition);
    return { used };
  };

  return {
    find: (group, version, resource) => resolve(index.versions.get(`${group}/${version}/${resource}`)),
    findServed(group, version, resource) {
      const found = resolve(index.versions.get(`${group}/${version}/${resource}`));
      return found?.version.served === true ? found : undefined;
    },
    findKind: (group, version, kind) => resolve(index.kinds.get(`${group}/${version}/${kind}`)),
    findResource(group, resource) {
      const definition = index.definitions.get(`${group}/${resource}`);
      return definition?.versions.some(({ served }) => served) ? resourceOf(definition) : undefined;
    },
    definitions: () => ordered,
    isBuiltinGroup: (group) => builtinGroups.has(group),
    get generation() {
      return generation;
    },
    add(definition) {
      const replaced = drop(definition.group, definition.resource);
      index.insert(definition);
      ordered = ordered.toSpliced(placeOf(definition, ordered), 0, definition);
      generation += 1;
      return replaced?.used;
    },
    remove(group, resource) {
      const dropped = drop(group, resource);
      if (dropped !== undefined) generation += 1;
      return dropped?.used;
    },
  };
}

/** The resources that were used, each of which is installed once. */
function usedResources(install: (definition: ResourceDefinition) => Resource) {
  const resources = new Map<ResourceDefinition, Resource>();
  const resolved = new WeakMap<DefinedVersion, Resolved>();
  const resourceOf = (definition: ResourceDefinition): Resource => {
    const known = resources.get(definition);
    if (known !== undefined) return known;
    const resource = install(definition);
    resources.set(definition, resource);
    return resource;
  };
  const resolve = (found: DefinedVersion | undefined): Resolved | undefined => {
    if (found === undefined) return undefined;
    const { definition, version } = found;
    const known = resolved.get(found);
    if (known !== undefined) return known;
    const resource = atVersion(resourceOf(definition), version);
    const converted = convertedVersion(resource, version);
    const result: Resolved = { resource, version, ...(converted !== undefined && { converted }) };
    resolved.set(found, result);
    return result;
  };
  return { resources, resourceOf, resolve };
}

function atVersion(resource: Resource, { strategy }: ServedVersion): Resource {
  return strategy === undefined ? resource : { ...resource, definition: { ...resource.definition, strategy } };
}

/** @returns the index at which the definition is inserted */
function placeOf(definition: ResourceDefinition, ordered: readonly ResourceDefinition[]): number {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (inDiscoveryOrder(ordered[middle] as ResourceDefinition, definition) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
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
