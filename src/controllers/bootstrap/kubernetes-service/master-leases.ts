/**
 * The addresses of running servers. kube-apiserver has the same keys and values. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/reconcilers/lease.go`.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { RegistryContext } from "../../../registry/contract.ts";
import { serverRecords } from "../../../registry/server-records.ts";

/** The leases of a store. */
export interface MasterLeases {
  /** Returns the addresses of running servers. @throws errors of the store, and of leases that cannot be decoded */
  list(): Promise<readonly string[]>;
  /** Creates or renews the lease of an address. @throws ApiError */
  renew(ip: string): Promise<void>;
  /** @returns whether there was a lease @throws ApiError */
  remove(ip: string): Promise<boolean>;
}

/** @returns undefined when Endpoints, which are the values of the leases, are not in the catalog */
export function masterLeases(registry: RegistryContext): MasterLeases | undefined {
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
