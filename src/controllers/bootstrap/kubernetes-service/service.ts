/** The Service `kubernetes`, by which clients in the cluster reach the servers. */
import assert from "node:assert/strict";
import { addressAt, parseIpRanges } from "../../../lib/ip-range/ip-range.ts";
import type { BootObject } from "../ensure-object.ts";

/** The properties of the Service that options determine. */
export interface ServiceOptions {
  /** The port on which the server listens. */
  readonly port: number;
  /** One CIDR, or one of each family separated by a comma. The Service has the first address. */
  readonly serviceClusterIpRange: string;
  /** If not 0, the Service has the type NodePort and this port. */
  readonly kubernetesServiceNodePort?: number;
}

/** @returns the Service, which is not changed where it exists */
export function kubernetesService({
  port,
  serviceClusterIpRange,
  kubernetesServiceNodePort: nodePort = 0,
}: ServiceOptions): BootObject {
  const [addresses] = parseIpRanges(serviceClusterIpRange) ?? [];
  assert.ok(addresses !== undefined, `${serviceClusterIpRange} is not a CIDR`);
  const object = {
    kind: "Service",
    metadata: { name: "kubernetes", labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      type: nodePort === 0 ? "ClusterIP" : "NodePort",
      clusterIP: addressAt(addresses, 1),
      ipFamilyPolicy: "SingleStack",
      sessionAffinity: "None",
      ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: port, ...(nodePort !== 0 && { nodePort }) }],
    },
  };
  return { group: "", version: "v1", resource: "services", namespace: "default", object };
}
