/**
 * The addresses of a range that can be allocated, in two parts: low addresses are for callers that
 * request one, so that random allocation takes them only when no other is free.
 * Sources: KEP-3070; k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/ipallocator/ipallocator.go.
 */
import { formatAddress, type IpRange } from "./ip-range.ts";

/** Both ends of each part are in it. */
export interface Subranges {
  readonly family: IpRange["family"];
  readonly first: bigint;
  /** The first address of the upper part. */
  readonly firstDynamic: bigint;
  readonly last: bigint;
}

/** IPv6 ranges with shorter prefixes are not allocated from. */
const shortestPrefixV6 = 64;

/**
 * @returns undefined for a range without usable addresses, and for an IPv6 range with a prefix of
 *   less than 64 bits
 */
export function subrangesOf({ family, first, length }: IpRange): Subranges | undefined {
  if (family === "IPv6" && length < shortestPrefixV6) return undefined;
  const size = 1n << BigInt((family === "IPv4" ? 32 : 128) - length);
  const last = first + size - (family === "IPv4" ? 2n : 1n); // IPv4 has a broadcast address.
  if (last <= first) return undefined; // The network address cannot be allocated.
  return { family, first: first + 1n, firstDynamic: first + 1n + staticCount(size), last };
}

/** 1/16 of the range, at least 16 and at most 256; none of a range of 16 or less. */
function staticCount(size: bigint): bigint {
  if (size <= 16n) return 0n;
  const part = size / 16n;
  return part < 16n ? 16n : part > 256n ? 256n : part;
}

/**
 * The addresses in the order in which a free one is searched: each part from a random one on, the
 * upper part first.
 *
 * @param random returns a number from 0 to below its argument
 */
export function* candidates(
  { family, first, firstDynamic, last }: Subranges,
  random: (below: bigint) => bigint,
): IterableIterator<string> {
  yield* from(family, firstDynamic, last, random);
  yield* from(family, first, firstDynamic - 1n, random);
}

function* from(
  family: IpRange["family"],
  first: bigint,
  last: bigint,
  random: (below: bigint) => bigint,
): IterableIterator<string> {
  const count = last - first + 1n;
  if (count <= 0n) return;
  const start = first + random(count);
  for (let value = start; value <= last; value++) yield formatAddress(family, value);
  for (let value = first; value < start; value++) yield formatAddress(family, value);
}

/** Whether the value of an address of the same family can be allocated. */
export function isAllocatable({ first, last }: Subranges, value: bigint): boolean {
  return value >= first && value <= last;
}

/**
 * Whether a range has the address, which is neither the network nor, for IPv4, the broadcast address.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/api/servicecidr/servicecidr.go.
 *
 * @param value the bits of an address of the same family
 */
export function containsAddress({ family, first, length }: IpRange, value: bigint): boolean {
  const size = 1n << BigInt((family === "IPv4" ? 32 : 128) - length);
  return value > first && value < first + size - (family === "IPv4" ? 1n : 0n);
}

/** Whether two ranges have an address in common. */
export function overlaps(one: IpRange, other: IpRange): boolean {
  return one.family === other.family && (containsRange(one, other) || containsRange(other, one));
}

/** Whether the first range has all addresses of the second. */
export function containsRange(outer: IpRange, inner: IpRange): boolean {
  if (outer.family !== inner.family || outer.length > inner.length) return false;
  const hostBits = BigInt((outer.family === "IPv4" ? 32 : 128) - outer.length);
  return outer.first >> hostBits === inner.first >> hostBits;
}
