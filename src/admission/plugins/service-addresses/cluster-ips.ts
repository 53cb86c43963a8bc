/**
 * Finds free cluster IPs. An address is in use when its IPAddress exists, also one that a user created.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/ipallocator/cidrallocator.go.
 */
import assert from "node:assert/strict";
import { addressManager, managedByLabel } from "../../../apimachinery/service-addresses.ts";
import type { Catalog, ResourceStore } from "../../../catalog/contract.ts";
import { canonicalIp, parseIp } from "../../../lib/ip-range/ip-address.ts";
import { addressValue, formatRange, type IpRange, indexOf } from "../../../lib/ip-range/ip-range.ts";
import { candidates, isAllocatable, type Subranges, subrangesOf } from "../../../lib/ip-range/subranges.ts";
import { keysWithUnreadable } from "../../../registry/current-entry.ts";
import type { WatchCache } from "../../../watch-cache/contract.ts";
import type { RangeUse } from "../../contract.ts";
import { serviceCidrs } from "./service-cidrs.ts";

/** The addresses of the ready ServiceCIDRs. */
export interface ClusterIps {
  /** Waits until the watch caches are loaded. */
  ready(): Promise<void>;
  /** Waits until the watch caches show what other servers wrote before. */
  refresh(): Promise<void>;
  /** The first ready range of the family; undefined when there is none. */
  anyRange(family: string): IpRange | undefined;
  /** The ready ranges of the family. */
  ranges(family: string): readonly IpRange[];
  /** The first ready range that has the address. @param address in canonical form */
  findRange(family: string, address: string): IpRange | undefined;
  isTaken(address: string): boolean;
  /** @returns undefined when the ready ranges have no free address */
  findFree(family: string): string | undefined;
  /** Keeps other requests of this server from taking the address before it is stored. */
  reserve(address: string): void;
  release(address: string): void;
  /** By range. Empty until the watch caches are loaded. */
  use(): ReadonlyMap<string, RangeUse>;
}

/** @param random returns so many random bytes */
export function openClusterIps(catalog: Catalog, random: (bytes: number) => Buffer): ClusterIps {
  const cidrs = serviceCidrs(catalog);
  const reserved = new Set<string>();
  /** Ranges that were full, and the state of the IPAddresses then: they are not searched again. */
  const full = new WeakMap<IpRange, object>();
  const addresses = (): ResourceStore => addressStore(catalog);
  /**
   * The keys of all IPAddresses while some of them cannot be read, which are in use; undefined
   * otherwise. Upstream's allocator goes on then with those that it knows.
   */
  let known: ReadonlySet<string> | undefined;
  const load = async (read: (cache: WatchCache) => Promise<unknown>): Promise<void> => {
    const { cache } = addresses();
    known = await read(cache).then(
      () => undefined,
      (error: unknown) => keysWithUnreadable(error, cache),
    );
  };
  const below = (limit: bigint): bigint => BigInt(`0x${random(16).toString("hex")}`) % limit;
  const isStored = (address: string): boolean => {
    const { cache, keyOf } = addresses();
    const key = keyOf("", address);
    return known?.has(key) ?? cache.latest().get(key) !== undefined;
  };
  const searchRange = (range: IpRange): string | undefined => {
    const identity = known ?? addresses().cache.latest().identity;
    const parts = subrangesOf(range);
    if (parts === undefined || full.get(range) === identity) return undefined;
    let waits = false;
    for (const address of candidates(parts, below)) {
      if (isStored(address)) continue;
      if (!reserved.has(address)) return address;
      waits = true;
    }
    if (!waits) full.set(range, identity);
    return undefined;
  };
  const rangesOf = (family: string): readonly IpRange[] => cidrs.ranges().filter((range) => range.family === family);
  return {
    ready: async () => void (await Promise.all([cidrs.ready(), load((cache) => cache.ready())])),
    refresh: async () => void (await Promise.all([cidrs.refresh(), load((cache) => cache.current())])),
    anyRange: (family) => rangesOf(family)[0],
    ranges: rangesOf,
    findRange(family, address) {
      const has = (parts: Subranges | undefined): boolean =>
        parts !== undefined && isAllocatable(parts, addressValue(address));
      return rangesOf(family).find((range) => has(subrangesOf(range)));
    },
    isTaken: (address) => reserved.has(address) || isStored(address),
    findFree(family) {
      for (const range of rangesOf(family)) {
        const free = searchRange(range);
        if (free !== undefined) return free;
      }
      return undefined;
    },
    reserve: (address) => void reserved.add(address),
    release: (address) => void reserved.delete(address),
    use: () => useOf(cidrs.ranges(), addresses()),
  };
}

function addressStore(catalog: Catalog): ResourceStore {
  const store = catalog.find("networking.k8s.io", "v1", "ipaddresses")?.resource.store;
  assert.ok(store !== undefined, "the catalog has no store for IPAddresses");
  return store;
}

/** @returns the canonical form of an address; other text unchanged */
export function canonicalOf(text: string): string {
  const address = parseIp(text);
  return address === undefined ? text : canonicalIp(address);
}

/** What Go's `math.MaxInt` is: the size of IPv6 ranges of 64 bits or more. */
const largestSize = 2 ** 63;

/**
 * How many addresses of ranges Services use. Source: `Used` and `Free` in
 * k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/ipallocator/ipallocator.go.
 * @param store that of IPAddresses
 */
function useOf(ranges: readonly IpRange[], { cache, form }: ResourceStore): ReadonlyMap<string, RangeUse> {
  const counts = ranges.map(() => 0);
  for (const { index } of cache.latest().range(form.prefix)) {
    if (index.labels.get(managedByLabel) !== addressManager) continue;
    for (const [at, range] of ranges.entries())
      if (indexOf(range, index.name) !== undefined) counts[at] = (counts[at] as number) + 1;
  }
  return new Map(
    ranges.map((range, at) => {
      const allocated = counts[at] as number;
      return [formatRange(range), { allocated, available: Math.max(0, sizeOf(range) - allocated) }] as const;
    }),
  );
}

/** Without the network address, and the broadcast address of IPv4. */
function sizeOf({ family, length }: IpRange): number {
  const bits = (family === "IPv4" ? 32 : 128) - length;
  if (bits >= 64) return largestSize;
  return Math.max(0, 2 ** bits - (family === "IPv4" ? 2 : 1));
}
