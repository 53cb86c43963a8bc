/** The client of a TLS connection. */
import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../apimachinery/clock.ts";
import { type Authorities, type ValidTimes, wayTo } from "../../lib/x509/authorities.ts";
import type { PeerCertificate, RemoteEnd } from "../../request/exchange.ts";

/** Computed once per connection. */
export interface Peer extends RemoteEnd {
  readonly certificate: PeerCertificate | undefined;
  /**
   * Whether the handshake rejected the certificate; another handshake may accept it after the
   * authorities change.
   */
  readonly certificateRejected: boolean;
  /** Closes the connection at once. */
  disconnect(): void;
}

/** Source: `X509UID` in k8s.io/apimachinery@v0.36.0/pkg/apis/asn1/oid.go. */
const uidIdentifier = "1.3.6.1.4.1.57683.2";

/** The client of a connection after its handshake. */
export function peerOf(socket: TLSSocket, clock: Clock): Peer {
  const certificate = socket.getPeerX509Certificate();
  return {
    address: socket.remoteAddress ?? "",
    port: socket.remotePort ?? 0,
    certificate: certificate && peerCertificate(socket, certificate, clock),
    certificateRejected: certificate !== undefined && !isVerified(socket),
    disconnect: () => socket.destroy(),
  };
}

function peerCertificate(socket: TLSSocket, certificate: X509Certificate, clock: Clock): PeerCertificate {
  const subject = certificate.toLegacyObject().subject as Readonly<Record<string, string | string[] | undefined>>;
  const verified = isVerified(socket);
  // Authorities change during a connection: each set is checked once, and the cache must not keep
  // it alive.
  const checked = new WeakMap<Authorities, ValidTimes | "none">();
  return {
    commonName: asList(subject.CN).at(-1) ?? "",
    organizations: asList(subject.O),
    uids: asList(subject[uidIdentifier]),
    fingerprint: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
    expiresAt: certificate.validToDate.getTime(),
    isTrustedBy(authorities) {
      if (!verified) return false;
      let times = checked.get(authorities);
      if (times === undefined) {
        times = validTimes(socket, authorities) ?? "none";
        checked.set(authorities, times);
      }
      const now = clock.now();
      return times !== "none" && times.from <= now && now <= times.to;
    },
  };
}

/**
 * OpenSSL's errors for a chain that is complete, but ends in an authority that is not self-signed
 * or not trusted. There are no other errors then, because a later check would replace these.
 */
const untrustedEnd: readonly unknown[] = ["UNABLE_TO_GET_ISSUER_CERT", "SELF_SIGNED_CERT_IN_CHAIN"];

/**
 * Whether OpenSSL verified the certificate for client use, under any authority. Intermediate
 * authorities may be trusted directly, as in Go; Node does not configure OpenSSL so for servers,
 * and the chain is checked against each set of authorities later.
 */
function isVerified({ authorized, authorizationError }: TLSSocket): boolean {
  return authorized || untrustedEnd.includes(authorizationError);
}

function validTimes(socket: TLSSocket, authorities: Authorities): ValidTimes | undefined {
  const [certificate, ...sent] = sentCertificates(socket);
  return certificate && wayTo(authorities, certificate, sent);
}

/** Certificates that are checked at most. */
const certificatesMax = 16;

/** The certificates that the client sent, its own first. */
function sentCertificates(socket: TLSSocket): X509Certificate[] {
  const sent: X509Certificate[] = [];
  let next = socket.getPeerX509Certificate();
  while (next !== undefined && sent.length < certificatesMax) {
    sent.push(next);
    next = next.issuerCertificate;
  }
  return sent;
}

function asList(value: string | string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
