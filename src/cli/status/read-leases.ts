/** Reads which servers share a store, which nodes run, and which leases are held. */
import { identityLabel, identityNamespace } from "../../apimachinery/server-identity.ts";
import type { Json, Sender } from "../client/ask.ts";
import { listAll } from "../client/list-all.ts";

/** A server over the store. */
export interface Replica {
  /** The name of its Lease. */
  readonly identity: string;
  readonly hostname: string;
  /** Whether its Lease has not expired. */
  readonly isCurrent: boolean;
}

/** A Lease that a controller or another component holds. */
export interface HeldLease {
  readonly name: string;
  readonly holder: string;
  readonly isCurrent: boolean;
}

/** @param now milliseconds since 1970 @throws RequestRejected */
export async function readLeases(
  sender: Sender,
  now: number,
): Promise<{ servers: readonly Replica[]; leases: readonly HeldLease[] }> {
  const all: Json[] = await listAll(sender, `/apis/coordination.k8s.io/v1/namespaces/${identityNamespace}/leases`);
  const [label, value] = identityLabel;
  const isServer = ({ metadata }: Json): boolean => metadata.labels?.[label] === value;
  return {
    servers: all.filter(isServer).map((lease) => ({
      identity: String(lease.metadata.name),
      hostname: String(lease.metadata.labels["kubernetes.io/hostname"] ?? ""),
      isCurrent: isCurrent(lease, now),
    })),
    leases: all
      .filter((lease) => !isServer(lease) && (lease.spec?.holderIdentity ?? "") !== "")
      .map((lease) => ({
        name: String(lease.metadata.name),
        holder: String(lease.spec.holderIdentity),
        isCurrent: isCurrent(lease, now),
      })),
  };
}

/** Of the Leases that kubelets renew. Source: k8s.io/api@v0.36.0/core/v1/types.go, NamespaceNodeLease */
const nodeLeases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

/**
 * Counts the nodes on which a kubelet, or a simulation of one such as KWOK, runs: it renews a Lease of the node.
 *
 * @param now milliseconds since 1970
 * @throws RequestRejected
 */
export async function countRunningNodes(sender: Sender, now: number): Promise<number> {
  const all: Json[] = await listAll(sender, nodeLeases);
  return all.filter((lease) => isCurrent(lease, now)).length;
}

function isCurrent({ spec = {} }: Json, now: number): boolean {
  const renewed = Date.parse(spec.renewTime ?? "");
  return !Number.isNaN(renewed) && renewed + (spec.leaseDurationSeconds ?? 0) * 1000 >= now;
}
