/** The storage versions of the built-in resources of this server. */
import { formatGroupVersion, type GroupResource } from "../../apimachinery/object.ts";
import type { Catalog, ResourceDefinition, StorageForm } from "../../catalog/contract.ts";
import { compareVersions } from "../../catalog/discovery.ts";
import { storedKinds } from "../../catalog/stored-kinds.ts";
import type { ServerStorageVersion } from "./status.ts";

/** The versions of one resource. */
export interface OwnVersions extends Omit<ServerStorageVersion, "apiServerID"> {
  /** The name of the StorageVersion, such as `core.pods` or `apps.deployments`. */
  readonly name: string;
}

type Stored = ResourceDefinition & { readonly storage: StorageForm };

/**
 * Source: `registerResourceHandlers` in `k8s.io/apiserver@v0.36.0/pkg/endpoints/installer.go`, and
 * `pkg/storageversion/manager.go` there.
 *
 * @param isShared whether objects are stored as kube-apiserver stores them
 * @returns one for each resource, sorted; resources with a common store, as the two of Events, have one
 */
export function ownVersions(catalog: Catalog, isShared: boolean): readonly OwnVersions[] {
  const served = catalog
    .definitions()
    .filter((one): one is Stored => one.storage !== undefined && !one.custom && servedVersions(one).length > 0)
    .sort(byName);
  const stored = storedVersions();
  return served.flatMap((definition, index) => {
    const sharing = (other: Stored): boolean => other.storage.prefix === definition.storage.prefix;
    if (served.slice(0, index).some(sharing)) return [];
    const others = served.filter((other) => other !== definition && sharing(other));
    return [
      {
        name: formatName(definition),
        encodingVersion: encodingVersion(definition, isShared),
        decodableVersions: [...decodableVersions(definition, stored), ...others.flatMap(servedVersions)],
        servedVersions: servedVersions(definition),
      },
    ];
  });
}

const formatName = ({ group, resource }: GroupResource): string => `${group === "" ? "core" : group}.${resource}`;

/** The name of the StorageVersion of a resource, which has that of Events in both groups; undefined for custom ones. */
export function nameOf(catalog: Catalog, { group, resource }: GroupResource): string | undefined {
  const found = catalog.findResource(group, resource)?.definition;
  if (found?.storage === undefined || found.custom) return undefined;
  const { prefix } = found.storage;
  const [first] = catalog
    .definitions()
    .filter((one) => one.storage?.prefix === prefix)
    .sort(byName);
  return formatName(first ?? found);
}

/** What is not reported before the first report: all built-in resources. */
export function pendingBeforeReport(catalog: Catalog): { problem(resource: GroupResource): string | undefined } {
  return { problem: (resource) => (nameOf(catalog, resource) === undefined ? undefined : noError) };
}

/** Go's text for no error. */
export const noError = "<nil>";

const byName = (a: GroupResource, b: GroupResource): number =>
  compare(a.group, b.group) || compare(a.resource, b.resource);
const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

function servedVersions({ group, versions }: ResourceDefinition): string[] {
  return versions.filter(({ served }) => served).map(({ version }) => formatGroupVersion(group, version));
}

function encodingVersion({ storage, storedConversions = {} }: Stored, isShared: boolean): string {
  const older = Object.entries(storedConversions).find(([, { toShared }]) => toShared !== undefined);
  return isShared && older !== undefined ? older[0] : formatGroupVersion(storage.group, storage.version);
}

/** The versions of kinds that are only stored, by `group/kind`. */
function storedVersions(): ReadonlyMap<string, readonly string[]> {
  const versions = new Map<string, string[]>();
  for (const text of storedKinds()) {
    const [kind = "", version = "", group = ""] = text.split("/").reverse();
    const name = `${group}/${kind}`;
    versions.set(name, [...(versions.get(name) ?? []), version]);
  }
  return versions;
}

function decodableVersions(
  { group, kind, versions }: Stored,
  stored: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const all = new Set([...versions.map(({ version }) => version), ...(stored.get(`${group}/${kind}`) ?? [])]);
  return [...all].sort(compareVersions).map((version) => formatGroupVersion(group, version));
}
