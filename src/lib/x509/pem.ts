/** Parses and formats certificates in PEM text. Source: RFC 7468; client-go's util/cert. */
import { X509Certificate } from "node:crypto";
import { pemBlocks } from "./pem-blocks.ts";

/**
 * Parses the certificates of PEM text, and ignores other content such as keys.
 * @throws Error when there is no certificate, or one is malformed; the message does not contain the
 *   text
 */
export function parseCertificates(pem: string): readonly X509Certificate[] {
  const blocks = pemBlocks(pem).filter(({ type, hasHeaders }) => type === "CERTIFICATE" && !hasHeaders);
  const found = blocks.map(({ bytes }) => readOne(bytes));
  if (found.length === 0) throw new Error("data does not contain any valid RSA or ECDSA certificates");
  return found;
}

/** Formats certificates as PEM text. */
export function formatCertificates(certificates: readonly X509Certificate[]): string {
  return certificates.map((certificate) => certificate.toString()).join("");
}

function readOne(bytes: Buffer): X509Certificate {
  try {
    return new X509Certificate(bytes);
  } catch (error) {
    throw new Error("x509: malformed certificate", { cause: error });
  }
}
