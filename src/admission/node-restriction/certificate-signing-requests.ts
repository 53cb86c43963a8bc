/** A node asks the signers of kubelets for certificates in its own name alone. */
import { quoteGo } from "../../lib/json/quote.ts";
import { loadX509 } from "../../lib/load-x509.ts";
import { refusal } from "../refusal.ts";
import type { Check, NodeWrite } from "./contract.ts";

const kubeletSigners: readonly string[] = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];

export const checkSigningRequest: Check = (write) => {
  const { attributes, needs } = write;
  if (needs.enabled("AllowInsecureKubeletCertificateSigningRequests") || attributes.operation !== "CREATE") return;
  if (kubeletSigners.includes(attributes.object?.spec?.signerName)) return checkCommonName(write, attributes.object?.spec?.request ?? "");
};

/** @param request base64 of PEM */
async function checkCommonName({ node, attributes }: NodeWrite, request: string): Promise<void> {
  const names = await commonNames(Buffer.from(request, "base64").toString("latin1"));
  if (!Array.isArray(names)) throw refusal(attributes, `unable to parse csr: ${names.error}`);
  const wanted = `system:node:${node}`;
  if (names.at(-1) !== wanted) throw refusal(attributes, `can only create a node CSR with CN=${wanted}`);
}

/** @returns in the order of the subject; Go takes the last one */
async function commonNames(pem: string): Promise<string[] | { readonly error: string }> {
  const [, type = "", base64 = ""] = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----/.exec(pem) ?? [];
  if (type !== "CERTIFICATE REQUEST") return { error: "PEM block type must be CERTIFICATE REQUEST" };
  const { Pkcs10CertificateRequest } = await loadX509();
  try {
    return new Pkcs10CertificateRequest(Buffer.from(base64, "base64")).subjectName.getField("CN");
  } catch (error) {
    return { error: `asn1: ${error instanceof Error ? error.message : quoteGo(String(error))}` }; // What the library says of damaged bytes.
  }
}
