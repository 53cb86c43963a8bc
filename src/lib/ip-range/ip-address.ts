/** Addresses and prefixes as fields of old have them: Go's older parser took more than today's. Source: k8s.io/utils net, Go's net and net/netip. */
import { isIP } from "node:net";
import { addressValue, formatAddress } from "./ip-range.ts";

export interface IpAddress {
  /** As it is written. One of IPv4 in the clothes of IPv6 is of IPv4. */
  readonly family: "IPv4" | "IPv6";
  /** Of 128 bits where it is written as IPv6, else of 32. */
  readonly value: bigint;
  readonly width: 32 | 128;
  /** Zeros that today's parser does not take: `010.0.0.1`. */
  readonly leadingZeros: boolean;
  /** `::ffff:10.0.0.1` */
  readonly mapped: boolean;
}

export interface IpPrefix {
  readonly address: IpAddress;
  readonly length: number;
  readonly leadingZeros: boolean;
}

/** Zeros in front of a number. */
const zeros = /(^|[.:])0+(?=[0-9a-fA-F])/g;

/** @returns undefined for what is no address, and for one with a zone */
export function parseIp(text: string): IpAddress | undefined {
  if (text.includes("%")) return undefined;
  const plain = isIP(text) === 0 ? text.replace(zeros, "$1") : text;
  const version = isIP(plain);
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

/** The one text of an address. */
export function canonicalIp({ family, value }: IpAddress): string {
  return family === "IPv4" ? formatAddress("IPv4", value & 0xffffffffn) : formatAddress("IPv6", value);
}

/** As it is written, so that one of IPv4 in the clothes of IPv6 keeps them. */
export function isCanonicalIp(text: string, address: IpAddress): boolean {
  if (address.width === 32) return !address.leadingZeros; // Else there is but one way to write it.
  return !address.leadingZeros && !address.mapped && canonicalIp(address) === text;
}

/** @returns undefined for what is no prefix */
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

/** The one text of a prefix, whose address is the first it has. */
export function canonicalPrefix(prefix: IpPrefix): string {
  const network = networkOf(prefix);
  return `${canonicalIp(network)}/${network.mapped ? prefix.length - 96 : prefix.length}`;
}

/** What addresses of endpoints may not be. */
export interface SpecialIp {
  readonly unspecified: boolean;
  readonly loopback: boolean;
  readonly linkLocalUnicast: boolean;
  readonly linkLocalMulticast: boolean;
}

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
    linkLocalMulticast: ((value >> 112n) & 0xff0fn) === 0xff02n, // Whatever its flags are.
  };
}
