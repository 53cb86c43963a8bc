/** Networks. Source: k8s.io/apiserver@v0.36.0/pkg/cel/library/cidr.go */

import {
  AddressError,
  agree,
  formatAddress,
  isFourInSix,
  masked,
  type Prefix,
  parsePrefix,
} from "../../../go-net/addresses.ts";
import { quoteGo } from "../../../json/quote.ts";
import { sizeOrUnknown } from "../../cost/estimate.ts";
import { fixed, plus, timesFactor } from "../../cost/range.ts";
import type { FunctionDeclaration, OverloadDeclaration } from "../../declarations.ts";
import { library } from "../../library.ts";
import { boolType, type CelType, intType, opaqueType, stringType, typeOf } from "../../types.ts";
import { sizeOf } from "../../values/containers.ts";
import { CelFailure, fail, noSuchOverload } from "../../values/failure.ts";
import { CelOpaque, CelTypeValue, type CelValue, type Equality, type Result } from "../../values/value.ts";
import { traversalFactor } from "../costs.ts";
import { declare, member, overload } from "../declare.ts";
import { nominal, reading } from "./costs.ts";
import { CelIp, ipType, parseIp } from "./ip.ts";

/** The type of `cidr("10.0.0.0/8")`. */
export const cidrType = opaqueType("net.CIDR");

class CelCidr extends CelOpaque {
  readonly prefix: Prefix;
  constructor(prefix: Prefix) {
    super();
    this.prefix = prefix;
  }
  get type(): CelType {
    return cidrType;
  }
  /** In bytes of the prefix, rounded up. */
  override get size(): number {
    return Math.ceil(this.prefix.length / 8);
  }
  equals(other: CelValue): Equality {
    if (!(other instanceof CelCidr)) return noSuchOverload();
    const { address, length } = other.prefix;
    return (
      length === this.prefix.length &&
      address.family === this.prefix.address.family &&
      address.bits === this.prefix.address.bits
    );
  }
  toString(): string {
    return `${formatAddress(this.prefix.address)}/${this.prefix.length}`;
  }
}

const parseError = "network address parse error during conversion from string: ";

/** As in Kubernetes, messages of Go's parser have the prefix twice. */
function parseCidr(text: string): CelCidr | CelFailure {
  try {
    const prefix = parsePrefix(text);
    if (isFourInSix(prefix.address))
      return fail(`${parseError}IPv4-mapped IPv6 address ${quoteGo(text)} is not allowed`);
    return new CelCidr(prefix);
  } catch (error) {
    if (error instanceof AddressError) return fail(`${parseError}${parseError}${error.message}`);
    throw error;
  }
}

function containsIp({ prefix }: CelCidr, { address }: CelIp): boolean {
  return agree(prefix.address, address, prefix.length);
}

function containsCidr({ prefix }: CelCidr, { prefix: other }: CelCidr): boolean {
  return prefix.length <= other.length && agree(prefix.address, other.address, prefix.length);
}

function containsIpText(cidr: CelCidr, text: string): Result {
  const ip = parseIp(text);
  return ip instanceof CelFailure ? noSuchOverload() : containsIp(cidr, ip);
}

function containsCidrText(cidr: CelCidr, text: string): Result {
  const other = parseCidr(text);
  return other instanceof CelFailure ? other : containsCidr(cidr, other);
}

const ipBytes = { min: 4n, max: 16n };

type Costs = Required<Pick<OverloadDeclaration, "cost" | "estimate">>;

function read(bytes: number): number {
  return Math.ceil(bytes * traversalFactor);
}

/** The costs of comparing addresses. */
const comparingAddresses: Costs = {
  cost: (args) => read(2 * sizeOf(args[0])),
  estimate: () => ({ cost: timesFactor(plus(ipBytes, ipBytes), traversalFactor) }),
};

/** The costs of comparing addresses and prefix lengths. */
const comparingNetworks: Costs = {
  cost: (args) => read(2 * sizeOf(args[0])) + read(sizeOf(args[0])) + 1,
  estimate: () => ({
    cost: plus(
      timesFactor(plus(ipBytes, ipBytes), traversalFactor),
      plus(timesFactor(ipBytes, traversalFactor), fixed(1)),
    ),
  }),
};

/** Adds the costs of parsing the argument. */
function parsing({ cost, estimate }: Costs): Costs {
  return {
    cost: (args) => cost(args, null) + read(sizeOf(args[1])),
    estimate: (call) => {
      const compared = estimate(call)?.cost ?? fixed(0);
      return { cost: plus(compared, timesFactor(sizeOrUnknown(call.args[0]), traversalFactor)) };
    },
  };
}

const functions: readonly FunctionDeclaration[] = [
  {
    ...declare("cidr", overload("string_to_cidr", [stringType], cidrType, { evaluate: parseCidr })),
    ...reading(1, { keepsSize: false }),
  },
  {
    ...declare(
      "isCIDR",
      overload("is_cidr", [stringType], boolType, {
        evaluate: (text: string) => !(parseCidr(text) instanceof CelFailure),
      }),
    ),
    ...reading(1, { keepsSize: false }),
  },
  {
    ...declare(
      "containsIP",
      member("cidr_contains_ip_string", [cidrType, stringType], boolType, {
        evaluate: containsIpText,
        ...parsing(comparingAddresses),
      }),
      member("cidr_contains_ip_ip", [cidrType, ipType], boolType, { evaluate: containsIp, ...comparingAddresses }),
    ),
    cost: comparingAddresses.cost,
  },
  {
    ...declare(
      "containsCIDR",
      member("cidr_contains_cidr_string", [cidrType, stringType], boolType, {
        evaluate: containsCidrText,
        ...parsing(comparingNetworks),
      }),
      member("cidr_contains_cidr", [cidrType, cidrType], boolType, { evaluate: containsCidr, ...comparingNetworks }),
    ),
    cost: comparingNetworks.cost,
  },
  declare(
    "ip",
    member("cidr_ip", [cidrType], ipType, { evaluate: ({ prefix }: CelCidr) => new CelIp(prefix.address), ...nominal }),
  ),
  {
    ...declare(
      "prefixLength",
      member("cidr_prefix_length", [cidrType], intType, { evaluate: ({ prefix }: CelCidr) => prefix.length }),
    ),
    ...nominal,
  },
  {
    ...declare(
      "masked",
      member("cidr_masked", [cidrType], cidrType, { evaluate: ({ prefix }: CelCidr) => new CelCidr(masked(prefix)) }),
    ),
    ...nominal,
  },
  declare("string", overload("cidr_to_string", [cidrType], stringType, { evaluate: String })),
];

/** `cidr`, `isCIDR` and functions of networks. Requires `kubernetesIp`. */
export const kubernetesCidr = library({
  variables: [{ name: "net.CIDR", type: typeOf(cidrType), value: new CelTypeValue("net.CIDR") }],
  functions,
});
