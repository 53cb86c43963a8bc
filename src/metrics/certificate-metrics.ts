/**
 * The metrics of certificates and TLS. Sources: k8s.io/apiserver@v0.36.0/pkg/authentication/request/x509/x509.go and
 * pkg/endpoints/metrics/metrics.go.
 */
import type { Clock } from "../apimachinery/clock.ts";
import type { PeerCertificate } from "../request/exchange.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { distributed, newHistogram, single } from "./vectors.ts";

const hour = 3600;
const day = 24 * hour;

export const certificateRows = {
  remaining: {
    name: "apiserver_client_certificate_expiration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Remaining lifetime of the client certificate of a request in seconds.",
    buckets: [
      0,
      hour / 2,
      hour,
      2 * hour,
      6 * hour,
      12 * hour,
      day,
      2 * day,
      4 * day,
      7 * day,
      30 * day,
      90 * day,
      180 * day,
      360 * day,
    ],
  },
  handshakes: {
    name: "apiserver_tls_handshake_errors_total",
    type: "counter",
    stability: "ALPHA",
    help: "Failed TLS handshakes.",
  },
} as const satisfies MetricRows;

interface CertificateMetrics {
  /** Records the client certificate of a request. */
  observe(certificate: PeerCertificate): void;
  collect(): Metric[];
}

/** @returns empty metrics */
export function certificateMetrics(clock: Clock): CertificateMetrics {
  const remaining = newHistogram(certificateRows.remaining);
  return {
    observe: ({ expiresAt }) => remaining.observe((expiresAt - clock.now()) / 1000),
    collect: () => [distributed(certificateRows.remaining, [[[], remaining]])],
  };
}

/** @param errors returns the number of failed handshakes */
export function handshakeMetrics(errors: () => number): () => Metric[] {
  return () => [single(certificateRows.handshakes, errors())];
}
