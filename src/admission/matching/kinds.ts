/**
 * The kind and resource of a request, and equivalent resources. Source: `EquivalentResourceMapper`
 * in k8s.io/apimachinery@v0.36.0/pkg/runtime/mapper.go.
 */
import type { GroupVersionKind, GroupVersionResource } from "../../apimachinery/object.ts";
import type { Catalog, Resolved, ResourceDefinition, ServedVersion } from "../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";

/** The resource of a version, and its kinds by subresource. */
interface Names {
  readonly resource: GroupVersionResource;
  readonly kinds: Map<string, GroupVersionKind>;
}

// Depends on the definition alone, and is garbage-collected with it.
const names = new WeakMap<ResourceDefinition, Map<ServedVersion, Names>>();

function namesOf({ resource: { definition }, version }: Resolved): Names {
  const known = names.get(definition)?.get(version);
  if (known !== undefined) return known;
  const { group, resource } = definition;
  const found = { resource: { group, version: version.version, resource }, kinds: new Map() };
  const versions = names.get(definition) ?? new Map<ServedVersion, Names>();
  names.set(definition, versions.set(version, found));
  return found;
}

/** Returns the resource that the request names. */
export function requestedResource({ target }: AdmissionAttributes): GroupVersionResource {
  return namesOf(target).resource;
}

/** Returns the kind of the request's object: that of the subresource, if it has one. */
export function requestedKind({ target, subresource }: AdmissionAttributes): GroupVersionKind {
  const { kinds } = namesOf(target);
  const known = kinds.get(subresource);
  if (known !== undefined) return known;
  const { definition } = target.resource;
  const own = { group: definition.group, version: target.version.version, kind: definition.kind };
  const kind = kindFor(definition, target.version, subresource) ?? own;
  kinds.set(subresource, kind);
  return kind;
}

/** Finds the other resources as which a request can match. */
export type FindEquivalents = (attributes: AdmissionAttributes) => readonly GroupVersionResource[];

/**
 * Creates a function that returns the other served resources that store the same objects and have
 * the subresource: other versions, and other groups such as that of Events. It keeps its answers
 * until the catalog changes.
 */
export function equivalentResources(catalog: Catalog): FindEquivalents {
  let found = new Map<ServedVersion, Map<string, readonly GroupVersionResource[]>>();
  let { generation } = catalog;
  return (attributes) => {
    const { version } = attributes.target;
    if (generation !== catalog.generation) {
      found = new Map();
      generation = catalog.generation;
    }
    const bySubresource = found.get(version) ?? new Map<string, readonly GroupVersionResource[]>();
    found.set(version, bySubresource);
    const { subresource } = attributes;
    const resources = bySubresource.get(subresource) ?? listEquivalents(catalog, attributes);
    bySubresource.set(subresource, resources);
    return resources;
  };
}

function listEquivalents(catalog: Catalog, { target, subresource }: AdmissionAttributes): GroupVersionResource[] {
  const { definition } = target.resource;
  const definitions =
    definition.storage === undefined || definition.custom
      ? [definition]
      : catalog.definitions().filter(({ storage }) => storage?.prefix === definition.storage?.prefix);
  return definitions.flatMap((each) =>
    each.versions
      .filter((version) => isServed(catalog, each, version) && kindFor(each, version, subresource) !== undefined)
      .filter(({ version }) => each !== definition || version !== target.version.version)
      .map(({ version }) => ({ group: each.group, version, resource: each.resource })),
  );
}

/** Returns the kind of a resource's objects, or of those of a subresource. */
export function kindOfResource(
  catalog: Catalog,
  { group, version, resource }: GroupVersionResource,
  subresource: string,
): GroupVersionKind | undefined {
  const found = catalog.find(group, version, resource);
  return found && kindFor(found.resource.definition, found.version, subresource);
}

function isServed(catalog: Catalog, { group, resource, custom }: ResourceDefinition, version: ServedVersion): boolean {
  return custom ? version.served : catalog.findServed(group, version.version, resource) !== undefined;
}

function kindFor(
  { group, kind }: ResourceDefinition,
  { version, subresources }: ServedVersion,
  subresource: string,
): GroupVersionKind | undefined {
  if (subresource === "") return { group, version, kind };
  const found = subresources.find(({ name }) => name === subresource);
  return found && { group, version, ...found.kindGroupVersion, kind: found.kind };
}
