/**
 * Chooses the cluster addresses and node ports of one service. Source:
 * k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/storage/alloc.go.
 */

import { ApiError, internalError, invalid } from "../../../apimachinery/errors.ts";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { type FamilyRules, keepsDualStackPreference, setIpFamilies } from "../../../apis/core/service/families.ts";
import { allocateNodePorts, type PortPool } from "../../../apis/core/service/node-ports.ts";
import { keepAllocated, normalizeClusterIps } from "../../../apis/core/service/service.ts";
import { clusterIps, ipFamilies, needsAddress, noAddress } from "../../../apis/core/service/service-fields.ts";
import type { Part } from "../../../apis/fields.ts";
import { formatRange, type IpRange } from "../../../lib/ip-range/ip-range.ts";
import { formatPortRange } from "../../../lib/ip-range/port-range.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { cloneJson } from "../../../lib/json/values.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AllocationObserver, AllocationScope } from "../../contract.ts";
import { type ClusterIps, canonicalOf } from "./cluster-ips.ts";
import type { NodePorts } from "./node-ports.ts";

/** The free values, and the rules of families. */
export interface Source {
  readonly addresses: ClusterIps;
  readonly ports: NodePorts;
  readonly rules: FamilyRules;
}

/** What one write takes. No other request of this server takes it until it is released. */
export interface Allocation {
  readonly addresses: readonly AllocatedAddress[];
  readonly ports: readonly number[];
  /** The ports that the client requested. */
  readonly requestedPorts: ReadonlySet<number>;
}

/** A value that was not available. */
interface Failure {
  /** Undefined for a node port. */
  readonly range?: IpRange;
  readonly scope: AllocationScope;
}

interface AllocatedAddress {
  readonly range: IpRange | undefined;
  /** In canonical form. */
  readonly address: string;
  /** As the client requested it; undefined when the server chose it. */
  readonly requested: string | undefined;
}

/**
 * Sets the addresses and node ports of the service, and reserves them. A dry run reserves nothing.
 * Before a write is rejected, it is checked against the current state of the store.
 *
 * @throws ApiError 422 if a requested value is not available, 500 if a range is full
 */
export async function allocate(
  attributes: AdmissionAttributes,
  source: Source,
  observer: AllocationObserver | undefined,
): Promise<Allocation> {
  const object = attributes.object as KubeObject;
  const sent = cloneJson(object.spec);
  await Promise.all([source.addresses.ready(), source.ports.ready()]);
  try {
    return allocateOnce(attributes, source, []);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await Promise.all([source.addresses.refresh(), source.ports.refresh()]);
    object.spec = sent;
    const failures: Failure[] = [];
    try {
      return allocateOnce(attributes, source, failures);
    } finally {
      if (!attributes.dryRun) for (const failure of failures) reportFailure(failure, observer);
    }
  }
}

function reportFailure({ range, scope }: Failure, observer: AllocationObserver | undefined): void {
  if (range === undefined) observer?.portFailed(scope);
  else observer?.addressFailed(formatRange(range), scope);
}

/** @param failures receives the values that are not available */
function allocateOnce(
  { object, oldObject, dryRun, name }: AdmissionAttributes,
  source: Source,
  failures: Failure[],
): Allocation {
  const { spec, metadata } = object as KubeObject;
  const errors = new FieldErrors();
  const throwErrors = (): void => {
    if (!errors.empty) throw invalid("", "Service", metadata.name ?? name, errors.causes);
  };
  const taken: Taken = { addresses: [], ports: [], requestedPorts: new Set(), failures };
  if (oldObject === undefined) normalizeClusterIps(spec);
  else keepAllocated(spec, oldObject.spec);
  setIpFamilies(spec, oldObject?.spec, source.rules, errors);
  throwErrors();
  assignAddresses({ spec, old: oldObject?.spec, name: metadata.name ?? name, dryRun }, source, taken, errors);
  throwErrors();
  allocateNodePorts(spec, oldObject?.spec, portPool(source, taken), errors);
  throwErrors();
  if (!dryRun) reserve(taken, source);
  return taken;
}

function reserve({ addresses, ports }: Allocation, source: Source): void {
  for (const { address } of addresses) source.addresses.reserve(address);
  for (const port of ports) source.ports.reserve(port);
}

/** Ends the reservation, when the write was stored and when it was not. */
export function release({ addresses, ports }: Allocation, source: Source): void {
  for (const { address } of addresses) source.addresses.release(address);
  for (const port of ports) source.ports.release(port);
}

interface ServiceWrite {
  readonly spec: Part;
  readonly old: Part | undefined;
  readonly name: string;
  readonly dryRun: boolean;
}

interface Taken {
  readonly addresses: AllocatedAddress[];
  readonly ports: number[];
  readonly requestedPorts: Set<number>;
  readonly failures: Failure[];
}

/** Assigns an address of each family that the service has no address of. */
function assignAddresses(write: ServiceWrite, source: Source, taken: Taken, errors: FieldErrors): void {
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
    const requested = addresses[index];
    const assigned = assignAddress(requested, family, { ...write, source, failures: taken.failures }, errors);
    if (assigned === undefined) return;
    addresses[index] = assigned;
    const address = canonicalOf(assigned);
    taken.addresses.push({ address, requested, range: source.addresses.findRange(family, address) });
  }
  spec.clusterIPs = addresses;
  spec.clusterIP = addresses[0];
}

function assignAddress(
  requested: string | undefined,
  family: string,
  { spec, name, dryRun, failures, source: { addresses } }: ServiceWrite & Pick<Taken, "failures"> & { source: Source },
  errors: FieldErrors,
): string | undefined {
  if (requested === undefined) {
    const free = addresses.findFree(family);
    if (free !== undefined) return free;
    for (const range of addresses.ranges(family)) failures.push({ range, scope: "dynamic" });
    throw internalError(`failed to allocate a serviceIP for Service ${quoteGo(name)}: range is full`);
  }
  const address = canonicalOf(requested);
  const anyRange = addresses.anyRange(family);
  const range = addresses.findRange(family, address);
  if (range !== undefined && !addresses.isTaken(address)) return requested;
  if (range !== undefined) failures.push({ range, scope: "static" });
  const why =
    range !== undefined
      ? "provided IP is already allocated"
      : dryRun && anyRange !== undefined
        ? notInRange(address, anyRange)
        : "the provided network does not match the current range";
  errors.invalid("spec.clusterIPs", spec.clusterIPs, `failed to allocate IP ${requested}: ${why}`);
  return undefined;
}

/** The error of a dry run, for which upstream checks only one range. */
const notInRange = (address: string, range: IpRange): string =>
  `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${formatRange(range)}`;

/** The node ports of one write: a port that it allocates stays in use for the rest of the write. */
function portPool({ ports }: Source, { ports: taken, requestedPorts, failures }: Taken): PortPool {
  const { range } = ports;
  const own = new Set(taken);
  const isTaken = (port: number): boolean => own.has(port) || ports.isTaken(port);
  const add = (port: number): void => {
    own.add(port);
    taken.push(port);
  };
  const failed = (scope: AllocationScope, why: string): string => {
    failures.push({ scope });
    return why;
  };
  return {
    take(port) {
      if (port < range.first || port > range.last)
        return failed(
          "static",
          `provided port is not in the valid range. The range of valid ports is ${formatPortRange(range)}`,
        );
      const problem = ports.problem() ?? (isTaken(port) ? "provided port is already allocated" : undefined);
      if (problem !== undefined) return failed("static", problem);
      add(port);
      requestedPorts.add(port);
      return undefined;
    },
    takeNext() {
      const problem = ports.problem();
      if (problem !== undefined) return failed("dynamic", problem);
      const port = ports.findFree(isTaken);
      if (port === undefined) return failed("dynamic", "range is full");
      add(port);
      return port;
    },
  };
}
