/**
 * Rejects writes of resources whose storage version this server has not reported yet.
 * Source: `k8s.io/apiserver@v0.36.0/pkg/endpoints/filters/storageversion.go`.
 */
import { serviceUnavailable } from "../../apimachinery/errors.ts";
import { formatGroupResource, type GroupResource } from "../../apimachinery/object.ts";
import { identityNamespace } from "../../apimachinery/server-identity.ts";
import type { Filter } from "../../request/context.ts";
import type { RequestInfo } from "../../request/request-info.ts";

/** The storage versions that are not reported yet. */
export interface PendingVersions {
  /** @returns the last error, or `<nil>`; undefined for a resource that is not pending */
  problem(resource: GroupResource): string | undefined;
}

/** @param pending the report that runs, or what is pending before it */
export function storageVersionBarrier(pending: () => PendingVersions): Filter {
  return ({ info }) => {
    if (!isHeldBack(info)) return;
    const { group, resource } = info;
    const problem = pending().problem({ group, resource });
    if (problem === undefined) return;
    throw serviceUnavailable(
      `wait for storage version registration to complete for resource: ${formatGroupResource({ group, resource })}, last seen error: ${problem}`,
    );
  };
}

const reads: ReadonlySet<string> = new Set(["get", "list", "watch"]);

/** The Leases of servers, and the reports themselves, are written before. */
function isHeldBack({ isResourceRequest, verb, group, resource, namespace }: RequestInfo): boolean {
  if (!isResourceRequest || reads.has(verb)) return false;
  if (group === "internal.apiserver.k8s.io" && resource === "storageversions") return false;
  return !(group === "coordination.k8s.io" && resource === "leases" && namespace === identityNamespace);
}
