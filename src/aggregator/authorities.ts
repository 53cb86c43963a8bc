/**
 * The authorities of an APIService, with Go's errors. Source: `rootCertPool` in
 * k8s.io/client-go@v0.36.0/transport/transport.go.
 */
import { X509Certificate } from "node:crypto";

const block = /-----BEGIN ([^\r\n-]+)-----\r?\n([A-Za-z0-9+/=\s]*?)-----END \1-----/g;

/**
 * Returns the certificates of a bundle as PEM; other blocks, and certificates that cannot be parsed
 * next to valid ones, are ignored.
 *
 * @param bundle not empty
 * @throws Error when no certificate is valid
 */
export function readAuthorities(bundle: string): string {
  const failed = (why: string): Error => new Error(`unable to load root certificates: ${why}`);
  const blocks = [...bundle.matchAll(block)];
  const certificates = blocks.filter(([, type]) => type === "CERTIFICATE").map(([text]) => text);
  const valid = certificates.filter(isCertificate);
  if (valid.length > 0) return valid.join("\n");
  if (certificates.length > 0) throw failed("failed to parse certificate: x509: malformed certificate");
  throw failed("unable to parse bytes as PEM block");
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem) !== undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith("ERR_OSSL")) return false;
    throw error;
  }
}
