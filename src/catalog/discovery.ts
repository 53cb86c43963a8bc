/**
 * The discovery documents as JSON objects, in upstream's order of fields. Source: Kubernetes docs,
 * The Kubernetes API, Discovery API; `k8s.io/apiserver@v0.36.0/pkg/endpoints/discovery`.
 */

import { formatGroupVersion } from "../apimachinery/object.ts";
import type { ResourceDefinition, ServedVersion, SubresourceDefinition } from "./contract.ts";

/** A group and its served versions, the preferred one first. */
export interface ServedGroup {
  readonly group: string;
  readonly versions: readonly ServedGroupVersion[];
}

/** A served version of a group. */
export interface ServedGroupVersion {
  readonly version: string;
  readonly resources: readonly ServedResource[];
}

/** A group version that another server serves, as in aggregated discovery. */
export interface RemoteVersionDiscovery {
  /**
   * Objects of the type APIResourceDiscovery in their wire form; empty if the server did not list
   * the group version.
   */
  readonly resources: readonly object[];
  /** `Stale` when the last request to the server failed. */
  readonly freshness: "Current" | "Stale";
}

/** A version of a group that another server serves. */
export interface RemoteGroupVersion {
  readonly version: string;
  readonly remote: RemoteVersionDiscovery;
}

/** A group whose versions this server and others serve, the preferred one first. */
export interface MergedGroup {
  readonly group: string;
  readonly versions: readonly (ServedGroupVersion | RemoteGroupVersion)[];
}

/** A group and its versions, without resources. */
export interface NamedGroup {
  readonly group: string;
  readonly versions: readonly { readonly version: string }[];
}

/** A resource at a served version. */
export interface ServedResource {
  readonly definition: ResourceDefinition;
  readonly version: ServedVersion;
}

/** `serverAddressByClientCIDRs` of the documents. */
export type ServerAddresses = readonly { readonly clientCIDR: string; readonly serverAddress: string }[];

/** Groups with at least one served version, in the order of the definitions. */
export function servedGroups(definitions: readonly ResourceDefinition[]): ServedGroup[] {
  const groups: ServedGroup[] = [];
  for (const [group, members] of Map.groupBy(definitions, (definition) => definition.group)) {
    const served = members.flatMap((definition) =>
      definition.versions.filter((one) => one.served).map((version) => ({ definition, version })),
    );
    const versions = [...Map.groupBy(served, ({ version }) => version.version)]
      .map(([version, resources]) => ({
        version,
        resources: unshadowed(resources).sort((a, b) => compareText(a.definition.resource, b.definition.resource)),
      }))
      .sort((a, b) => compareVersions(a.version, b.version));
    if (versions.length > 0) groups.push({ group, versions });
  }
  return groups;
}

/** Custom resources are not served at a version that built-in ones have. */
function unshadowed(resources: ServedResource[]): ServedResource[] {
  const builtin = resources.filter(({ definition }) => !definition.custom);
  return builtin.length === 0 ? resources : builtin;
}

/** The APIVersions of `/api`. */
export function apiVersions(group: ServedGroup | undefined, addresses: ServerAddresses): object {
  return {
    kind: "APIVersions",
    versions: group?.versions.map(({ version }) => version) ?? [],
    serverAddressByClientCIDRs: addresses,
  };
}

/** The APIGroupList of `/apis`. */
export function apiGroupList(groups: readonly NamedGroup[]): object {
  return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(groupBody) };
}

/** The APIGroup of `/apis/{group}`. */
export function apiGroup(group: NamedGroup): object {
  return { kind: "APIGroup", apiVersion: "v1", ...groupBody(group) };
}

function groupBody({ group, versions }: NamedGroup): object {
  const named = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: named, preferredVersion: named[0] };
}

/**
 * The APIResourceList of `/api/v1` (which has no apiVersion, as upstream) and
 * `/apis/{group}/{version}`.
 */
export function apiResourceList(group: string, { version, resources }: ServedGroupVersion): object {
  return {
    kind: "APIResourceList",
    ...(group !== "" && { apiVersion: "v1" }),
    groupVersion: formatGroupVersion(group, version),
    resources: resources.flatMap((resource) => apiResources(resource)),
  };
}

function apiResources({ definition, version }: ServedResource): object[] {
  const { resource, singular, kind, namespaced, shortNames, categories, storage } = definition;
  const main = {
    name: resource,
    singularName: singular,
    namespaced,
    kind,
    verbs: version.discoveredVerbs ?? version.verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(storage !== undefined && !isUnservedStorage(definition) && { storageVersionHash: storage.versionHash }),
  };
  const below = sortedSubresources(definition, version).map((subresource) => ({
    name: `${resource}/${subresource.name}`,
    singularName: "",
    namespaced,
    ...subresource.kindGroupVersion,
    kind: subresource.kind,
    verbs: subresource.verbs,
  }));
  return [main, ...below];
}

/** An APIGroupDiscoveryList. */
export interface GroupDiscoveryList {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly items: readonly { readonly metadata: { readonly name?: string } }[];
}

/** Aggregated discovery: `/api` has only the core group, `/apis` all others. */
export function apiGroupDiscoveryList(groups: readonly MergedGroup[]): GroupDiscoveryList {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map(groupDiscovery),
  };
}

function groupDiscovery({
  group,
  versions,
}: MergedGroup): GroupDiscoveryList["items"][number] & { versions: object[] } {
  return { metadata: group === "" ? {} : { name: group }, versions: versions.map(versionDiscovery) };
}

function versionDiscovery(version: MergedGroup["versions"][number]): object {
  if (!("remote" in version))
    return { version: version.version, resources: version.resources.map(resourceDiscovery), freshness: "Current" };
  const { resources, freshness } = version.remote;
  return { version: version.version, ...(resources.length > 0 && { resources }), freshness };
}

function resourceDiscovery({ definition, version }: ServedResource): object {
  const { resource, singular, kind, namespaced, shortNames, categories } = definition;
  // Empty group and version mean those of the list.
  const own = definition.custom ? { group: definition.group, version: version.version } : { group: "", version: "" };
  const subresources = sortedSubresources(definition, version).map(({ name, kind, kindGroupVersion, verbs }) => ({
    subresource: name,
    responseKind: { ...(kindGroupVersion ?? own), kind },
    verbs,
  }));
  return {
    resource,
    responseKind: { ...own, kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs: version.discoveredVerbs ?? version.verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}

/** Sorts subresources by name; those of custom kinds keep the order of their definition. */
function sortedSubresources(
  { custom }: ResourceDefinition,
  { subresources }: ServedVersion,
): readonly SubresourceDefinition[] {
  return custom ? subresources : subresources.toSorted((a, b) => compareText(a.name, b.name));
}

/** Whether the storage version is not served, so that discovery has no hash of it. */
function isUnservedStorage({ custom, versions, storage }: ResourceDefinition): boolean {
  return custom && versions.every(({ version, served }) => version !== storage?.version || !served);
}

/**
 * Orders versions by priority: v2, v1, v2beta1, v1beta1, v1alpha1, and then other names
 * alphabetically.
 */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [versionRank(a), versionRank(b)];
  if (x === undefined || y === undefined) return x === y ? compareText(a, b) : x === undefined ? 1 : -1;
  return y.stage - x.stage || y.major - x.major || y.minor - x.minor;
}

function versionRank(version: string): { stage: number; major: number; minor: number } | undefined {
  const [, major, stage, minor] = /^v([1-9]\d{0,8})(?:(alpha|beta)([1-9]\d{0,8}))?$/.exec(version) ?? [];
  if (major === undefined) return undefined;
  return { stage: stage === undefined ? 2 : stage === "beta" ? 1 : 0, major: Number(major), minor: Number(minor ?? 0) };
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
