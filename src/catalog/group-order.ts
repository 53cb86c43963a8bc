/**
 * The order of groups and versions in discovery documents, by the priorities of their APIServices.
 * Source: Kubernetes docs, APIService, `groupPriorityMinimum` and `versionPriority`.
 */
import { type ApiServicePriority, apiRegistrationGroup } from "./api-service-priorities.ts";
import { compareVersions } from "./discovery.ts";

/** A version of a group with its priority. */
export interface PrioritizedVersion extends ApiServicePriority {
  readonly group: string;
  readonly version: string;
}

/** A group, and its versions with the preferred one first. */
export interface OrderedGroup<Version extends PrioritizedVersion> {
  readonly group: string;
  readonly versions: readonly Version[];
}

/**
 * The order of `/apis`: the first APIService of a group places it, by priority and name, such as
 * `v1.example.com`. Source: `SortedByGroupAndVersion` of
 * `k8s.io/kube-aggregator@v0.36.0/pkg/apis/apiregistration/v1/helper`.
 */
export function orderByApiService<Version extends PrioritizedVersion>(
  versions: readonly Version[],
): OrderedGroup<Version>[] {
  return ordered(versions, (one) => (one.group === apiRegistrationGroup ? "" : `${one.version}.${one.group}`));
}

/**
 * The order of aggregated discovery, where the name of the group breaks ties. Source:
 * `k8s.io/apiserver@v0.36.0/pkg/endpoints/discovery/aggregated/handler.go`.
 */
export function orderByGroup<Version extends PrioritizedVersion>(
  versions: readonly Version[],
): OrderedGroup<Version>[] {
  return ordered(versions, ({ group }) => group);
}

function ordered<Version extends PrioritizedVersion>(
  versions: readonly Version[],
  nameOf: (version: Version) => string,
): OrderedGroup<Version>[] {
  const sorted = versions.toSorted(
    (a, b) => b.groupPriorityMinimum - a.groupPriorityMinimum || compareText(nameOf(a), nameOf(b)),
  );
  return [...Map.groupBy(sorted, ({ group }) => group)].map(([group, members]) => ({
    group,
    versions: members.sort((a, b) => b.versionPriority - a.versionPriority || compareVersions(a.version, b.version)),
  }));
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
