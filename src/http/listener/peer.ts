/** Who is at the other end of a TLS connection. */
import { createHash } from "node:crypto";
import type tls from "node:tls";
import type { PeerCertificate } from "../contract.ts";

export interface Peer {
  readonly address: string;
  readonly certificate: PeerCertificate | undefined;
}

export function peerOf(socket: tls.TLSSocket): Peer {
  return { address: socket.remoteAddress ?? "", certificate: certificateOf(socket) };
}

function certificateOf(socket: tls.TLSSocket): PeerCertificate | undefined {
  const certificate = socket.getPeerCertificate();
  // Without a certificate the object is empty.
  if (certificate.raw === undefined) return undefined;
  const { CN: commonName, O: organizations } = certificate.subject as { CN?: string | string[]; O?: string | string[] };
  const problem = socket.authorized ? undefined : String(socket.authorizationError);
  return {
    commonName: (Array.isArray(commonName) ? commonName.at(-1) : commonName) ?? "",
    organizations: organizations === undefined ? [] : Array.isArray(organizations) ? organizations : [organizations],
    fingerprint: createHash("sha256").update(certificate.raw).digest("hex"),
    verified: socket.authorized,
    ...(problem !== undefined && { problem }),
  };
}
