/**
 * Finds a chain from a client certificate to a certificate authority. Source:
 * https://pkg.go.dev/crypto/x509#Certificate.Verify.
 */
import type { X509Certificate } from "node:crypto";
import { parseCertificates } from "./pem.ts";

/** A bundle of certificate authorities. Other content is always another object. */
export interface Authorities {
  readonly pem: string;
  readonly certificates: readonly X509Certificate[];
}

/**
 * The period in which all certificates of a chain are valid, in milliseconds since 1970, inclusive.
 */
export interface ValidTimes {
  readonly from: number;
  readonly to: number;
}

const clientAuth = "1.3.6.1.5.5.7.3.2";
const anyUsage = "2.5.29.37.0";
/** The number of intermediate certificates. */
const betweenMax = 8;

/**
 * Parses a bundle of certificate authorities.
 * @throws Error when there is no certificate, or one is malformed
 */
export function parseAuthorities(pem: string): Authorities {
  return { pem, certificates: parseCertificates(pem) };
}

/**
 * Finds a chain from a client certificate to an authority, and checks the signature of each link.
 * Only for certificates that OpenSSL has verified in the handshake, which checks more: this
 * determines for which of the authorities, including those loaded later, the certificate is valid.
 * @param shown the intermediate certificates that the client sent
 * @returns the validity of the chain; undefined when there is none
 */
export function wayTo(
  { certificates }: Authorities,
  certificate: X509Certificate,
  shown: readonly X509Certificate[],
): ValidTimes | undefined {
  const between = shown.slice(0, betweenMax).filter(isClientAuthority);
  return search(certificate, between);

  function search(from: X509Certificate, rest: readonly X509Certificate[]): ValidTimes | undefined {
    const isTrusted = certificates.some((authority) => authority.raw.equals(from.raw));
    if (isTrusted) return timesOf(from);
    const authority = certificates.find((one) => isIssued(from, one));
    if (authority !== undefined) return both(timesOf(from), timesOf(authority));
    for (const one of rest) {
      if (!isIssued(from, one)) continue;
      const further = search(
        one,
        rest.filter((other) => other !== one),
      );
      if (further !== undefined) return both(timesOf(from), further);
    }
    return undefined;
  }
}

function isIssued(certificate: X509Certificate, by: X509Certificate): boolean {
  return certificate.checkIssued(by) && certificate.verify(by.publicKey);
}

function isClientAuthority({ ca, keyUsage }: X509Certificate): boolean {
  const usages = keyUsage as readonly string[] | undefined;
  return ca && (usages === undefined || usages.includes(clientAuth) || usages.includes(anyUsage));
}

function timesOf({ validFromDate, validToDate }: X509Certificate): ValidTimes {
  return { from: validFromDate.getTime(), to: validToDate.getTime() };
}

function both(one: ValidTimes, other: ValidTimes): ValidTimes {
  return { from: Math.max(one.from, other.from), to: Math.min(one.to, other.to) };
}
