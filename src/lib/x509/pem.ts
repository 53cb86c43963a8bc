/** Certificates in PEM text. Source: RFC 7468; client-go's util/cert. */
import { X509Certificate } from "node:crypto";

const block = /-----BEGIN CERTIFICATE-----\r?\n([A-Za-z0-9+/=\s]+?)-----END CERTIFICATE-----/g;

/**
 * Whatever else stands there, keys among it, is passed over.
 * @throws Error when there is no certificate, or one cannot be read; what stands there is not repeated
 */
export function parseCertificates(pem: string): readonly X509Certificate[] {
  const found = [...pem.matchAll(block)].map(([, base64]) => readOne(base64 as string));
  if (found.length === 0) throw new Error("data does not contain any valid RSA or ECDSA certificates");
  return found;
}

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
