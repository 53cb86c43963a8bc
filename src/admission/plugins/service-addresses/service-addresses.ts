/**
 * Gives services their cluster addresses and node ports, and knows which are free by following the services that are stored. It stands in
 * admission because that is where a request may wait and may be refused. Each process gives out on its own: with several servers over one
 * store, two may give out the same.
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
import { type Allocated, allocated, type Range } from "./allocated.ts";
import { serviceCidrs } from "./service-cidrs.ts";

export interface ServiceAddressesOptions {
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** `--service-cluster-ip-range`: one, or one of each family. */
  readonly ranges: readonly IpRange[];
  /** Gate `StrictIPCIDRValidation` */
  readonly strict: boolean;
  /** `--service-node-port-range`; 30000 to 32767 unless told otherwise. */
  readonly portRange?: PortRange;
}

const usualPorts: PortRange = { first: 30000, last: 32767 };

/** The low ports are kept for those who ask for one: a thirty-second of the range, from 16 to 128 of them, and none of a small range. */
function portsOfRange({ first, last }: PortRange): Range {
  const size = last - first + 1;
  const kept = size <= 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128);
  return { first, from: first + kept, to: last };
}

/** The low addresses are kept for those who ask for one: a sixteenth of the range, from 16 to 256 of them, and none of a small range. */
function firstGivenOut(range: IpRange): number {
  const kept = Math.min(Math.max(16, Math.floor(range.size / 16)), 256);
  return range.size <= 16 + 2 ? 1 : kept + 1;
}

/** The addresses of one family. */
interface AddressPool {
  readonly range: IpRange;
  readonly addresses: Allocated;
}

function openPool(range: IpRange): AddressPool {
  const to = lastIndex(range);
  return { range, addresses: allocated({ first: 1, from: Math.min(firstGivenOut(range), to), to }) };
}

export interface ServiceAddresses extends AdmissionPlugin {
  close(): void;
}

export function openServiceAddresses({
  catalog,
  clock,
  ranges,
  strict,
  portRange = usualPorts,
}: ServiceAddressesOptions): ServiceAddresses {
  const own = ranges.map(openPool);
  const cidrs = serviceCidrs(catalog);
  /** By what the range is called, so that what is reserved stays so. */
  let added = new Map<string, AddressPool>();
  const rules = { families: ranges.map(({ family }) => family), strict };
  const nodePorts = allocated(portsOfRange(portRange));
  let subscription: CacheSubscription | undefined;
  let starting: Promise<void> | undefined;
  /** Events up to this revision are known from the cache already. */
  let seen = 0;

  const hold = (store: ResourceStore, entry: Entry, gone: boolean): void => {
    const { spec } = gone ? { spec: {} } : store.decode(entry);
    for (const { range, addresses } of [...own, ...added.values()]) {
      const given = clusterIps(spec).map((address) => indexOf(range, canonicalOf(address)));
      addresses.hold(
        entry.key,
        given.filter((index) => index !== undefined),
      );
    }
    nodePorts.hold(entry.key, portsOf(spec));
  };
  /** Reads what is held from the cache as it is now, whose events may still be on their way. */
  const refresh = (store: ResourceStore): void => {
    const snapshot = store.cache.latest();
    for (const { addresses } of [...own, ...added.values()]) addresses.clear();
    nodePorts.clear();
    for (const entry of snapshot.range(store.form.prefix)) hold(store, entry, false);
    seen = snapshot.revision;
  };
  /** Those of the command line, then what ServiceCIDRs add. */
  const pools = (): readonly AddressPool[] => {
    const wanted = cidrs.ranges().filter((range) => !ranges.some((one) => formatRange(one) === formatRange(range)));
    const isKnown = wanted.length === added.size && wanted.every((range) => added.has(formatRange(range)));
    if (!isKnown) {
      added = new Map(
        wanted.map((range): [string, AddressPool] => [
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
        subscription = undefined; // Starts afresh when next asked.
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
      if (!concerns(attributes)) return;
      const source = (): Source => ({
        pools: pools(),
        rules,
        nodePorts,
        portRange,
        now: clock.now(),
        refresh: () => refresh(storeOf(catalog)),
      });
      if (subscription !== undefined) return give(attributes, source());
      return started().then(() => give(attributes, source()));
    },
    close() {
      subscription?.close();
    },
  };
}

function storeOf(catalog: Catalog): ResourceStore {
  const store = catalog.findResource("", "services")?.store;
  assert.ok(store !== undefined, "a service is written and there is no store for services");
  return store;
}

function concerns({ operation, target, subresource }: AdmissionAttributes): boolean {
  const { group, resource } = target.resource.definition;
  return (
    group === "" && resource === "services" && subresource === "" && (operation === "CREATE" || operation === "UPDATE")
  );
}

/** However it is written; what is no address stays as it is. */
function canonicalOf(text: string): string {
  const address = parseIp(text);
  return address === undefined ? text : canonicalIp(address);
}

interface Source {
  readonly pools: readonly AddressPool[];
  readonly rules: FamilyRules;
  readonly nodePorts: Allocated;
  readonly portRange: PortRange;
  readonly now: number;
  /** Makes the pools what the cache says; asked before anything is refused. */
  refresh(): void;
}

function isTaken(pool: Allocated, value: number, { now, refresh }: Source): boolean {
  if (!pool.has(value, now)) return false;
  refresh();
  return pool.has(value, now);
}

function nextOf(pool: Allocated, { now, refresh }: Source): number | undefined {
  const free = pool.next(now);
  if (free !== undefined) return free;
  refresh();
  return pool.next(now);
}

/** Nothing is reserved before all of the service could be given, and nothing by a dry run. @throws ApiError 422, 500 */
function give({ object, oldObject, dryRun, name, undo }: AdmissionAttributes, source: Source): void {
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
  giveAddresses({ spec, old: oldObject?.spec, name: metadata.name ?? name, dryRun }, source, reservations, errors);
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
  readonly pool: Allocated;
  readonly value: number;
}

interface Asked {
  readonly spec: Part;
  readonly old: Part | undefined;
  readonly name: string;
  readonly dryRun: boolean;
}

/** An address of each family that the service has and none of yet. */
function giveAddresses(asked: Asked, source: Source, reservations: Reservation[], errors: FieldErrors): void {
  const { spec, old } = asked;
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
    ]; // What refusals show.
    const pools = source.pools.filter(({ range }) => range.family === family);
    const given = giveAddress(pools, addresses[index], { ...asked, source }, reservations, errors);
    if (given === undefined) return;
    addresses[index] = given;
  }
  spec.clusterIPs = addresses;
  spec.clusterIP = addresses[0];
}

/** @param pools of one family; those that overlap know of each other's addresses */
function giveAddress(
  pools: readonly AddressPool[],
  wanted: string | undefined,
  { spec, name, dryRun, source }: Asked & { readonly source: Source },
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
  if (wanted === undefined) {
    const free = nextAddress(pools, source);
    if (free === undefined)
      throw internalError(`failed to allocate a serviceIP for Service ${JSON.stringify(name)}: range is full`);
    return reserve(free);
  }
  const refuse = (why: string): undefined =>
    errors.invalid("spec.clusterIPs", spec.clusterIPs, `failed to allocate IP ${wanted}: ${why}`) as undefined;
  const [first] = pools;
  const pool = pools.find(({ range }) => indexOf(range, canonicalOf(wanted)) !== undefined);
  if (pool === undefined || first === undefined) {
    return refuse(
      dryRun && first !== undefined
        ? notInRange(wanted, first.range)
        : "the provided network does not match the current range",
    );
  }
  if (isTaken(pool.addresses, indexOf(pool.range, canonicalOf(wanted)) as number, source))
    return refuse("provided IP is already allocated");
  return reserve(wanted);
}

function nextAddress(pools: readonly AddressPool[], source: Source): string | undefined {
  for (const { addresses, range } of pools) {
    const free = nextOf(addresses, source);
    if (free !== undefined) return addressAt(range, free);
  }
  return undefined;
}

/** What a dry run is told; upstream looks at one range then. */
const notInRange = (address: string, range: IpRange): string =>
  `the provided IP (${canonicalOf(address)}) is not in the valid range. The range of valid IPs is ${formatRange(range)}`;

/** Node ports for one write: what it took is taken for the rest of it. */
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
