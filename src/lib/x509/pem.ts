/** Parses and formats certificates in PEM text. Source: RFC 7468; client-go's util/cert. */
import { X509Certificate } from "node:crypto";

const block = /-----BEGIN CERTIFICATE-----\r?\n([A-Za-z0-9+/=\s]+?)-----END CERTIFICATE-----/g;

/**
 * Parses the certificates of PEM text, and ignores other content such as keys.
 * @throws Error when there is no certificate, or one is malformed; the message does not contain the
 *   text
 */
export function parseCertificates(pem: string): readonly X509Certificate[] {
  const found = [...pem.matchAll(block)].map(([, base64]) => readOne(base64 as string));
  if (found.length === 0) throw new Error("data does not contain any valid RSA or ECDSA certificates");
  return found;
}

/** Formats certificates as PEM text. */
export function formatCertificates(certificates: readonly X509Certificate[]): string {
  return certificates.map((certificate) => certificate.toString()).join("");
}

function readOne(base64: string): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(base64, "base64"));
  } catch (error) {
    throw new Error("x509: malformed certificate", { cause: error });
  }
}
