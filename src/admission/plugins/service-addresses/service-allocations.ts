/** Follows the stored services, so that the allocators have the values in use. */
import assert from "node:assert/strict";
import { clusterIps } from "../../../apis/core/service/service-fields.ts";
import { items, type Part } from "../../../apis/fields.ts";
import type { Catalog, ResourceStore } from "../../../catalog/contract.ts";
import { canonicalIp, parseIp } from "../../../lib/ip-range/ip-address.ts";
import { formatRange, type IpRange, indexOf, lastIndex } from "../../../lib/ip-range/ip-range.ts";
import type { PortRange } from "../../../lib/ip-range/port-range.ts";
import type { CacheEvent, CacheSubscription, Entry } from "../../../watch-cache/contract.ts";
import { type Allocator, type AllocatorRange, createAllocator } from "./allocator.ts";
import { serviceCidrs } from "./service-cidrs.ts";

/** The addresses of one range. */
export interface AddressPool {
  readonly range: IpRange;
  readonly addresses: Allocator;
}

function openPool(range: IpRange): AddressPool {
  const to = lastIndex(range);
  return { range, addresses: createAllocator({ first: 1, from: Math.min(firstDynamicIndex(range), to), to }) };
}

/** The addresses and node ports in use. */
interface ServiceAllocations {
  /**
   * Reads the current state and subscribes to changes. Returns undefined if the subscription is
   * active.
   */
  start(): Promise<void> | undefined;
  /** The pools of the command line, then those of ready ServiceCIDRs. */
  pools(): readonly AddressPool[];
  readonly nodePorts: Allocator;
  /**
   * Updates the allocators from the current state of the watch cache, which may be ahead of the
   * events received so far.
   */
  refresh(): void;
  close(): void;
}

/** Opens the allocators. `start` must be called before each use, because a subscription can end. */
export function openServiceAllocations(
  catalog: Catalog,
  ranges: readonly IpRange[],
  portRange: PortRange,
): ServiceAllocations {
  const own = ranges.map(openPool);
  const cidrs = serviceCidrs(catalog);
  /**
   * The pools of ServiceCIDRs by the text of their range, so that reservations survive changes of
   * other ServiceCIDRs.
   */
  let added = new Map<string, AddressPool>();
  const nodePorts = createAllocator(allocatorRange(portRange));
  let subscription: CacheSubscription | undefined;
  let starting: Promise<void> | undefined;
  /** The last `refresh` included the events up to this revision. */
  let seen = 0;

  const refresh = (): void => {
    const store = storeOf(catalog);
    const snapshot = store.cache.latest();
    const all = [...own, ...added.values()];
    for (const { addresses } of all) addresses.clear();
    nodePorts.clear();
    for (const entry of snapshot.range(store.form.prefix)) hold(all, nodePorts, entry, store.decode(entry).spec);
    seen = snapshot.revision;
  };
  const follow = async (): Promise<void> => {
    const store = storeOf(catalog);
    await Promise.all([store.cache.ready(), cidrs.ready()]);
    refresh();
    subscription = store.cache.subscribe(seen, {
      events(batch: readonly CacheEvent[]) {
        for (const { type, entry, revision } of batch) {
          if (revision <= seen) continue;
          hold([...own, ...added.values()], nodePorts, entry, type === "DELETED" ? {} : store.decode(entry).spec);
        }
      },
      progress() {},
      end() {
        subscription = undefined; // The next write subscribes again.
      },
    });
  };
  return {
    nodePorts,
    refresh,
    start() {
      if (subscription !== undefined) return undefined;
      starting ??= follow().finally(() => {
        starting = undefined;
      });
      return starting;
    },
    pools() {
      const extra = cidrs.ranges().filter((range) => !ranges.some((one) => formatRange(one) === formatRange(range)));
      const isUnchanged = extra.length === added.size && extra.every((range) => added.has(formatRange(range)));
      if (!isUnchanged) {
        added = new Map(
          extra.map((range) => [formatRange(range), added.get(formatRange(range)) ?? openPool(range)] as const),
        );
        refresh();
      }
      return [...own, ...added.values()];
    },
    close() {
      subscription?.close();
    },
  };
}

/** Replaces the values that a service holds. @param spec empty for a deleted service */
function hold(pools: readonly AddressPool[], nodePorts: Allocator, { key }: Entry, spec: Part): void {
  for (const { range, addresses } of pools) {
    const indexes = clusterIps(spec).map((address) => indexOf(range, canonicalOf(address)));
    addresses.hold(
      key,
      indexes.filter((index) => index !== undefined),
    );
  }
  nodePorts.hold(key, portsOf(spec));
}

function portsOf(spec: Part): number[] {
  const ports = items(spec.ports).map(({ nodePort }) => nodePort);
  return [...ports, spec.healthCheckNodePort].filter((port) => typeof port === "number" && port !== 0);
}

/**
 * Low ports are reserved for services that request a port: 1/32 of the range, at least 16 and at
 * most 128; none of a range of 16 or fewer.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/portallocator/allocator.go.
 */
function allocatorRange({ first, last }: PortRange): AllocatorRange {
  const size = last - first + 1;
  const kept = size <= 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128);
  return { first, from: first + kept, to: last };
}

/**
 * Low addresses are reserved for services that request an address: 1/16 of the range, at least 16
 * and at most 256; none of a small range.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/ipallocator/ipallocator.go.
 */
function firstDynamicIndex(range: IpRange): number {
  const kept = Math.min(Math.max(16, Math.floor(range.size / 16)), 256);
  return range.size <= 16 + 2 ? 1 : kept + 1;
}

function storeOf(catalog: Catalog): ResourceStore {
  const store = catalog.findResource("", "services")?.store;
  assert.ok(store !== undefined, "the catalog has no store for services");
  return store;
}

/** @returns the canonical form of an address; other text unchanged */
export function canonicalOf(text: string): string {
  const address = parseIp(text);
  return address === undefined ? text : canonicalIp(address);
}
