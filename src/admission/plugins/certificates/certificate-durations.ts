/**
 * Observes whether signers honor the durations that clients request of certificates.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/certificates/certificates/storage/metrics.go.
 */
import type { X509Certificate } from "node:crypto";
import { parseCertificates } from "../../../lib/x509/pem.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AdmissionPlugin, CertificateDurationObserver } from "../../contract.ts";

/** How much shorter or longer a certificate may be than requested, in addition to a twentieth: signers date short ones back. */
const toleranceMs = 5 * 60_000;

/** @returns a plugin that always runs, and rejects nothing */
export function certificateDurations(observer: CertificateDurationObserver): AdmissionPlugin {
  return {
    name: "CertificateDurations",
    authorize(attributes) {
      if (issuesCertificate(attributes)) attributes.done.push(() => report(attributes, observer));
    },
  };
}

function issuesCertificate({
  target,
  subresource,
  operation,
  dryRun,
  object,
  oldObject,
}: AdmissionAttributes): boolean {
  const { group, resource } = target.resource.definition;
  if (group !== "certificates.k8s.io" || resource !== "certificatesigningrequests") return false;
  if (subresource !== "status" || operation !== "UPDATE" || dryRun) return false;
  return (
    typeof oldObject?.spec?.expirationSeconds === "number" &&
    !oldObject.status?.certificate &&
    Boolean(object?.status?.certificate)
  );
}

function report({ object, oldObject }: AdmissionAttributes, observer: CertificateDurationObserver): void {
  const { signerName = "", expirationSeconds } = oldObject?.spec ?? {};
  const signer = signerName.startsWith("kubernetes.io/") ? signerName : "other";
  const requestedMs = 1000 * expirationSeconds;
  const issuedMs = durationMsOf(Buffer.from(object?.status.certificate, "base64").toString("latin1"));
  observer.issued(signer, Math.abs(requestedMs - issuedMs) < toleranceMs + requestedMs / 20);
}

/** @returns Infinity when it cannot be read: the write is stored already */
function durationMsOf(pem: string): number {
  try {
    const [{ validFrom, validTo }] = parseCertificates(pem) as [X509Certificate];
    return Date.parse(validTo) - Date.parse(validFrom);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
