/**
 * The identity of this server among several. Source: `NewConfig` in
 * k8s.io/apiserver@v0.36.0/pkg/server/config.go.
 */
import { createHash } from "node:crypto";
import { memo } from "../lib/memo/memo.ts";

/** Where the Leases of servers are, and their label. */
export const identityNamespace = "kube-system";
export const identityLabel = ["apiserver.kubernetes.io/identity", "kube-apiserver"] as const;

/**
 * @param hostname at most 65,535 bytes
 * @returns `apiserver-` and 26 characters that depend only on the host name
 */
export function serverIdentity(hostname: string): string {
  return known(hostname, () => identityOf(hostname));
}

/** A server asks for its own identity several times. */
const known = memo<string>(1);

function identityOf(hostname: string): string {
  const hash = createHash("sha256");
  for (const part of [hostname, "kube-apiserver"]) {
    const bytes = Buffer.from(part);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    hash.update(length).update(bytes);
  }
  return `apiserver-${base32(hash.digest().subarray(0, 16))}`;
}

const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, "0"), 2)]).join("");
}
