/**
 * Allocates the cluster addresses and node ports of one service. Source:
 * k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/storage/alloc.go.
 */
import { internalError, invalid } from "../../../apimachinery/errors.ts";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { type FamilyRules, keepsDualStackPreference, setIpFamilies } from "../../../apis/core/service/families.ts";
import { allocateNodePorts, type PortPool } from "../../../apis/core/service/node-ports.ts";
import { keepAllocated, normalizeClusterIps } from "../../../apis/core/service/service.ts";
import { clusterIps, ipFamilies, needsAddress, noAddress } from "../../../apis/core/service/service-fields.ts";
import type { Part } from "../../../apis/fields.ts";
import { addressAt, formatRange, type IpRange, indexOf } from "../../../lib/ip-range/ip-range.ts";
import { formatPortRange, type PortRange } from "../../../lib/ip-range/port-range.ts";
import type { AdmissionAttributes } from "../../contract.ts";
import type { Allocator } from "./allocator.ts";
import { type AddressPool, canonicalOf } from "./service-allocations.ts";

/** The free values and the rules at the time of one write. */
export interface Source {
  readonly pools: readonly AddressPool[];
  readonly rules: FamilyRules;
  readonly nodePorts: Allocator;
  readonly portRange: PortRange;
  readonly now: number;
  /** Updates the allocators from the watch cache; called before a write is rejected. */
  refresh(): void;
}

function isTaken(pool: Allocator, value: number, { now, refresh }: Source): boolean {
  if (!pool.has(value, now)) return false;
  refresh();
  return pool.has(value, now);
}

function nextOf(pool: Allocator, { now, refresh }: Source): number | undefined {
  const free = pool.next(now);
  if (free !== undefined) return free;
  refresh();
  return pool.next(now);
}

/**
 * Sets the addresses and node ports of the service. Reserves them only if all could be allocated,
 * and never for a dry run.
 *
 * @throws ApiError 422 if a requested value is not available, 500 if a range is full
 */
export function allocate({ object, oldObject, dryRun, name, undo }: AdmissionAttributes, source: Source): void {
  const { spec, metadata } = object as KubeObject;
  const errors = new FieldErrors();
  const throwErrors = (): void => {
    if (!errors.empty) throw invalid("", "Service", metadata.name ?? name, errors.causes);
  };
  const reservations: Reservation[] = [];
  if (oldObject === undefined) normalizeClusterIps(spec);
  else keepAllocated(spec, oldObject.spec);
  setIpFamilies(spec, oldObject?.spec, source.rules, errors);
  throwErrors();
  assignAddresses({ spec, old: oldObject?.spec, name: metadata.name ?? name, dryRun }, source, reservations, errors);
  throwErrors();
  allocateNodePorts(spec, oldObject?.spec, portPool(source, reservations), errors);
  throwErrors();
  if (dryRun) return;
  for (const { pool, value } of reservations) {
    pool.reserve(value, source.now);
    undo.push(() => pool.release(value));
  }
}

interface Reservation {
  readonly pool: Allocator;
  readonly value: number;
}

interface ServiceWrite {
  readonly spec: Part;
  readonly old: Part | undefined;
  readonly name: string;
  readonly dryRun: boolean;
}

/** Assigns an address of each family that the service has no address of. */
function assignAddresses(write: ServiceWrite, source: Source, reservations: Reservation[], errors: FieldErrors): void {
  const { spec, old } = write;
  if (!needsAddress(spec)) return;
  let from = 0;
  if (old === undefined || !needsAddress(old)) {
    if (clusterIps(spec)[0] === noAddress) return;
  } else {
    const isSecond =
      ipFamilies(old).length === 1 && ipFamilies(spec).length === 2 && !keepsDualStackPreference(spec, old);
    if (clusterIps(old)[0] === noAddress || !isSecond) return;
    from = 1;
  }
  const addresses = [...clusterIps(spec)];
  for (const [index, family] of ipFamilies(spec).entries()) {
    if (index < from) continue;
    spec.clusterIPs = [
      ...addresses,
      ...ipFamilies(spec)
        .slice(addresses.length)
        .map(() => ""),
    ]; // The value that errors show.
    const pools = source.pools.filter(({ range }) => range.family === family);
    const assigned = assignAddress(pools, addresses[index], { ...write, source }, reservations, errors);
    if (assigned === undefined) return;
    addresses[index] = assigned;
  }
  spec.clusterIPs = addresses;
  spec.clusterIP = addresses[0];
}

/** @param pools of one family; overlapping pools all reserve the address */
function assignAddress(
  pools: readonly AddressPool[],
  requested: string | undefined,
  { spec, name, dryRun, source }: ServiceWrite & { readonly source: Source },
  reservations: Reservation[],
  errors: FieldErrors,
): string | undefined {
  const reserve = (address: string): string => {
    for (const { addresses, range } of pools) {
      const index = indexOf(range, canonicalOf(address));
      if (index !== undefined) reservations.push({ pool: addresses, value: index });
    }
    return address;
  };
  if (requested === undefined) {
    const free = nextAddress(pools, source);
    if (free === undefined)
      throw internalError(`failed to allocate a serviceIP for Service ${JSON.stringify(name)}: range is full`);
    return reserve(free);
  }
  const reject = (why: string): undefined =>
    errors.invalid("spec.clusterIPs", spec.clusterIPs, `failed to allocate IP ${requested}: ${why}`) as undefined;
  const [first] = pools;
  const pool = pools.find(({ range }) => indexOf(range, canonicalOf(requested)) !== undefined);
  if (pool === undefined || first === undefined) {
    return reject(
      dryRun && first !== undefined
        ? notInRange(requested, first.range)
        : "the provided network does not match the current range",
    );
  }
  if (isTaken(pool.addresses, indexOf(pool.range, canonicalOf(requested)) as number, source))
    return reject("provided IP is already allocated");
  return reserve(requested);
}

function nextAddress(pools: readonly AddressPool[], source: Source): string | undefined {
  for (const { addresses, range } of pools) {
    const free = nextOf(addresses, source);
    if (free !== undefined) return addressAt(range, free);
  }
  return undefined;
}

/** The error of a dry run, for which upstream checks only one range. */
const notInRange = (address: string, range: IpRange): string =>
  `the provided IP (${canonicalOf(address)}) is not in the valid range. The range of valid IPs is ${formatRange(range)}`;

/** The node ports of one write: a port that it allocates stays in use for the rest of the write. */
function portPool(source: Source, reservations: Reservation[]): PortPool {
  const { nodePorts, portRange } = source;
  const taken = new Set<number>();
  const keep = (value: number): void => {
    taken.add(value);
    reservations.push({ pool: nodePorts, value });
  };
  return {
    take(port) {
      if (port < portRange.first || port > portRange.last) {
        return `provided port is not in the valid range. The range of valid ports is ${formatPortRange(portRange)}`;
      }
      if (taken.has(port) || isTaken(nodePorts, port, source)) return "provided port is already allocated";
      keep(port);
      return undefined;
    },
    takeNext() {
      for (let tries = 0; tries <= taken.size; tries++) {
        const port = nextOf(nodePorts, source);
        if (port === undefined) return undefined;
        if (taken.has(port)) continue;
        keep(port);
        return port;
      }
      return undefined;
    },
  };
}
