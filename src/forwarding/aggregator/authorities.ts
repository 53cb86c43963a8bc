/**
 * The authorities of an APIService, with Go's errors. Source: `rootCertPool` in
 * k8s.io/client-go@v0.36.0/transport/transport.go.
 */
import { X509Certificate } from "node:crypto";
import { pemBlocks } from "../../lib/x509/pem-blocks.ts";

/**
 * Returns the certificates of a bundle as PEM; other blocks, and certificates that cannot be parsed
 * next to valid ones, are ignored.
 *
 * @param bundle not empty
 * @throws Error when no certificate is valid
 */
export function readAuthorities(bundle: string): string {
  const failed = (why: string): Error => new Error(`unable to load root certificates: ${why}`);
  const blocks = pemBlocks(bundle).filter(({ type, hasHeaders }) => type === "CERTIFICATE" && !hasHeaders);
  const valid = blocks.flatMap(({ bytes }) => parse(bytes));
  if (valid.length > 0) return valid.join("");
  if (blocks.length > 0) throw failed("failed to parse certificate: x509: malformed certificate");
  throw failed("unable to parse bytes as PEM block");
}

/** @returns PEM, or nothing for a block that is not a certificate */
function parse(bytes: Buffer): string[] {
  try {
    return [new X509Certificate(bytes).toString()];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith("ERR_OSSL")) return [];
    throw error;
  }
}
