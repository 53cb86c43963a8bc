/** IP addresses. Source: k8s.io/apiserver@v0.36.0/pkg/cel/library/ip.go */

import {
  type Address,
  AddressError,
  agree,
  formatAddress,
  isFourInSix,
  parseAddress,
  widthOf,
} from "../../../go-net/addresses.ts";
import { quoteGo } from "../../../json/quote.ts";
import type { FunctionDeclaration } from "../../declarations.ts";
import { library } from "../../library.ts";
import { boolType, type CelType, intType, opaqueType, stringType, typeOf } from "../../types.ts";
import { CelFailure, fail, noSuchOverload } from "../../values/failure.ts";
import { CelOpaque, CelTypeValue, type CelValue, type Equality, type Result } from "../../values/value.ts";
import { declare, member, overload } from "../declare.ts";
import { nominal, reading } from "./costs.ts";

/** The type of `ip("10.0.0.1")`. */
export const ipType = opaqueType("net.IP");

/** An IP address. */
export class CelIp extends CelOpaque {
  readonly address: Address;
  constructor(address: Address) {
    super();
    this.address = address;
  }
  get type(): CelType {
    return ipType;
  }
  /** In bytes. */
  override get size(): number {
    return widthOf(this.address.family) / 8;
  }
  equals(other: CelValue): Equality {
    if (!(other instanceof CelIp)) return noSuchOverload();
    return other.address.family === this.address.family && other.address.bits === this.address.bits;
  }
  toString(): string {
    return formatAddress(this.address);
  }
}

/** Parses an address. @returns a failure for zones and IPv4-mapped IPv6 addresses too */
export function parseIp(text: string): CelIp | CelFailure {
  try {
    const address = parseAddress(text);
    if (address.zone !== "") return fail(`IP address ${quoteGo(text)} with zone value is not allowed`);
    return isFourInSix(address) ? fail(`IPv4-mapped IPv6 address ${quoteGo(text)} is not allowed`) : new CelIp(address);
  } catch (error) {
    if (error instanceof AddressError)
      return fail(`IP Address ${quoteGo(text)} parse error during conversion from string: ${error.message}`);
    throw error;
  }
}

function isCanonical(text: string): Result {
  const ip = parseIp(text);
  return ip instanceof CelFailure ? ip : ip.toString() === text;
}

type Range = readonly [text: string, length: number];

function isWithin(...ranges: readonly Range[]): (ip: CelIp) => boolean {
  const parsed = ranges.map(([text, length]) => [parseAddress(text), length] as const);
  return ({ address }) => parsed.some(([network, length]) => agree(network, address, length));
}

const unspecified: readonly Range[] = [
  ["0.0.0.0", 32],
  ["::", 128],
];
const loopback: readonly Range[] = [
  ["127.0.0.0", 8],
  ["::1", 128],
];
const linkLocalUnicast: readonly Range[] = [
  ["169.254.0.0", 16],
  ["fe80::", 10],
];
const multicast: readonly Range[] = [
  ["224.0.0.0", 4],
  ["ff00::", 8],
];
const isSpecial = isWithin(["255.255.255.255", 32], ...unspecified, ...loopback, ...linkLocalUnicast, ...multicast);

/** The four flag bits of an IPv6 address, before the scope, can have any value. */
function isLinkLocalMulticast({ address: { family, bits } }: CelIp): boolean {
  return family === 4 ? bits >> 8n === 0xe00000n : ((bits >> 112n) & 0xff0fn) === 0xff02n;
}

const predicates: readonly [name: string, id: string, evaluate: (ip: CelIp) => boolean][] = [
  ["isUnspecified", "ip_is_unspecified", isWithin(...unspecified)],
  ["isLoopback", "ip_is_loopback", isWithin(...loopback)],
  ["isLinkLocalMulticast", "ip_is_link_local_multicast", isLinkLocalMulticast],
  ["isLinkLocalUnicast", "ip_is_link_local_unicast", isWithin(...linkLocalUnicast)],
  ["isGlobalUnicast", "ip_is_global_unicast", (ip) => !isSpecial(ip)],
];

const functions: readonly FunctionDeclaration[] = [
  declare(
    "ip",
    overload("string_to_ip", [stringType], ipType, { evaluate: parseIp, ...reading(1, { keepsSize: false }) }),
  ),
  {
    ...declare(
      "isIP",
      overload("is_ip", [stringType], boolType, { evaluate: (text: string) => !(parseIp(text) instanceof CelFailure) }),
    ),
    ...reading(1, { keepsSize: false }),
  },
  {
    ...declare("ip.isCanonical", overload("ip_is_canonical", [stringType], boolType, { evaluate: isCanonical })),
    ...reading(2, { keepsSize: false }),
  },
  {
    ...declare("family", member("ip_family", [ipType], intType, { evaluate: ({ address }: CelIp) => address.family })),
    ...nominal,
  },
  ...predicates.map(([name, id, evaluate]) => ({
    ...declare(name, member(id, [ipType], boolType, { evaluate })),
    ...nominal,
  })),
  declare("string", overload("ip_to_string", [ipType], stringType, { evaluate: String })),
];

/** `ip`, `isIP` and functions of addresses. */
export const kubernetesIp = library({
  variables: [{ name: "net.IP", type: typeOf(ipType), value: new CelTypeValue("net.IP") }],
  functions,
});
