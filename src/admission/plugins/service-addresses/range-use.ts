/**
 * How many addresses of ranges Services use. Source: `Used` and `Free` in
 * k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/ipallocator/ipallocator.go.
 */
import { addressManager, managedByLabel } from "../../../apimachinery/service-addresses.ts";
import type { ResourceStore } from "../../../catalog/contract.ts";
import { formatRange, type IpRange, indexOf } from "../../../lib/ip-range/ip-range.ts";
import type { RangeUse } from "../../contract.ts";

/** What Go's `math.MaxInt` is: the size of IPv6 ranges of 64 bits or more. */
const largestSize = 2 ** 63;

/** @param store that of IPAddresses */
export function useOf(ranges: readonly IpRange[], { cache, form }: ResourceStore): ReadonlyMap<string, RangeUse> {
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
