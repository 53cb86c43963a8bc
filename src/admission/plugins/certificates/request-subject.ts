/**
 * Reads the subject of a certificate request. Source: `ParseCSR` in
 * k8s.io/kubernetes@v1.36.0/pkg/apis/certificates/helpers.go.
 */
import { loadX509 } from "../../../lib/load-x509.ts";

interface RequestSubject {
  /** In the order of the subject; Go uses the last one. */
  readonly commonNames: readonly string[];
  readonly organizations: readonly string[];
}

/**
 * @param request base64 of PEM
 * @returns the subject, or why the request cannot be parsed
 */
export async function requestSubject(request: string): Promise<RequestSubject | { readonly problem: string }> {
  const pem = Buffer.from(request, "base64").toString("latin1");
  const [, type = "", base64 = ""] =
    /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----/.exec(pem) ?? [];
  if (type !== "CERTIFICATE REQUEST") return { problem: "PEM block type must be CERTIFICATE REQUEST" };
  const { Pkcs10CertificateRequest } = await loadX509();
  try {
    const { subjectName } = new Pkcs10CertificateRequest(Buffer.from(base64, "base64"));
    return { commonNames: subjectName.getField("CN"), organizations: subjectName.getField("O") };
  } catch (error) {
    return { problem: `asn1: ${error instanceof Error ? error.message : String(error)}` };
  }
}
