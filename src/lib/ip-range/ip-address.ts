/**
 * Addresses and prefixes of fields that accept legacy forms, which Go's older parser allowed.
 * Source: k8s.io/utils net; Go's net and net/netip.
 */
import { addressValue, formatAddress } from "./ip-range.ts";
import { ipVersion } from "./ip-version.ts";

/** A parsed address. */
export interface IpAddress {
  /** The family; that of an IPv4-mapped IPv6 address is IPv4. */
  readonly family: "IPv4" | "IPv6";
  /** 128 bits when it is written as IPv6, else 32. */
  readonly value: bigint;
  readonly width: 32 | 128;
  /** Whether it has leading zeros, which Go's current parser rejects: `010.0.0.1`. */
  readonly leadingZeros: boolean;
  /** Whether it is an IPv4-mapped IPv6 address: `::ffff:10.0.0.1`. */
  readonly mapped: boolean;
}

/** A parsed CIDR. */
export interface IpPrefix {
  readonly address: IpAddress;
  readonly length: number;
  readonly leadingZeros: boolean;
}

/** Leading zeros of a number. */
const zeros = /(^|[.:])0+(?=[0-9a-fA-F])/g;

/** Parses an address; returns undefined for other text, and for an address with a zone. */
export function parseIp(text: string): IpAddress | undefined {
  if (text.includes("%")) return undefined;
  const plain = ipVersion(text) === 0 ? text.replace(zeros, "$1") : text;
  const version = ipVersion(plain);
  if (version === 0) return undefined;
  const value = addressValue(plain);
  const mapped = version === 6 && value >> 32n === 0xffffn;
  return {
    family: version === 4 || mapped ? "IPv4" : "IPv6",
    value,
    width: version === 4 ? 32 : 128,
    leadingZeros: plain !== text,
    mapped,
  };
}

/** The canonical text of an address; an IPv4-mapped one becomes IPv4. */
export function canonicalIp({ family, value }: IpAddress): string {
  return family === "IPv4" ? formatAddress("IPv4", value & 0xffffffffn) : formatAddress("IPv6", value);
}

/** Whether the text of an address is canonical. IPv4-mapped addresses are not. */
export function isCanonicalIp(text: string, address: IpAddress): boolean {
  // Otherwise, an IPv4 address has only one form.
  if (address.width === 32) return !address.leadingZeros;
  return !address.leadingZeros && !address.mapped && canonicalIp(address) === text;
}

/** Parses a CIDR; returns undefined for other text. */
export function parsePrefix(text: string): IpPrefix | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const address = parseIp(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (address === undefined || !/^[0-9]+$/.test(digits)) return undefined;
  const length = Number(digits);
  if (length > address.width) return undefined;
  return { address, length, leadingZeros: address.leadingZeros || String(length) !== digits };
}

/** The first address of the prefix. */
export function networkOf({ address, length }: IpPrefix): IpAddress {
  const shift = BigInt(address.width - length);
  const value = (address.value >> shift) << shift;
  const mapped = address.width === 128 && value >> 32n === 0xffffn;
  return { ...address, value, mapped, family: address.width === 32 || mapped ? "IPv4" : "IPv6" };
}

/** The canonical text of a prefix, with its first address. */
export function canonicalPrefix(prefix: IpPrefix): string {
  const network = networkOf(prefix);
  return `${canonicalIp(network)}/${network.mapped ? prefix.length - 96 : prefix.length}`;
}

/** The special ranges that an address is in. */
interface SpecialIp {
  readonly unspecified: boolean;
  readonly loopback: boolean;
  readonly linkLocalUnicast: boolean;
  readonly linkLocalMulticast: boolean;
}

/** Determines in which special ranges an address is; addresses of endpoints may be in none. */
export function specialIp(address: IpAddress): SpecialIp {
  if (address.family === "IPv4") {
    const value = address.value & 0xffffffffn;
    return {
      unspecified: value === 0n,
      loopback: value >> 24n === 127n,
      linkLocalUnicast: value >> 16n === 0xa9fen,
      linkLocalMulticast: value >> 8n === 0xe00000n,
    };
  }
  const { value } = address;
  return {
    unspecified: value === 0n,
    loopback: value === 1n,
    linkLocalUnicast: value >> 118n === 0xfe80n >> 6n,
    linkLocalMulticast: ((value >> 112n) & 0xff0fn) === 0xff02n, // With any flags.
  };
}
