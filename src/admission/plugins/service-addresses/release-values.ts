/** The addresses and node ports that a service has, and their release. */
import { ApiError } from "../../../apimachinery/errors.ts";
import { type AddressOwner, refersTo } from "../../../apimachinery/service-addresses.ts";
import { clusterIps, needsAddress, noAddress } from "../../../apis/core/service/service-fields.ts";
import { items, type Part } from "../../../apis/fields.ts";
import { putValue } from "../../../registry/commit.ts";
import type { RegistryContext } from "../../../registry/contract.ts";
import { currentEntry } from "../../../registry/current-entry.ts";
import { deleteIpAddress } from "../../../registry/ip-addresses.ts";
import { canonicalOf } from "./cluster-ips.ts";
import type { NodePorts } from "./node-ports.ts";

/** The values that a service has. */
export interface ServiceValues {
  /** In canonical form. */
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
}

/** @param spec undefined for a service that does not exist */
export function valuesOf(spec: Part | undefined): ServiceValues {
  if (spec === undefined) return { addresses: [], ports: [] };
  const addresses = needsAddress(spec) ? clusterIps(spec).filter((address) => address !== noAddress) : [];
  const ports = [...items(spec.ports).map(({ nodePort }) => nodePort), spec.healthCheckNodePort];
  return {
    addresses: addresses.map(canonicalOf),
    ports: ports.filter((port) => typeof port === "number" && port !== 0),
  };
}

/** The values that the first service has and the second has not. */
export function without(before: ServiceValues, after: ServiceValues): ServiceValues {
  return {
    addresses: before.addresses.filter((address) => !after.addresses.includes(address)),
    ports: before.ports.filter((port) => !after.ports.includes(port)),
  };
}

/** The service that gives values back, and the newest revision at which it had them. */
export interface Releasing extends AddressOwner {
  readonly revision: number;
}

/**
 * Releases the values of a service that was stored without them, or removed.
 * @throws ApiError 503 when the store cannot commit
 */
export async function releaseValues(
  registry: RegistryContext,
  { addresses, ports }: ServiceValues,
  service: Releasing,
  nodePorts: NodePorts,
): Promise<void> {
  const deletions = addresses.map((address) => releaseAddress(registry, address, service));
  if (ports.length > 0) deletions.push(putValue(registry, nodePorts.change({ taken: [], released: ports })));
  await Promise.all(deletions);
}

/**
 * Deletes the IPAddress of the service. Unlike upstream, leaves one alone that refers to another
 * object, or is newer: the address may have been allocated again. The repair deletes what remains.
 */
async function releaseAddress(registry: RegistryContext, address: string, service: Releasing): Promise<void> {
  const store = registry.catalog.find("networking.k8s.io", "v1", "ipaddresses")?.resource.store;
  try {
    const entry = store && (await currentEntry(store, store.keyOf("", address)));
    if (store === undefined || entry === undefined || entry.revision > service.revision) return;
    const ipAddress = store.decode(entry);
    if (refersTo(ipAddress, service)) await deleteIpAddress(registry, ipAddress);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error; // It may be deleted concurrently, or a webhook rejects the deletion.
  }
}
