/**
 * Allocates cluster addresses and node ports to services. A subscription to the watch cache reports which are in use. Allocation is part of
 * admission because admission can wait and can reject a write. Each process allocates independently: two servers that share one storage can
 * allocate the same address.
 */
import assert from "node:assert/strict";
import type { Clock } from "../../../apimachinery/clock.ts";
import { internalError, invalid } from "../../../apimachinery/errors.ts";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { type FamilyRules, keepsDualStackPreference, setIpFamilies } from "../../../apis/core/service/families.ts";
import { allocateNodePorts, type PortPool } from "../../../apis/core/service/node-ports.ts";
import { keepAllocated, normalizeClusterIps } from "../../../apis/core/service/service.ts";
import { clusterIps, ipFamilies, needsAddress, noAddress } from "../../../apis/core/service/service-fields.ts";
import { items, type Part } from "../../../apis/fields.ts";
import type { Catalog, ResourceStore } from "../../../catalog/contract.ts";
import { canonicalIp, parseIp } from "../../../lib/ip-range/ip-address.ts";
import { addressAt, formatRange, type IpRange, indexOf, lastIndex } from "../../../lib/ip-range/ip-range.ts";
import { formatPortRange, type PortRange } from "../../../lib/ip-range/port-range.ts";
import type { CacheEvent, CacheSubscription, Entry } from "../../../watch-cache/contract.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../contract.ts";
import { type Allocator, type AllocatorRange, createAllocator } from "./allocator.ts";
import { serviceCidrs } from "./service-cidrs.ts";

interface ServiceAddressesOptions {
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** `--service-cluster-ip-range`: one range, or one of each family. */
  readonly ranges: readonly IpRange[];
  /** The feature gate `StrictIPCIDRValidation`. */
  readonly strict: boolean;
  /** `--service-node-port-range`; 30000 to 32767 by default. */
  readonly portRange?: PortRange;
}

const defaultPorts: PortRange = { first: 30000, last: 32767 };

/**
 * Low ports are reserved for services that request a port: 1/32 of the range, at least 16 and at most 128; none of a range of 16 or fewer.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/portallocator/allocator.go.
 */
function allocatorRange({ first, last }: PortRange): AllocatorRange {
  const size = last - first + 1;
  const kept = size <= 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128);
  return { first, from: first + kept, to: last };
}

/**
 * Low addresses are reserved for services that request an address: 1/16 of the range, at least 16 and at most 256; none of a small range.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/ipallocator/ipallocator.go.
 */
function firstDynamicIndex(range: IpRange): number {
  const kept = Math.min(Math.max(16, Math.floor(range.size / 16)), 256);
  return range.size <= 16 + 2 ? 1 : kept + 1;
}

/** The addresses of one family. */
interface AddressPool {
  readonly range: IpRange;
  readonly addresses: Allocator;
}

function openPool(range: IpRange): AddressPool {
  const to = lastIndex(range);
  return { range, addresses: createAllocator({ first: 1, from: Math.min(firstDynamicIndex(range), to), to }) };
}

interface ServiceAddresses extends AdmissionPlugin {
  close(): void;
}

/** @returns a plugin that always runs; `close` ends its subscription */
export function openServiceAddresses({
  catalog,
  clock,
  ranges,
  strict,
  portRange = defaultPorts,
}: ServiceAddressesOptions): ServiceAddresses {
  const own = ranges.map(openPool);
  const cidrs = serviceCidrs(catalog);
  /** The pools of ServiceCIDRs by the text of their range, so that reservations survive changes of other ServiceCIDRs. */
  let added = new Map<string, AddressPool>();
  const rules = { families: ranges.map(({ family }) => family), strict };
  const nodePorts = createAllocator(allocatorRange(portRange));
  let subscription: CacheSubscription | undefined;
  let starting: Promise<void> | undefined;
  /** The last `refresh` included the events up to this revision. */
  let seen = 0;

  const hold = (store: ResourceStore, entry: Entry, isDeleted: boolean): void => {
    const { spec } = isDeleted ? { spec: {} } : store.decode(entry);
    for (const { range, addresses } of [...own, ...added.values()]) {
      const indexes = clusterIps(spec).map((address) => indexOf(range, canonicalOf(address)));
      addresses.hold(
        entry.key,
        indexes.filter((index) => index !== undefined),
      );
    }
    nodePorts.hold(entry.key, portsOf(spec));
  };
  /** Reads the current state from the watch cache, which may be ahead of the events received so far. */
  const refresh = (store: ResourceStore): void => {
    const snapshot = store.cache.latest();
    for (const { addresses } of [...own, ...added.values()]) addresses.clear();
    nodePorts.clear();
    for (const entry of snapshot.range(store.form.prefix)) hold(store, entry, false);
    seen = snapshot.revision;
  };
  /** The pools of the command line, then those of ServiceCIDRs. */
  const pools = (): readonly AddressPool[] => {
    const extra = cidrs.ranges().filter((range) => !ranges.some((one) => formatRange(one) === formatRange(range)));
    const isUnchanged = extra.length === added.size && extra.every((range) => added.has(formatRange(range)));
    if (!isUnchanged) {
      added = new Map(
        extra.map((range): [string, AddressPool] => [
          formatRange(range),
          added.get(formatRange(range)) ?? openPool(range),
        ]),
      );
      refresh(storeOf(catalog));
    }
    return [...own, ...added.values()];
  };
  const follow = async (): Promise<void> => {
    const store = storeOf(catalog);
    await Promise.all([store.cache.ready(), cidrs.ready()]);
    refresh(store);
    subscription = store.cache.subscribe(seen, {
      events(batch: readonly CacheEvent[]) {
        for (const { type, entry, revision } of batch) if (revision > seen) hold(store, entry, type === "DELETED");
      },
      progress() {},
      end() {
        subscription = undefined; // The next write subscribes again.
      },
    });
  };
  const started = (): Promise<void> => {
    starting ??= follow().finally(() => {
      starting = undefined;
    });
    return starting;
  };

  return {
    name: "ServiceAddresses",
    mutate(attributes) {
      if (!writesService(attributes)) return;
      const source = (): Source => ({
        pools: pools(),
        rules,
        nodePorts,
        portRange,
        now: clock.now(),
        refresh: () => refresh(storeOf(catalog)),
      });
      if (subscription !== undefined) return allocate(attributes, source());
      return started().then(() => allocate(attributes, source()));
    },
    close() {
      subscription?.close();
    },
  };
}

function storeOf(catalog: Catalog): ResourceStore {
  const store = catalog.findResource("", "services")?.store;
  assert.ok(store !== undefined, "the catalog has no store for services");
  return store;
}

function writesService({ operation, target, subresource }: AdmissionAttributes): boolean {
  const { group, resource } = target.resource.definition;
  return (
    group === "" && resource === "services" && subresource === "" && (operation === "CREATE" || operation === "UPDATE")
  );
}

/** @returns the canonical form of an address; other text unchanged */
function canonicalOf(text: string): string {
  const address = parseIp(text);
  return address === undefined ? text : canonicalIp(address);
}

interface Source {
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
 * Sets the addresses and node ports of the service. Reserves them only if all could be allocated, and never for a dry run.
 *
 * @throws ApiError 422 if a requested value is not available, 500 if a range is full
 */
function allocate({ object, oldObject, dryRun, name, undo }: AdmissionAttributes, source: Source): void {
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

function portsOf(spec: Part): number[] {
  const ports = items(spec.ports).map(({ nodePort }) => nodePort);
  return [...ports, spec.healthCheckNodePort].filter((port) => typeof port === "number" && port !== 0);
}
