/**
 * The addresses that proxies may connect to. A name is resolved once, all its addresses are checked,
 * and the caller connects to one of them, so that no second answer of a name server counts
 * (CVE-2020-8562).
 * Source: `isProxyableHostname` in k8s.io/kubernetes@v1.36.0/pkg/registry/core/node/strategy.go, and
 * Go's IP.IsGlobalUnicast.
 */
import { lookup } from "node:dns/promises";
import { badRequest } from "../../apimachinery/errors.ts";
import { canonicalIp, type IpAddress, parseIp, specialIp } from "../../lib/ip-range/ip-address.ts";
import type { AddressPolicy } from "./contract.ts";

/**
 * Resolves a host name.
 * @throws Error of the system, with a code such as ENOTFOUND, which becomes an ApiError · WebhookError, which does not
 */
export type Lookup = (name: string) => Promise<readonly string[]>;

/** Asks the resolver of the system. */
export const systemLookup: Lookup = async (name) => {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
};

/**
 * Checks an address.
 * @returns its canonical form, in which an IPv4-mapped address is IPv4; undefined for other text and
 *   for addresses that are not allowed: loopback, link-local, multicast, unspecified, broadcast
 */
export function proxyableAddress(text: string, { allowLoopback }: AddressPolicy): string | undefined {
  const address = parseIp(text);
  if (address === undefined) return undefined;
  const { unspecified, loopback, linkLocalUnicast } = specialIp(address);
  if (unspecified || linkLocalUnicast || isMulticast(address) || isBroadcast(address)) return undefined;
  return loopback && !allowLoopback ? undefined : canonicalIp(address);
}

/**
 * Finds the address to connect to.
 *
 * @param host an address or a name
 * @throws ApiError 400 when one of its addresses is not allowed, or it cannot be resolved · WebhookError of `resolve`
 */
export async function findProxyableAddress(
  host: string,
  policy: AddressPolicy,
  resolve: Lookup = systemLookup,
): Promise<string> {
  const all = parseIp(host) === undefined ? await addressesOf(host, resolve) : [host];
  const allowed = all.map((address) => proxyableAddress(address, policy));
  const [first] = allowed;
  if (first === undefined || allowed.includes(undefined)) throw addressNotAllowed();
  return first;
}

/** The error for an address that proxies do not connect to. */
export function addressNotAllowed(): ReturnType<typeof badRequest> {
  return badRequest("address not allowed");
}

async function addressesOf(host: string, resolve: Lookup): Promise<readonly string[]> {
  let found: readonly string[];
  try {
    found = await resolve(host);
  } catch (error) {
    throw badRequest(`lookup ${host}: ${lookupProblem(error)}`);
  }
  if (found.length === 0) throw badRequest("no addresses for hostname");
  return found;
}

/** Go's text for a failed lookup. @throws the error if it is not that of the resolver */
export function lookupProblem(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return code === "ENOTFOUND" ? "no such host" : "server misbehaving";
}

function isMulticast({ family, value }: IpAddress): boolean {
  return family === "IPv4" ? (value & 0xf0000000n) === 0xe0000000n : value >> 120n === 0xffn;
}

function isBroadcast({ family, value }: IpAddress): boolean {
  return family === "IPv4" && (value & 0xffffffffn) === 0xffffffffn;
}
