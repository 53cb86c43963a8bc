/** Decides whether the deletion of a ServiceCIDR would leave addresses without a range. */
import { addressManager, managedByLabel } from "../../apimachinery/service-addresses.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import type { IpRange } from "../../lib/ip-range/ip-range.ts";
import { containsRange, overlaps } from "../../lib/ip-range/subranges.ts";
import type { Entry, Snapshot } from "../../watch-cache/contract.ts";
import { hasAddress, rangesOfCidr } from "../service-addresses/cidr-ranges.ts";

interface Stores {
  readonly cidrs: ResourceStore;
  readonly addresses: ResourceStore;
}

/** IPAddresses that are checked before the event loop serves others. */
const pieceMax = 1000;

/** The ServiceCIDRs that have addresses in common with this one, which is one of them. */
export function overlappingCidrs(cidrs: ResourceStore, entry: Entry): Entry[] {
  const own = rangesOfCidr(cidrs, entry);
  const isOverlapping = (other: Entry): boolean =>
    rangesOfCidr(cidrs, other).some((range) => own.some((one) => overlaps(one, range)));
  return [...cidrs.cache.latest().range(cidrs.form.prefix)].filter(isOverlapping);
}

/** Whether an address of the server is in no other ServiceCIDR, on the current state of the store. */
export async function orphansAddresses({ cidrs, addresses }: Stores, entry: Entry): Promise<boolean> {
  const snapshot = await cidrs.cache.current();
  const own = rangesOfCidr(cidrs, entry);
  const others = [...snapshot.range(cidrs.form.prefix)]
    .filter(({ key }) => key !== entry.key)
    .flatMap((other) => rangesOfCidr(cidrs, other));
  if (own.every((range) => others.some((other) => containsRange(other, range)))) return false;
  return hasOrphan(await addresses.cache.current(), addresses, { own, others });
}

async function hasOrphan(
  snapshot: Snapshot,
  { form }: ResourceStore,
  { own, others }: { readonly own: readonly IpRange[]; readonly others: readonly IpRange[] },
): Promise<boolean> {
  let read = 0;
  for (const { index } of snapshot.range(form.prefix)) {
    if (++read % pieceMax === 0) await new Promise(setImmediate);
    const isIn = (ranges: readonly IpRange[]): boolean => ranges.some((range) => hasAddress(range, index.name));
    if (isIn(own) && !isIn(others) && index.labels.get(managedByLabel) === addressManager) return true;
  }
  return false;
}
