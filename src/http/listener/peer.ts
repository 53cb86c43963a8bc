/** Who is at the other end of a TLS connection. */
import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../apimachinery/clock.ts";
import { type Authorities, type ValidTimes, wayTo } from "../../lib/x509/authorities.ts";
import type { PeerCertificate } from "../contract.ts";

/** Looked up once per connection. */
export interface Peer {
  readonly address: string;
  readonly certificate: PeerCertificate | undefined;
  /** Whether the handshake found the certificate wrong, which another handshake may find right, once other authorities are known. */
  readonly refused: boolean;
}

/** Source: apimachinery's asn1.X509UID. */
const uidIdentifier = "1.3.6.1.4.1.57683.2";

export function peerOf(socket: TLSSocket, clock: Clock): Peer {
  const certificate = socket.getPeerX509Certificate();
  return {
    address: socket.remoteAddress ?? "",
    certificate: certificate && peerCertificate(socket, certificate, clock),
    refused: certificate !== undefined && !isGood(socket),
  };
}

function peerCertificate(socket: TLSSocket, certificate: X509Certificate, clock: Clock): PeerCertificate {
  const subject = certificate.toLegacyObject().subject as Readonly<Record<string, string | string[] | undefined>>;
  const good = isGood(socket);
  // Authorities change while connections stay: each set is asked about once, and what is cached must not keep a set alive.
  const known = new WeakMap<Authorities, ValidTimes | "none">();
  return {
    commonName: asList(subject.CN).at(-1) ?? "",
    organizations: asList(subject.O),
    uids: asList(subject[uidIdentifier]),
    fingerprint: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
    expiresAt: certificate.validToDate.getTime(),
    isTrustedBy(authorities) {
      if (!good) return false;
      let times = known.get(authorities);
      if (times === undefined) {
        times = validTimes(socket, authorities) ?? "none";
        known.set(authorities, times);
      }
      const now = clock.now();
      return times !== "none" && times.from <= now && now <= times.to;
    },
  };
}

/**
 * What OpenSSL says of a way that it could follow to its end, but whose end is not an authority that signs itself and is trusted. Nothing else is
 * wrong then, for a later check's words would stand in place of these.
 */
const endIsOpen: readonly unknown[] = ["UNABLE_TO_GET_ISSUER_CERT", "SELF_SIGNED_CERT_IN_CHAIN"];

/**
 * Whether OpenSSL found it good for clients, under one authority or another. Authorities that others signed are trusted as they are, as Go has it;
 * Node does not tell OpenSSL so for its servers, and whether the way leads by one of them is found out for each set of authorities.
 */
function isGood({ authorized, authorizationError }: TLSSocket): boolean {
  return authorized || endIsOpen.includes(authorizationError);
}

function validTimes(socket: TLSSocket, authorities: Authorities): ValidTimes | undefined {
  const [certificate, ...shown] = shownCertificates(socket);
  return certificate && wayTo(authorities, certificate, shown);
}

/** Beyond these nothing is looked for. */
const shownMax = 16;

/** What the client showed, its own certificate first. */
function shownCertificates(socket: TLSSocket): X509Certificate[] {
  const shown: X509Certificate[] = [];
  let next = socket.getPeerX509Certificate();
  while (next !== undefined && shown.length < shownMax) {
    shown.push(next);
    next = next.issuerCertificate;
  }
  return shown;
}

function asList(value: string | string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
