/**
 * Gives services their cluster addresses and node ports, and knows which are free by following the services that are stored. It stands in
 * admission because that is where a request may wait and may be refused. Each process gives out on its own: with several servers over one
 * store, two may give out the same.
 */
import assert from "node:assert/strict";
import { isIP } from "node:net";
import type { AdmissionAttributes, AdmissionPlugin } from "../../admission/contract.ts";
import type { Clock } from "../../api/clock.ts";
import { invalid } from "../../api/errors.ts";
import { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { addressAt, type IpRange, indexOf, lastIndex } from "../../lib/ip-range/ip-range.ts";
import type { Catalog, ResourceStore } from "../../resource/contract.ts";
import type { CacheEvent, CacheSubscription, Entry } from "../../watch-cache/contract.ts";
import { items, type Part } from "../fields.ts";
import { type Allocated, allocated } from "./allocated.ts";
import { keepAllocated, needsAddress, needsNodePorts } from "./service.ts";

export interface ServiceAddressesOptions {
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** `--service-cluster-ip-range` */
  readonly range: IpRange;
}

/** `--service-node-port-range`'s default. */
const nodePortRange = { first: 30000, from: 30000, to: 32767 };

/** The low addresses are kept for those who ask for one: a sixteenth of the range, from 16 to 256 of them, and none of a small range. */
function firstGivenOut(range: IpRange): number {
  const kept = Math.min(Math.max(16, Math.floor(range.size / 16)), 256);
  return range.size <= 16 + 2 ? 1 : kept + 1;
}

export interface ServiceAddresses extends AdmissionPlugin {
  close(): void;
}

export function openServiceAddresses({ catalog, clock, range }: ServiceAddressesOptions): ServiceAddresses {
  const addresses = allocated({ first: 1, from: Math.min(firstGivenOut(range), lastIndex(range)), to: lastIndex(range) });
  const nodePorts = allocated(nodePortRange);
  let subscription: CacheSubscription | undefined;
  let starting: Promise<void> | undefined;
  /** Events up to this revision are known from the cache already. */
  let seen = 0;

  const hold = (store: ResourceStore, entry: Entry, gone: boolean): void => {
    const { spec } = gone ? { spec: {} } : store.decode(entry);
    const given = items(spec.clusterIPs).map((address) => indexOf(range, String(address)));
    addresses.hold(
      entry.key,
      given.filter((index) => index !== undefined),
    );
    nodePorts.hold(entry.key, portsOf(spec));
  };
  /** Reads what is held from the cache as it is now, whose events may still be on their way. */
  const refresh = (store: ResourceStore): void => {
    const snapshot = store.cache.latest();
    addresses.clear();
    nodePorts.clear();
    for (const entry of snapshot.range(store.form.prefix)) hold(store, entry, false);
    seen = snapshot.revision;
  };
  const follow = async (): Promise<void> => {
    const store = storeOf(catalog);
    await store.cache.ready();
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
      const pools = { addresses, nodePorts, range, now: clock.now(), refresh: () => refresh(storeOf(catalog)) };
      if (subscription !== undefined) return give(attributes, pools);
      return started().then(() => give(attributes, pools));
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
  return group === "" && resource === "services" && subresource === "" && (operation === "CREATE" || operation === "UPDATE");
}

interface Pools {
  readonly addresses: Allocated;
  readonly nodePorts: Allocated;
  readonly range: IpRange;
  readonly now: number;
  /** Makes the pools what the cache says; asked before anything is refused. */
  refresh(): void;
}

function isTaken(pool: Allocated, value: number, { now, refresh }: Pools): boolean {
  if (!pool.has(value, now)) return false;
  refresh();
  return pool.has(value, now);
}

function nextOf(pool: Allocated, { now, refresh }: Pools): number | undefined {
  const free = pool.next(now);
  if (free !== undefined) return free;
  refresh();
  return pool.next(now);
}

/** Nothing is reserved before all of the service could be given, and nothing by a dry run. */
function give({ object, oldObject, dryRun, name, undo }: AdmissionAttributes, pools: Pools): void {
  const { spec } = object as KubeObject;
  if (oldObject !== undefined) keepAllocated(spec, oldObject.spec);
  const errors = new FieldErrors();
  const reservations: Reservation[] = [];
  if (needsAddress(spec)) giveAddress(spec, oldObject?.spec ?? {}, pools, reservations, errors);
  if (needsNodePorts(spec)) giveNodePorts(spec, oldObject?.spec ?? {}, pools, reservations, errors);
  if (!errors.empty) throw invalid("", "Service", object?.metadata.name ?? name, errors.causes);
  if (dryRun) return;
  for (const { pool, value } of reservations) {
    pool.reserve(value, pools.now);
    undo.push(() => pool.release(value));
  }
}

interface Reservation {
  readonly pool: Allocated;
  readonly value: number;
}

function giveAddress(spec: Part, old: Part, pools: Pools, reservations: Reservation[], errors: FieldErrors): void {
  const { addresses, range } = pools;
  const asked: string | undefined = spec.clusterIP || items(spec.clusterIPs)[0] || undefined;
  setFamilies(spec, { headless: asked === "None", family: range.family });
  if (asked === "None" || (asked !== undefined && items(old.clusterIPs).includes(asked as unknown as Part))) return setAddress(spec, asked);
  if (asked !== undefined && isIP(asked) === 0) {
    return errors.invalid("spec.clusterIPs[0]", asked, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
  const index = asked === undefined ? nextOf(addresses, pools) : indexOf(range, asked);
  const refuse = (why: string): void => {
    if (asked === undefined) errors.invalid("spec.clusterIPs", [], `failed to allocate a serviceIP: ${why}`);
    else errors.invalid("spec.clusterIPs", [asked], `failed to allocate IP ${asked}: ${why}`);
  };
  if (index === undefined) return refuse(asked === undefined ? "range is full" : notInRange(asked, range));
  if (isTaken(addresses, index, pools)) return refuse("provided IP is already allocated");
  reservations.push({ pool: addresses, value: index });
  setAddress(spec, addressAt(range, index));
}

const notInRange = (address: string, range: IpRange): string =>
  `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${addressAt(range, 0)}/${(range.family === "IPv4" ? 32 : 128) - Math.log2(range.size)}`;

function setAddress(spec: Part, address: string): void {
  spec.clusterIP = address;
  if (items(spec.clusterIPs).length === 0) spec.clusterIPs = [address];
}

/** A headless service without a selector may name endpoints of both families. */
function setFamilies(spec: Part, { headless, family }: { headless: boolean; family: "IPv4" | "IPv6" }): void {
  const both = headless && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= both ? "RequireDualStack" : "SingleStack";
  if (items(spec.ipFamilies).length > 0) return;
  spec.ipFamilies = both ? [family, family === "IPv4" ? "IPv6" : "IPv4"] : [family];
}

/** Ports of one number and different protocols share a node port. */
function giveNodePorts(spec: Part, old: Part, pools: Pools, reservations: Reservation[], errors: FieldErrors): void {
  const { nodePorts } = pools;
  const held = new Set(portsOf(old));
  const here = new Map<number, Set<string>>();
  for (const [index, port] of items(spec.ports).entries()) {
    const path = `spec.ports[${index}].nodePort`;
    const wanted: number = port.nodePort || shared(spec, port) || 0;
    const given = wanted || nextOf(nodePorts, pools);
    if (given === undefined) {
      errors.invalid(path, 0, "failed to allocate a nodePort: range is full");
      continue;
    }
    const protocols = here.get(given) ?? new Set<string>();
    const mine = held.has(given) || (protocols.size > 0 && !protocols.has(port.protocol));
    if (given < nodePortRange.from || given > nodePortRange.to) {
      errors.invalid(path, given, `provided port is not in the valid range. The range of valid ports is ${nodePortRange.from}-${nodePortRange.to}`);
    } else if (!mine && (protocols.size > 0 || isTaken(nodePorts, given, pools))) errors.invalid(path, given, "provided port is already allocated");
    else if (!held.has(given)) reservations.push({ pool: nodePorts, value: given });
    here.set(given, protocols.add(port.protocol));
    port.nodePort = given;
  }
}

/** The node port of another port of the same number. */
const shared = (spec: Part, { port, protocol }: Part): number | undefined =>
  items(spec.ports).find((other) => other.port === port && other.protocol !== protocol && other.nodePort)?.nodePort;

function portsOf(spec: Part): number[] {
  const ports = items(spec.ports).map(({ nodePort }) => nodePort);
  return [...ports, spec.healthCheckNodePort].filter((port) => typeof port === "number" && port !== 0);
}
