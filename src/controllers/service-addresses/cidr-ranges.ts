/** The ranges of all ServiceCIDRs, ready or not. */
import { familyOf } from "../../apimachinery/service-addresses.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import { addressValue, type IpRange, parseIpRange } from "../../lib/ip-range/ip-range.ts";
import { containsAddress } from "../../lib/ip-range/subranges.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { derivedOnce } from "../../watch-cache/derived-once.ts";

/** The ranges of one ServiceCIDR. */
export function rangesOfCidr(cidrs: ResourceStore, entry: Entry): readonly IpRange[] {
  return rangesOfEntry(entry, cidrs);
}

const rangesOfEntry = derivedOnce((entry: Entry, cidrs: ResourceStore): readonly IpRange[] => {
  const texts: readonly string[] = cidrs.decode(entry).spec?.cidrs ?? [];
  return texts.map(parseIpRange).filter((range) => range !== undefined);
});

/** @returns reads the ranges in the watch cache of ServiceCIDRs, once for each state */
export function rangesIn(cidrs: ResourceStore): () => readonly IpRange[] {
  let last: { readonly of: object; readonly ranges: readonly IpRange[] } | undefined;
  return () => {
    const snapshot = cidrs.cache.latest();
    if (last?.of !== snapshot.identity) {
      const ranges = [...snapshot.range(cidrs.form.prefix)].flatMap((entry) => rangesOfCidr(cidrs, entry));
      last = { of: snapshot.identity, ranges };
    }
    return last.ranges;
  };
}

/** Whether the range has the address and can allocate it. @param address in canonical form */
export function hasAddress(range: IpRange, address: string): boolean {
  return range.family === familyOf(address) && containsAddress(range, addressValue(address));
}
