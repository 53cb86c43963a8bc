/**
 * Groups of this server and of other servers in one order. Source:
 * `k8s.io/kube-aggregator@v0.36.0/pkg/apiserver/handler_apis.go` and `handler_discovery.go`.
 */

import { localPriority } from "../../catalog/api-service-priorities.ts";
import type { MergedGroup, NamedGroup, ServedGroup, ServedGroupVersion } from "../../catalog/discovery.ts";
import { orderByApiService, orderByGroup, type PrioritizedVersion } from "../../catalog/group-order.ts";
import type { ApiServiceView } from "../../forwarding/aggregator/contract.ts";
import type { RemoteDiscovery } from "../../forwarding/aggregator/discovery/contract.ts";

/** All groups except the core group. */
interface MergedGroups {
  /** The groups of `/apis`: those with an APIService, available or not. */
  readonly plain: readonly NamedGroup[];
  /** The groups of aggregated discovery. */
  readonly aggregated: readonly MergedGroup[];
}

interface LocalVersion extends PrioritizedVersion {
  readonly served: ServedGroupVersion;
}

/**
 * Merges groups. A group version with a remote APIService is the other server's, even if this
 * server serves it too.
 *
 * @param groups those of this server; versions that have no APIService yet get the one that they
 *   are going to have
 */
export function mergeGroups(
  groups: readonly ServedGroup[],
  apiServices: readonly ApiServiceView[],
  remote: Pick<RemoteDiscovery, "find"> | undefined,
): MergedGroups {
  const local = groups.flatMap(localVersions);
  const registered = apiServices.filter(({ group }) => group !== "");
  return { plain: plainOrder(local, registered), aggregated: aggregatedOrder(local, registered, remote) };
}

function localVersions({ group, versions }: ServedGroup): LocalVersion[] {
  if (group === "") return [];
  return versions.map((served) => {
    const custom = served.resources.every(({ definition }) => definition.custom);
    return { group, version: served.version, ...localPriority(group, served.version, custom), served };
  });
}

function plainOrder(local: readonly LocalVersion[], registered: readonly ApiServiceView[]): readonly NamedGroup[] {
  const versions = new Map<string, PrioritizedVersion>(local.map((one) => [nameOf(one), one]));
  for (const one of registered) versions.set(nameOf(one), one);
  return orderByApiService([...versions.values()]);
}

/** The priorities of local APIServices do not count here. */
function aggregatedOrder(
  local: readonly LocalVersion[],
  registered: readonly ApiServiceView[],
  remote: Pick<RemoteDiscovery, "find"> | undefined,
): readonly MergedGroup[] {
  const versions = new Map<string, PrioritizedVersion & { readonly content: MergedGroup["versions"][number] }>(
    local.map((one) => [nameOf(one), { ...one, content: one.served }]),
  );
  for (const one of registered) {
    const found = one.service === undefined ? undefined : remote?.find(one.group, one.version);
    if (found !== undefined) versions.set(nameOf(one), { ...one, content: { version: one.version, remote: found } });
  }
  return orderByGroup([...versions.values()]).map(({ group, versions }) => ({
    group,
    versions: versions.map(({ content }) => content),
  }));
}

function nameOf({ group, version }: PrioritizedVersion): string {
  return `${version}.${group}`;
}
