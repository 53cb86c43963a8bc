/**
 * The types of endpoint reconcilers. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/reconcilers/`.
 */

import type { KubeObject } from "../../../apimachinery/object.ts";
import type { RegistryContext } from "../../../registry/contract.ts";
import { serverRecords } from "../../../registry/server-records.ts";
import type { EndpointReconciler, KubernetesServiceOptions } from "./contract.ts";
import { addAddress, removeAddress, setAddresses } from "./endpoints.ts";
import { writeEndpoints } from "./write-endpoints.ts";

interface ReconcilerOptions extends Pick<KubernetesServiceOptions, "endpointReconciler" | "apiserverCount"> {
  /** The address of this server; undefined: it has none that others reach. */
  readonly ip: string | undefined;
  readonly port: number;
  /** Whether other servers can have the same store open. */
  readonly isShared: boolean;
}

/** @returns the reconciler of the type in the options */
export function endpointReconciler(registry: RegistryContext, options: ReconcilerOptions): EndpointReconciler {
  const { endpointReconciler: type, ip, isShared } = options;
  if (ip === undefined || type === "none") return idle;
  if (type === "master-count") return byCount(registry, { ...options, ip });
  // The only server needs no lease, and its store is not written all the time.
  return isShared ? byLease(registry, { ...options, ip }) : alone(registry, { ...options, ip });
}

const idle: EndpointReconciler = { reconcile: async () => {}, remove: async () => false };

type Addressed = ReconcilerOptions & { readonly ip: string };

/** The endpoints are the servers that have renewed their leases. */
function byLease(registry: RegistryContext, { ip, port }: Addressed): EndpointReconciler {
  const leases = masterLeases(registry);
  if (leases === undefined) return idle;
  const write = async (correctsPorts: boolean, isStopping: boolean): Promise<void> => {
    const ips = await leases.list();
    // This server has a lease, so an empty list is an error of the store.
    if (ips.length === 0 && !isStopping)
      throw new Error(
        "no API server IP addresses were listed in storage, refusing to erase all endpoints for the kubernetes Service",
      );
    await writeEndpoints(registry, !isStopping, (object) =>
      setAddresses(object, ips, { ports: portsOf(port), correctsPorts }),
    );
  };
  return {
    async reconcile() {
      await leases.renew(ip);
      await write(false, false);
    },
    async remove(isStopping) {
      if (!(await leases.remove(ip))) return false;
      await write(true, isStopping);
      return true;
    },
  };
}

/** The endpoints are as many as there are servers, which all write their own. */
function byCount(registry: RegistryContext, { ip, port, apiserverCount }: Addressed): EndpointReconciler {
  const desired = { ports: portsOf(port), correctsPorts: false };
  return {
    reconcile: () => writeEndpoints(registry, true, (object) => addAddress(object, ip, apiserverCount, desired)),
    remove: () => removeFrom(registry, ip),
  };
}

/** As by count, but the first write replaces what an earlier process left behind, in place of two writes. */
function alone(registry: RegistryContext, { ip, port }: Addressed): EndpointReconciler {
  const ports = portsOf(port);
  let hasWritten = false;
  return {
    async reconcile() {
      await writeEndpoints(registry, true, (object) =>
        addAddress(object, ip, 1, { ports, correctsPorts: !hasWritten }),
      );
      hasWritten = true;
    },
    remove: (isStopping) => (isStopping ? removeFrom(registry, ip) : Promise.resolve(false)),
  };
}

/** @returns whether the endpoints contained the address */
async function removeFrom(registry: RegistryContext, ip: string): Promise<boolean> {
  let wasPresent = false;
  await writeEndpoints(registry, false, (object) => {
    wasPresent = removeAddress(object, ip);
  });
  return wasPresent;
}

function portsOf(port: number): { name: string; port: number; protocol: string }[] {
  return [{ name: "https", port, protocol: "TCP" }];
}

/**
 * The addresses of running servers in a store, at kube-apiserver's keys. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/reconcilers/lease.go`.
 */
interface MasterLeases {
  /** Returns the addresses of running servers. @throws errors of the store, and of leases that cannot be decoded */
  list(): Promise<readonly string[]>;
  /** Creates or renews the lease of an address. @throws ApiError */
  renew(ip: string): Promise<void>;
  /** @returns whether there was a lease @throws ApiError */
  remove(ip: string): Promise<boolean>;
}

/** @returns undefined when Endpoints, which are the values of the leases, are not in the catalog */
function masterLeases(registry: RegistryContext): MasterLeases | undefined {
  const records = serverRecords(registry, "/registry/masterleases/");
  return (
    records && {
      list: async () => (await records.list()).flatMap(addressOf),
      renew: (ip) => records.renew(ip, { metadata: {}, subsets: [{ addresses: [{ ip }] }] }),
      remove: records.remove,
    }
  );
}

function addressOf({ subsets }: KubeObject): string[] {
  const ip: string = subsets?.[0]?.addresses?.[0]?.ip ?? "";
  return ip === "" ? [] : [ip];
}
