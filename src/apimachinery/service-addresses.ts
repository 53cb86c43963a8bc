/**
 * The IPAddress objects of cluster IPs: their existence is what allocates an address.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/ipallocator/ipallocator.go.
 */
import type { KubeObject } from "./object.ts";

/** The label of the family of an address: IPv4 or IPv6. */
export const familyLabel = "ipaddress.kubernetes.io/ip-family";
/** The label of the component that created the object. */
export const managedByLabel = "ipaddress.kubernetes.io/managed-by";
/** The value of {@link managedByLabel} for addresses of Services. */
export const addressManager = "ipallocator.k8s.io";
/** Keeps a ServiceCIDR as long as addresses need it. Source: pkg/controller/servicecidrs. */
export const serviceCidrFinalizer = "networking.k8s.io/service-cidr-finalizer";

/** A Service that has an address. */
export interface AddressOwner {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Creates the IPAddress of a Service.
 * @param address its canonical text
 */
export function ipAddressOf(address: string, { namespace, name }: AddressOwner): KubeObject {
  return {
    kind: "IPAddress",
    apiVersion: "networking.k8s.io/v1",
    metadata: { name: address, labels: { [familyLabel]: familyOf(address), [managedByLabel]: addressManager } },
    spec: { parentRef: { resource: "services", namespace, name } },
  };
}

/** Whether an IPAddress refers to the Service. */
export function refersTo({ spec }: KubeObject, owner: AddressOwner): boolean {
  const { group = "", resource = "", namespace = "", name = "" } = spec?.parentRef ?? {};
  return group === "" && resource === "services" && namespace === owner.namespace && name === owner.name;
}

/** The family of an address in canonical form. */
export const familyOf = (address: string): "IPv4" | "IPv6" => (address.includes(":") ? "IPv6" : "IPv4");
