/**
 * The metrics of CertificateSigningRequests.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/certificates/certificates/storage/metrics.go.
 */
import type { CertificateDurationObserver } from "../admission/contract.ts";
import { labelFormatter, type Metric } from "./exposition.ts";
import { Counters } from "./vectors.ts";

/** Records issued certificates. */
export interface SigningRequestMetrics extends CertificateDurationObserver {
  collect(): Metric[];
}

/** @returns metrics without a certificate */
export function signingRequestMetrics(): SigningRequestMetrics {
  const [requested, honored] = [new Counters(), new Counters()];
  const labels = labelFormatter(["signerName"]);
  return {
    issued(signer, isHonored) {
      requested.count(labels(signer));
      if (isHonored) honored.count(labels(signer));
    },
    collect: () => [
      counter("requested", "Certificates issued to clients that requested a duration, by signer.", requested),
      counter("honored", "Certificates with about the duration that the client requested, by signer.", honored),
    ],
  };
}

function counter(what: string, help: string, counters: Counters): Metric {
  const name = `apiserver_certificates_registry_csr_${what}_duration_total`;
  return { name, type: "counter", stability: "ALPHA", help, samples: counters.samples() };
}
