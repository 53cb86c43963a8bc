/** Who is at the other end of a TLS connection. */
import { createHash } from "node:crypto";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../api/clock.ts";
import type { PeerCertificate } from "../contract.ts";

/** Looked up once per connection. */
export interface Peer {
  readonly address: string;
  readonly certificate: PeerCertificate | undefined;
}

export function peerOf(socket: TLSSocket, clock: Clock): Peer {
  return { address: socket.remoteAddress ?? "", certificate: certificateOf(socket, clock) };
}

/** That the chain leads to a client CA and is for client use was checked by OpenSSL in the handshake; that it is still in date, on each request. */
function certificateOf(socket: TLSSocket, clock: Clock): PeerCertificate | undefined {
  const certificate = socket.getPeerCertificate();
  // Without a certificate the object is empty.
  if (certificate.raw === undefined) return undefined;
  const { CN: commonName, O: organizations } = certificate.subject as { CN?: string | string[]; O?: string | string[] };
  const chainProblem = socket.authorized ? undefined : String(socket.authorizationError);
  const notAfter = Date.parse(certificate.valid_to);
  const problem = (): string | undefined => chainProblem ?? (clock.now() > notAfter ? "CERT_HAS_EXPIRED" : undefined);
  return {
    commonName: asList(commonName).at(-1) ?? "",
    organizations: asList(organizations),
    fingerprint: createHash("sha256").update(certificate.raw).digest("hex"),
    get verified() {
      return problem() === undefined;
    },
    get problem() {
      return problem();
    },
  };
}

function asList(value: string | string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
