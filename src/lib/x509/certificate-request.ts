/** Requests for certificates. Source: upstream's ParseCSR and Go's CheckSignature, whose texts these are where Go's own parser does not speak. */
import { loadX509 } from "../load-x509.ts";

/** @param request base64 of PEM @returns what is wrong with it, or with its signature */
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
    return `asn1: ${error instanceof Error ? error.message : String(error)}`; // What the library says of damaged bytes.
  }
}
