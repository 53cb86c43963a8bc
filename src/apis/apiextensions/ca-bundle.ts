/** Bundles of authorities' certificates, as client-go's transport reads them. */
import { X509Certificate } from "node:crypto";

/** @param bundle base64 of PEM @returns upstream's words when no certificate can be read from it */
export function caBundleProblem(bundle: string): string | undefined {
  const text = Buffer.from(bundle, "base64").toString("latin1");
  const blocks = [...text.matchAll(/-----BEGIN ([^\n-]*)-----\r?\n([A-Za-z0-9+/=\s]*?)-----END \1-----/g)];
  if (blocks.length === 0) return "unable to load root certificates: unable to parse bytes as PEM block";
  const certificates = blocks.filter(([, label]) => label === "CERTIFICATE").map(([block]) => isCertificate(block));
  if (certificates.some((readable) => readable)) return undefined;
  return certificates.length === 0
    ? "unable to load root certificates: no valid certificate authority data seen"
    : "unable to load root certificates: failed to parse certificate: x509: malformed certificate";
}

function isCertificate(block: string): boolean {
  try {
    new X509Certificate(block);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false; // OpenSSL's own.
    throw error;
  }
}
