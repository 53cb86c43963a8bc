/**
 * Repairs the relation between Services and their IPAddresses, for one object at a time.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/ipallocator/controller/repairip.go.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import {
  addressManager,
  familyLabel,
  familyOf,
  managedByLabel,
  refersTo,
} from "../../apimachinery/service-addresses.ts";
import { storeOf } from "../../catalog/catalog.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import { canonicalIp, parseIp } from "../../lib/ip-range/ip-address.ts";
import type { IpRange } from "../../lib/ip-range/ip-range.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import { createIpAddress, deleteIpAddress } from "../../registry/ip-addresses.ts";
import type { Warning } from "../event-recorder.ts";
import { hasAddress, rangesIn } from "./cidr-ranges.ts";

/** What a repair needs. */
export interface AddressRepair {
  readonly registry: RegistryContext;
  readonly services: ResourceStore;
  readonly addresses: ResourceStore;
  readonly cidrs: ResourceStore;
  /** The ranges in the watch cache of ServiceCIDRs. */
  ranges(): readonly IpRange[];
  /** Reports a problem of a Service or an IPAddress, which was found with this registry. */
  report(object: KubeObject, warning: Warning, registry: RegistryContext): void;
}

/** @param report receives the problems that are found */
export function addressRepair(registry: RegistryContext, report: AddressRepair["report"]): AddressRepair {
  const cidrs = storeOf(targetOf(registry, "networking.k8s.io", "servicecidrs").resource);
  return {
    registry,
    services: storeOf(targetOf(registry, "", "services").resource),
    addresses: storeOf(targetOf(registry, "networking.k8s.io", "ipaddresses").resource),
    cidrs,
    ranges: rangesIn(cidrs),
    report,
  };
}

function targetOf({ catalog }: RegistryContext, group: string, resource: string): Resolved {
  const target = catalog.find(group, "v1", resource);
  if (target === undefined) throw new Error(`the catalog has no ${resource}`);
  return target;
}

/** How long an IPAddress may exist before its Service: the longest time of a request. */
const graceMs = 60_000;
/** How long a new IPAddress may refer to a Service that does not have it, because a failed write is undone. */
const undoMs = 5_000;

/** The canonical addresses of a Service, and texts that are none. */
function clusterIpsOf({ spec }: KubeObject): {
  readonly valid: readonly string[];
  readonly invalid: readonly string[];
} {
  const isSet = spec?.type !== "ExternalName" && (spec?.clusterIP ?? "") !== "" && spec?.clusterIP !== "None";
  const texts: readonly string[] = isSet ? (spec?.clusterIPs ?? []) : [];
  const parsed = texts.map((text) => [text, parseIp(text)] as const);
  return {
    valid: parsed.flatMap(([, address]) => (address === undefined ? [] : canonicalIp(address))),
    invalid: parsed.flatMap(([text, address]) => (address === undefined ? text : [])),
  };
}

/**
 * Creates the missing IPAddresses of a Service, and replaces those that do not refer to it.
 * @throws ApiError when a write fails, which may be repeated
 */
export async function repairService(repair: AddressRepair, key: string): Promise<void> {
  const entry = await currentEntry(repair.services, key);
  if (entry === undefined) return;
  const service = repair.services.decode(entry);
  const { valid, invalid } = clusterIpsOf(service);
  for (const text of invalid) {
    const note = `Cluster IP ${text} is not a valid IP; please recreate Service`;
    repair.report(service, { reason: "ClusterIPNotValid", action: "ClusterIPValidation", note }, repair.registry);
  }
  for (const address of valid) await repairServiceAddress(repair, service, address);
}

async function repairServiceAddress(repair: AddressRepair, service: KubeObject, address: string): Promise<void> {
  const { registry, addresses } = repair;
  const shown = `[${familyOf(address)}]: ${address}`;
  const warn = (reason: string, note: string): void =>
    repair.report(service, { reason, action: "ClusterIPAllocation", note }, registry);
  if (!(await isInAnyCidr(repair, address))) {
    const note = `Cluster IP ${shown} is not within any configured Service CIDR; please recreate service`;
    return warn("ClusterIPOutOfRange", note);
  }
  const { namespace = "", name = "" } = service.metadata;
  const entry = await currentEntry(addresses, addresses.keyOf("", address));
  if (entry === undefined) {
    warn("ClusterIPNotAllocated", `Cluster IP ${shown} is not allocated; repairing`);
    return createAddress(registry, service, address);
  }
  const ipAddress = addresses.decode(entry);
  const isOurs = refersTo(ipAddress, { namespace, name });
  const holder = isOurs ? service : await parentOf(repair, ipAddress);
  if (holder === undefined) {
    const note = `the ClusterIP ${shown} for Service ${namespace}/${name} has a wrong reference; repairing`;
    warn("ClusterIPNotAllocated", note);
    return recreateAddress(registry, service, ipAddress);
  }
  if (!isOurs && clusterIpsOf(holder).valid.includes(address)) {
    const note = `Cluster IP [${familyOf(address)}]:${address} was assigned to multiple services; please recreate service`;
    warn("ClusterIPAlreadyAllocated", note);
  }
  if (!hasLabels(ipAddress, address)) await recreateAddress(registry, service, ipAddress);
}

/**
 * Deletes an IPAddress that the server created for a Service that does not have it.
 * @returns milliseconds after which it must be checked again; undefined when it need not
 * @throws ApiError when a write fails, which may be repeated
 */
export async function repairAddress(repair: AddressRepair, key: string): Promise<number | undefined> {
  const { registry, addresses } = repair;
  const entry = await currentEntry(addresses, key);
  if (entry === undefined) return undefined;
  const ipAddress = addresses.decode(entry);
  if (ipAddress.metadata.labels?.[managedByLabel] !== addressManager) return undefined;
  const { group = "", resource = "", namespace = "", name: parent = "" } = ipAddress.spec?.parentRef ?? {};
  const { name = "", creationTimestamp = "" } = ipAddress.metadata;
  const remove = (reason: string, note: string): Promise<undefined> => {
    repair.report(ipAddress, { reason, action: "IPAddressAllocation", note }, registry);
    return deleteAddress(registry, ipAddress);
  };
  if (group !== "" || resource !== "services") {
    const note = `IPAddress ${name} appears to have been modified, not referencing a Service ${formatParent(ipAddress)}: cleaning up`;
    return remove("IPAddressNotAllocated", note);
  }
  const service = await parentOf(repair, ipAddress);
  const age = registry.clock.now() - Date.parse(creationTimestamp);
  if (service === undefined) {
    if (age <= graceMs) return graceMs - age + 1;
    return remove(
      "IPAddressNotAllocated",
      `IPAddress: ${name} for Service ${namespace}/${parent} appears to have leaked: cleaning up`,
    );
  }
  if ((service.spec?.clusterIPs ?? []).includes(name)) return undefined;
  if (service.spec?.type === "ExternalName" && age < graceMs) return graceMs - age;
  if (creationTimestamp > (service.metadata.creationTimestamp ?? "") && age < undoMs) return undoMs;
  return remove(
    "IPAddressWrongReference",
    `IPAddress: ${name} for Service ${namespace}/${parent} has a wrong reference; cleaning up`,
  );
}

/** As Go prints a pointer to the reference. */
function formatParent({ spec }: KubeObject): string {
  const { group = "", resource = "", namespace = "", name = "" } = spec?.parentRef ?? {};
  return `&ParentReference{Group:${group},Resource:${resource},Namespace:${namespace},Name:${name},}`;
}

async function isInAnyCidr({ cidrs, ranges }: AddressRepair, address: string): Promise<boolean> {
  await cidrs.cache.current();
  return ranges().some((range) => hasAddress(range, address));
}

/** The Service to which an IPAddress refers. */
async function parentOf({ services }: AddressRepair, { spec }: KubeObject): Promise<KubeObject | undefined> {
  const { group = "", resource = "", namespace = "", name = "" } = spec?.parentRef ?? {};
  if (group !== "" || resource !== "services") return undefined;
  const entry = await currentEntry(services, services.keyOf(namespace, name));
  return entry && services.decode(entry);
}

function hasLabels({ metadata: { labels } }: KubeObject, address: string): boolean {
  return labels?.[familyLabel] === familyOf(address) && labels?.[managedByLabel] === addressManager;
}

/** Does nothing when another Service or server was first, which the next repair reports. */
async function createAddress(registry: RegistryContext, { metadata }: KubeObject, address: string): Promise<void> {
  const { namespace = "", name = "" } = metadata;
  try {
    await createIpAddress(registry, address, { namespace, name });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status.reason !== "AlreadyExists") throw error;
  }
}

async function recreateAddress(registry: RegistryContext, service: KubeObject, existing: KubeObject): Promise<void> {
  await deleteAddress(registry, existing);
  await createAddress(registry, service, existing.metadata.name as string);
}

/** Another server may have deleted it, and a Service may have the address again. */
async function deleteAddress(registry: RegistryContext, ipAddress: KubeObject): Promise<undefined> {
  try {
    await deleteIpAddress(registry, ipAddress);
  } catch (error) {
    if (!(error instanceof ApiError) || !["NotFound", "Conflict"].includes(error.status.reason ?? "")) throw error;
  }
}
