/**
 * Checks CA bundles as the transport of client-go does.
 *
 * Source: k8s.io/client-go@v0.36.0/transport/transport.go
 */
import { X509Certificate } from "node:crypto";
import { pemBlocks } from "../../lib/x509/pem-blocks.ts";

/**
 * @param bundle base64 of PEM
 * @returns upstream's message if the bundle contains no valid certificate
 */
export function caBundleProblem(bundle: string): string | undefined {
  const text = Buffer.from(bundle, "base64").toString("latin1");
  const blocks = pemBlocks(text);
  if (blocks.length === 0) return "unable to load root certificates: unable to parse bytes as PEM block";
  const certificates = blocks
    .filter(({ type, hasHeaders }) => type === "CERTIFICATE" && !hasHeaders)
    .map(({ bytes }) => isCertificate(bytes));
  if (certificates.some((readable) => readable)) return undefined;
  return certificates.length === 0
    ? "unable to load root certificates: no valid certificate authority data seen"
    : "unable to load root certificates: failed to parse certificate: x509: malformed certificate";
}

function isCertificate(bytes: Buffer): boolean {
  try {
    new X509Certificate(bytes);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false; // An error of OpenSSL.
    throw error;
  }
}
