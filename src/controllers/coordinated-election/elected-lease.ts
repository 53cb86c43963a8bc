/**
 * What an election changes in the Lease. Source: reconcileElectionStep in
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/leaderelection/leaderelection_controller.go`.
 */
import { formatMicroTime } from "../../apimachinery/clock.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { isLeaseExpired } from "./candidates.ts";

/** The result of an election. */
export interface Elected {
  readonly strategy: string;
  /** Undefined for strategies of other controllers, which set the holder. */
  readonly holder: string | undefined;
}

/** The leader renews with its own duration. */
const leaseDurationSeconds = 5;

/** @returns the spec of a new Lease */
export function newSpec({ strategy, holder }: Elected, now: number): KubeObject["spec"] {
  return {
    ...(holder !== undefined && { holderIdentity: holder }),
    leaseDurationSeconds,
    renewTime: formatMicroTime(now),
    strategy,
  };
}

/**
 * Changes an existing Lease: one without a living holder gets the new one; otherwise the holder
 * learns that another one is preferred, and lets the Lease expire.
 */
export function applyResult(lease: KubeObject, { strategy, holder }: Elected, now: number): void {
  const spec = lease.spec ?? {};
  lease.spec = spec;
  const isExpired = isLeaseExpired(lease, now);
  const current: string = spec.holderIdentity ?? "";
  spec.strategy = strategy;
  if (holder === undefined || holder === current) return;
  if (current !== "" && !isExpired) {
    spec.preferredHolder = holder;
    return;
  }
  delete spec.preferredHolder;
  delete spec.acquireTime;
  Object.assign(spec, newSpec({ strategy, holder }, now));
}
