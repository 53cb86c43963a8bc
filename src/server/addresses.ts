/** The names and addresses by which clients reach a server. */
import { hostname, networkInterfaces } from "node:os";
import type { Address } from "../webhook/contract.ts";
import type { ServerOptions } from "./options.ts";
import type { ServerState } from "./state.ts";

type Addresses = Pick<ServerOptions, "bindAddress" | "advertiseAddress">;
type PublicAddresses = Addresses & Pick<ServerOptions, "externalHostname">;

/** The names and addresses in a serving certificate that the server makes for itself. */
export function certificateNames({ bindAddress, advertiseAddress }: Addresses, firstServiceAddress: string): string[] {
  const service = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
  ];
  const own = [bindAddress, advertiseAddress].filter(
    (address) => address !== undefined && address !== "0.0.0.0" && address !== "::",
  );
  return [
    ...new Set(["localhost", "127.0.0.1", "::1", hostname(), ...service, firstServiceAddress, ...(own as string[])]),
  ];
}

/** The address by which other machines reach the server; undefined when no network interface has one. */
export function advertisedAddress({ advertiseAddress, bindAddress }: Addresses): string | undefined {
  if (advertiseAddress !== undefined) return advertiseAddress;
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === (bindAddress.includes(":") ? "IPv6" : "IPv4"))?.address;
}

/** Host and port for clients that have only this server's documents. */
export function reachedAt(
  { externalHostname, advertiseAddress, bindAddress }: PublicAddresses,
  { port }: Pick<ServerState, "port">,
): string {
  if (externalHostname !== undefined && hasPort(externalHostname)) return externalHostname;
  return `${externalHostname ?? advertiseAddress ?? bindAddress}:${port}`;
}

/** A colon separates the port; those of an IPv6 address are in brackets then. */
function hasPort(host: string): boolean {
  return /^(?:[^:[\]]*|\[[^[\]]*\]):[^:]*$/.test(host);
}

/** The host in the server's URL. A server that listens on all addresses is reached on the loopback address. */
export function hostOf(bindAddress: string): string {
  if (bindAddress === "0.0.0.0" || bindAddress === "::") return "127.0.0.1";
  return bindAddress.includes(":") ? `[${bindAddress}]` : bindAddress;
}

/** Where this server, which listens already, reaches itself for calls to the Service `kubernetes`. */
export function selfAddress({ bindAddress }: Addresses, { port }: Pick<ServerState, "port">): Address {
  return { host: hostOf(bindAddress), port };
}
