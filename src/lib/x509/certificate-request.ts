/**
 * Checks certificate signing requests. Source: upstream's ParseCSR and Go's CheckSignature, with
 * their messages.
 */
import { loadX509 } from "../load-x509.ts";

/**
 * Checks a certificate signing request and its signature.
 * @param request base64 of PEM text
 * @returns the error message, if any
 */
export async function certificateRequestProblem(request: string): Promise<string | undefined> {
  const pem = Buffer.from(request, "base64").toString("latin1");
  const [, type = "", base64 = ""] =
    /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----/.exec(pem) ?? [];
  if (type !== "CERTIFICATE REQUEST") return "PEM block type must be CERTIFICATE REQUEST";
  const { Pkcs10CertificateRequest } = await loadX509();
  try {
    return (await new Pkcs10CertificateRequest(Buffer.from(base64, "base64")).verify())
      ? undefined
      : "x509: the signature is not that of the key";
  } catch (error) {
    // The library's message for malformed data.
    return `asn1: ${error instanceof Error ? error.message : String(error)}`;
  }
}
