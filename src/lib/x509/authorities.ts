/** Certificates that are trusted to lead to others, and whether one is led to. */
import type { X509Certificate } from "node:crypto";
import { parseCertificates } from "./pem.ts";

/** A bundle as it was read once: another content is another object. */
export interface Authorities {
  readonly pem: string;
  readonly certificates: readonly X509Certificate[];
}

/** When all certificates on the way are valid, in milliseconds since 1970, both included. */
export interface ValidTimes {
  readonly from: number;
  readonly to: number;
}

const clientAuth = "1.3.6.1.5.5.7.3.2";
const anyUsage = "2.5.29.37.0";
/** Certificates between the first one and the authority. */
const betweenMax = 8;

/** @throws Error when there is no certificate, or one cannot be read */
export function parseAuthorities(pem: string): Authorities {
  return { pem, certificates: parseCertificates(pem) };
}

/**
 * Looks for a way from a client's certificate to one of the authorities, each link proven by its signature. For certificates that OpenSSL has
 * found good in a handshake, which checks more: this tells only which of the authorities known to the handshake, or since then, it is good for.
 * @param shown what the client sent along
 * @returns undefined when there is no way
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
