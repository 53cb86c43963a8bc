/** Ranges of IP addresses in CIDR form, and their addresses by index. */
import { ipVersion } from "./ip-version.ts";

/** A range of addresses. */
export interface IpRange {
  readonly family: "IPv4" | "IPv6";
  /** Address 0, the network itself. */
  readonly first: bigint;
  /** The prefix length. */
  readonly length: number;
  /**
   * The number of usable addresses, at most 2^20; as in upstream, the rest of larger ranges is not
   * used.
   */
  readonly size: number;
}

const sizeMax = 2 ** 20;

/** Parses a CIDR; returns undefined when it is not one. */
export function parseIpRange(text: string): IpRange | undefined {
  const [address = "", prefix = ""] = text.split("/", 2);
  const family = ipVersion(address);
  const bits = family === 4 ? 32 : 128;
  if (family === 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) return undefined;
  const hostBits = BigInt(bits - Number(prefix));
  const first = (addressValue(address) >> hostBits) << hostBits;
  return {
    family: family === 4 ? "IPv4" : "IPv6",
    first,
    length: Number(prefix),
    size: hostBits > 20n ? sizeMax : 2 ** Number(hostBits),
  };
}

/**
 * Parses one range, or one of each family separated by a comma; returns undefined for other text.
 */
export function parseIpRanges(text: string): IpRange[] | undefined {
  const ranges = text
    .split(",", 3)
    .map(parseIpRange)
    .filter((range) => range !== undefined);
  const parts = text.split(",", 3).length;
  return ranges.length === parts && new Set(ranges.map(({ family }) => family)).size === parts ? ranges : undefined;
}

/**
 * The address at an index.
 * @param index 1 is the first address that can be allocated
 */
export function addressAt(range: IpRange, index: number): string {
  return formatAddress(range.family, range.first + BigInt(index));
}

/** Formats a range as a CIDR. */
export function formatRange(range: IpRange): string {
  return `${addressAt(range, 0)}/${range.length}`;
}

/**
 * The canonical text of an address.
 * @param value of 32 or 128 bits
 */
export function formatAddress(family: IpRange["family"], value: bigint): string {
  return family === "IPv4" ? formatV4(value) : formatV6(value);
}

/**
 * The index of an address; undefined outside of the range, and for the network and broadcast
 * addresses.
 */
export function indexOf(range: IpRange, address: string): number | undefined {
  if (ipVersion(address) !== (range.family === "IPv4" ? 4 : 6)) return undefined;
  const index = addressValue(address) - range.first;
  return index > 0n && index <= BigInt(lastIndex(range)) ? Number(index) : undefined;
}

/** The last index that can be allocated; for IPv4, it excludes the broadcast address. */
export function lastIndex({ family, size }: IpRange): number {
  return family === "IPv4" ? size - 2 : size - 1;
}

/** The bits of an address that `ipVersion` accepts. */
export function addressValue(address: string): bigint {
  return ipVersion(address) === 4 ? joined(address.split(".").map(Number), 8n) : joined(groupsOf(address), 16n);
}

const joined = (parts: readonly number[], bits: bigint): bigint =>
  parts.reduce((value, part) => (value << bits) | BigInt(part), 0n);

/** Writes the IPv4 address at the end of an IPv6 one as two groups. */
function withoutDots(address: string): string {
  const start = address.lastIndexOf(":") + 1;
  const [a = 0, b = 0, c = 0, d = 0] = address.slice(start).split(".").map(Number);
  return `${address.slice(0, start)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/** The eight groups of an IPv6 address, whose last two may be written as an IPv4 one. */
function groupsOf(address: string): number[] {
  const plain = address.includes(".") ? withoutDots(address) : address;
  const [head = "", tail] = plain.split("::");
  const groups = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  if (tail === undefined) return groups(head);
  const before = groups(head);
  const after = groups(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

const formatV4 = (value: bigint): string => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");

/** RFC 5952: the longest run of zero groups is left out. */
function formatV6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_none, index) =>
    ((value >> BigInt(16 * (7 - index))) & 0xffffn).toString(16),
  );
  let longest = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (groups[start + length] === "0") length++;
    if (length > longest.length) longest = { start, length };
  }
  if (longest.start < 0) return groups.join(":");
  return `${groups.slice(0, longest.start).join(":")}::${groups.slice(longest.start + longest.length).join(":")}`;
}
