/** A node can request certificates from the kubelet signers only for its own name. */

import { parseRequestField } from "../../../lib/x509/certificate-request.ts";
import { rejection } from "../../rejection.ts";
import type { Check, NodeWrite } from "./contract.ts";

const kubeletSigners: readonly string[] = [
  "kubernetes.io/kubelet-serving",
  "kubernetes.io/kube-apiserver-client-kubelet",
];

export const checkSigningRequest: Check = async (write) => {
  const { attributes, needs } = write;
  if (needs.enabled("AllowInsecureKubeletCertificateSigningRequests") || attributes.operation !== "CREATE") return;
  if (kubeletSigners.includes(attributes.object?.spec?.signerName))
    return checkCommonName(write, attributes.object?.spec?.request ?? "");
};

async function checkCommonName({ node, attributes }: NodeWrite, request: string): Promise<void> {
  const parsed = await parseRequestField(request);
  if ("problem" in parsed) throw rejection(attributes, `unable to parse csr: ${parsed.problem}`);
  const expected = `system:node:${node}`;
  if (parsed.subject.commonNames.at(-1) !== expected)
    throw rejection(attributes, `can only create a node CSR with CN=${expected}`);
}
