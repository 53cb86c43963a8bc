/**
 * The metrics of CertificateSigningRequests.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/certificates/certificates/storage/metrics.go.
 */
import type { CertificateDurationObserver } from "../admission/contract.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters } from "./vectors.ts";

export const signingRequestRows = {
  requested: {
    name: "apiserver_certificates_registry_csr_requested_duration_total",
    type: "counter",
    stability: "ALPHA",
    help: "Certificates issued to clients that requested a duration, by signer.",
    labels: ["signerName"],
  },
  honored: {
    name: "apiserver_certificates_registry_csr_honored_duration_total",
    type: "counter",
    stability: "ALPHA",
    help: "Certificates with about the duration that the client requested, by signer.",
    labels: ["signerName"],
  },
} as const satisfies MetricRows;

/** Records issued certificates. */
export interface SigningRequestMetrics extends CertificateDurationObserver {
  collect(): Metric[];
}

/** @returns metrics without a certificate */
export function signingRequestMetrics(): SigningRequestMetrics {
  const requested = new Counters(signingRequestRows.requested);
  const honored = new Counters(signingRequestRows.honored);
  return {
    issued(signer, isHonored) {
      requested.count([signer]);
      if (isHonored) honored.count([signer]);
    },
    collect: () => [requested.metric(), honored.metric()],
  };
}
