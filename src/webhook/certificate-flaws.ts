/**
 * Finds deprecated properties of a server's certificates. Source:
 * k8s.io/apiserver@v0.36.0/pkg/util/x509metrics/server_cert_deprecations.go.
 */
import type { X509Certificate } from "node:crypto";
import type { CertificateObserver } from "./contract.ts";

/** Go's message for a certificate that only the common name makes valid. */
export const legacyCommonName = "certificate relies on legacy Common Name field, use SANs instead";

/** Certificates that a server can send and that are inspected. */
const chainMax = 16;

/**
 * Reports the flaws of a connection that was accepted, and those that were the reason for its
 * rejection.
 *
 * @param leaf the certificate of the server, with its issuers
 * @param rejection why the certificate is rejected; `authority` if no trusted authority signed it
 */
export function reportFlaws(
  leaf: X509Certificate,
  rejection: "authority" | "legacy name" | "other" | undefined,
  observer: CertificateObserver,
): void {
  const isAccepted = rejection === undefined;
  if (rejection === "legacy name" || (isAccepted && leaf.subjectAltName === undefined)) observer.missingSan();
  if ((isAccepted || rejection === "authority") && chainOf(leaf).some(hasSha1Signature)) observer.insecureSha1();
}

function chainOf(leaf: X509Certificate): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let next: X509Certificate | undefined = leaf; next !== undefined; next = next.issuerCertificate) {
    if (chain.length === chainMax || chain.at(-1)?.raw.equals(next.raw)) break;
    chain.push(next);
  }
  return chain;
}

function hasSha1Signature({ signatureAlgorithm = "", issuer, subject }: X509Certificate): boolean {
  return issuer !== subject && /^(?:sha1WithRSAEncryption|ecdsa-with-SHA1)$/i.test(signatureAlgorithm);
}
